"""Batches for training and evaluation, as a pure function of seed and position.

Example number p of the training stream is entry `p mod N` of a permutation of all N
examples that only the seed and the epoch `p // N` determine, computed per entry
(`tf.raw_ops.RandomIndexShuffle`). So the shuffle is global whatever the size of
the dataset, a run resumes at any step at once, and no state has to be saved. Batches run
on across the end of an epoch: each example is seen exactly once in every epoch.
"""

from pathlib import Path

import tensorflow as tf

from electra_tf.data.manifest import DatasetManifest, check_batch_size
from electra_tf.data.record_reader import RecordReader
from electra_tf.data.records import parse_batch
from electra_tf.errors import DataError

# Of the block cipher behind the permutation; TensorFlow's own choice.
_SHUFFLE_ROUNDS = 4


def training_batches(
    directory: Path,
    manifest: DatasetManifest,
    *,
    batch_size: int,
    seed: int,
    start_step: int = 0,
) -> tf.data.Dataset:
    """Shuffled batches without end.

    Args:
        directory: the dataset.
        manifest: of that dataset, checked.
        batch_size: int, examples of a (global) batch.
        seed: int in [0, 2³²).
        start_step: int, number of the first batch; what comes from there is the same
            whatever came before.

    Returns:
        Dataset of dicts of `token_ids`, `segment_ids` and `padding_mask`, int32
        `[B, T]`, shapes static.

    Raises:
        DataError: fewer examples than one batch, or a shard cannot be read.
    """
    check_batch_size(manifest, batch_size)
    reader = _reader(directory, manifest, "train")
    num_examples = len(reader)
    seed_tensor = tf.constant(seed, tf.int64)

    def batch(step):
        positions = step * batch_size + tf.range(batch_size, dtype=tf.int64)
        epochs = positions // num_examples
        # The wrapper `tf.random.experimental.index_shuffle` fails on a seed for each row.
        indices = tf.raw_ops.RandomIndexShuffle(
            index=positions % num_examples,
            seed=tf.stack(
                [tf.zeros_like(epochs), tf.fill([batch_size], seed_tensor), epochs], 1
            ),
            max_index=tf.fill([batch_size], tf.constant(num_examples - 1, tf.int64)),
            rounds=_SHUFFLE_ROUNDS,
        )
        return _read(reader, manifest, indices, batch_size)

    steps = tf.data.Dataset.counter(start_step, dtype=tf.int64)
    batches = steps.map(batch, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)
    return _sharded_by_data(batches.prefetch(tf.data.AUTOTUNE))


def heldout_batches(
    directory: Path, manifest: DatasetManifest, *, batch_size: int
) -> tf.data.Dataset:
    """All held-out examples, once, in the order of the corpus.

    Args:
        directory: the dataset.
        manifest: of that dataset, checked.
        batch_size: int, examples of a (global) batch. The last batch is filled up with
            rows of padding, whose `padding_mask` is 0 throughout.

    Returns:
        Dataset as that of `training_batches`, but finite.

    Raises:
        DataError: no example is held out, or a shard cannot be read.
    """
    reader = _reader(directory, manifest, "heldout")
    num_examples = len(reader)
    if num_examples == 0:
        raise DataError(
            f"{directory}: no held-out examples; build the dataset with a larger "
            "--heldout_fraction or from more documents"
        )

    def batch(number):
        first = number * batch_size
        indices = tf.range(first, tf.minimum(first + batch_size, num_examples))
        return _read(reader, manifest, indices, batch_size)

    numbers = tf.data.Dataset.range(-(-num_examples // batch_size))
    return _sharded_by_data(numbers.map(batch).prefetch(tf.data.AUTOTUNE))


def _reader(directory: Path, manifest: DatasetManifest, split: str) -> RecordReader:
    shards = [shard for shard in manifest.shards if shard.split == split]
    return RecordReader(
        [Path(directory) / shard.file for shard in shards],
        [shard.examples for shard in shards],
        manifest.record_format,
    )


def _read(reader, manifest, indices, batch_size):
    serialized = tf.numpy_function(reader.read, [indices], tf.string)
    batch = parse_batch(tf.ensure_shape(serialized, [None]), manifest.record_format)
    padding = {"token_ids": manifest.special_ids.pad}
    return {
        name: _fill_up(values, batch_size, padding.get(name, 0))
        for name, values in batch.items()
    }


def _fill_up(values, batch_size, padding):
    missing = batch_size - tf.shape(values)[0]
    padded = tf.pad(values, [[0, missing], [0, 0]], constant_values=padding)
    return tf.ensure_shape(padded, [batch_size, values.shape[1]])


def _sharded_by_data(dataset):
    # There are no files that `tf.distribute` could divide among workers.
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = (
        tf.data.experimental.AutoShardPolicy.DATA
    )
    return dataset.with_options(options)
