"""Batches for training and evaluation, as a pure function of seed and position.

Example number p of the training stream is entry `p mod N` of a permutation of all N
examples that only the seed and the epoch `p // N` determine, computed per entry
(`tf.raw_ops.RandomIndexShuffle`). So the shuffle is global whatever the size of the
dataset, a run resumes at any step at once, and no state has to be saved. Batches run on
across the end of an epoch: each example is seen exactly once in every epoch.
"""

from pathlib import Path

import numpy as np
import tensorflow as tf

from electra_tf.data.manifest import DatasetManifest, check_batch_size
from electra_tf.data.record_reader import RecordReader
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
        Dataset of dicts of `token_ids`, `segment_ids` (1 in the second segment) and
        `padding_mask` (1 for real tokens), int32 `[B, T]`, shapes static.

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
            "heldout_fraction or from more documents"
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
    token_ids, lengths = tf.numpy_function(
        lambda rows: [values.astype(np.int32) for values in reader.read(rows)],
        [indices],
        [tf.int32, tf.int32],
    )
    token_ids = _fill_up(
        token_ids, [batch_size, manifest.max_length], manifest.special_ids.pad
    )
    lengths = _fill_up(lengths, [batch_size, 2], 0)
    first, second = lengths[:, :1], lengths[:, 1:]
    positions = tf.range(manifest.max_length)  # [T]
    padding_mask = tf.cast(positions < first + second, tf.int32)
    in_second = tf.cast(positions >= first, tf.int32)
    return {
        "token_ids": token_ids,
        "segment_ids": in_second * padding_mask,
        "padding_mask": padding_mask,
    }


def _fill_up(values, shape, padding):
    missing = shape[0] - tf.shape(values)[0]
    padded = tf.pad(values, [[0, missing], [0, 0]], constant_values=padding)
    return tf.ensure_shape(padded, shape)


def _sharded_by_data(dataset):
    # There are no files that `tf.distribute` could divide among workers.
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = (
        tf.data.experimental.AutoShardPolicy.DATA
    )
    return dataset.with_options(options)
