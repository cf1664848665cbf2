import itertools

import numpy as np
import pytest
import tensorflow as tf

from electra_tf.data.pipeline import heldout_batches, training_batches
from electra_tf.errors import DataError

LENGTH = 16


@pytest.fixture
def dataset(build, tmp_path, read_examples):
    """A dataset of `count` documents, all examples distinct; also as plain arrays."""

    def dataset(count, **options):
        letters = itertools.islice(itertools.permutations("abcdefg"), count)
        # Two lines, so that some examples have two segments.
        words = ["".join(word) for word in letters]
        text = "".join(f"{word}\n{word[:0:-1]}\n\n" for word in words)
        manifest = build(text, max_length=LENGTH, num_shards=4, **options)
        directory = tmp_path / "data"
        return directory, manifest, read_examples(directory)

    return dataset


def _take(dataset, count):
    return [{k: v.numpy() for k, v in batch.items()} for batch in dataset.take(count)]


def _numbers(batches, ids):
    """Which examples the rows of batches are."""
    known = {row.tobytes(): number for number, row in enumerate(ids.astype(np.int32))}
    assert len(known) == len(ids)
    return [known[row.tobytes()] for batch in batches for row in batch["token_ids"]]


@pytest.mark.parametrize(
    ("count", "batch_size"), [(37, 5), (37, 37), (36, 12), (2, 1), (1, 1), (3, 2)]
)
def test_each_example_comes_once_an_epoch(dataset, count, batch_size):
    directory, manifest, (ids, _) = dataset(count)
    count = len(ids)  # documents may give two
    batches = training_batches(directory, manifest, batch_size=batch_size, seed=3)
    assert batches.cardinality() == tf.data.INFINITE_CARDINALITY
    numbers = _numbers(_take(batches, -(-3 * count // batch_size)), ids)
    epochs = [numbers[i * count : (i + 1) * count] for i in range(3)]
    assert [sorted(epoch) for epoch in epochs] == [list(range(count))] * 3
    if count > 30:
        assert list(range(count)) not in epochs
        assert len(set(map(tuple, epochs))) == 3


def test_shuffling_is_global(dataset):
    """The distance of neighbours in the corpus is that of a random permutation."""
    directory, manifest, (ids, _) = dataset(400)
    count = len(ids)
    batches = training_batches(directory, manifest, batch_size=count, seed=1)
    positions = np.argsort(_numbers(_take(batches, 1), ids))
    # |u - v| of two uniform draws has mean 1/3 and deviation 0.24; of 400, four of them.
    assert abs(np.abs(np.diff(positions)).mean() / count - 1 / 3) < 0.05
    assert abs(np.corrcoef(positions, np.arange(count))[0, 1]) < 4 / count**0.5


def test_a_resumed_stream_goes_on_with_the_same_batches(dataset):
    directory, manifest, _ = dataset(23)
    whole = _take(training_batches(directory, manifest, batch_size=4, seed=9), 20)
    for start in (0, 1, 5, 13):  # an epoch has 5.75 batches
        resumed = training_batches(
            directory, manifest, batch_size=4, seed=9, start_step=start
        )
        for mine, theirs in zip(_take(resumed, 7), whole[start:], strict=False):
            for name in mine:
                np.testing.assert_array_equal(mine[name], theirs[name])


def test_the_seed_decides_the_order(dataset):
    directory, manifest, (ids, _) = dataset(37)
    orders = set()
    for seed in (0, 0, 1, (1 << 32) - 1):
        batches = training_batches(directory, manifest, batch_size=37, seed=seed)
        orders.add(tuple(_numbers(_take(batches, 1), ids)))
    assert len(orders) == 3


def test_batches_say_what_the_records_say(dataset):
    directory, manifest, (ids, lengths) = dataset(37)
    assert (lengths[:, 1] > 0).any()
    batches = _take(training_batches(directory, manifest, batch_size=8, seed=0), 5)
    numbers = np.array(_numbers(batches, ids))
    positions = np.arange(LENGTH)
    for name, expected in (
        ("padding_mask", positions < lengths.sum(axis=1, keepdims=True)),
        (
            "segment_ids",
            (positions >= lengths[:, :1])
            & (positions < lengths.sum(axis=1, keepdims=True)),
        ),
    ):
        values = np.concatenate([batch[name] for batch in batches])
        np.testing.assert_array_equal(values, expected[numbers])


def test_shapes_are_static(dataset):
    directory, manifest, _ = dataset(30, heldout_fraction=0.3)
    spec = tf.TensorSpec([4, LENGTH], tf.int32)
    names = ("token_ids", "segment_ids", "padding_mask")
    for batches in (
        training_batches(directory, manifest, batch_size=4, seed=0),
        heldout_batches(directory, manifest, batch_size=4),
    ):
        assert batches.element_spec == dict.fromkeys(names, spec)
        policy = batches.options().experimental_distribute.auto_shard_policy
        assert policy == tf.data.experimental.AutoShardPolicy.DATA


@pytest.mark.parametrize("batch_size", [1, 4, 100])
def test_held_out_examples_come_once_in_order(dataset, read_examples, batch_size):
    directory, manifest, _ = dataset(50, heldout_fraction=0.3)
    ids, lengths = read_examples(directory, "heldout")
    count = manifest.heldout.examples
    assert count > 4
    assert count % 4
    batches = heldout_batches(directory, manifest, batch_size=batch_size)
    assert batches.cardinality().numpy() == -(-count // batch_size)
    rows = {
        name: np.concatenate([batch[name] for batch in _take(batches, -1)])
        for name in batches.element_spec
    }
    np.testing.assert_array_equal(rows["token_ids"][:count], ids)
    np.testing.assert_array_equal(
        rows["padding_mask"][:count].sum(axis=1), lengths.sum(axis=1)
    )
    assert (rows["token_ids"][count:] == manifest.special_ids.pad).all()
    assert not rows["padding_mask"][count:].any()
    assert not rows["segment_ids"][count:].any()


def test_ids_of_large_vocabularies_are_read(build, tmp_path, vocabulary, monkeypatch):
    large = type(vocabulary)(
        [*(f"[unused{i}]" for i in range(70_000)), *vocabulary.tokens]
    )
    manifest = build("abc\n", vocabulary=large)
    batch = next(
        iter(training_batches(tmp_path / "data", manifest, batch_size=1, seed=0))
    )
    expected = [large.cls_id, large.id_of("a"), large.id_of("##b"), large.id_of("##c")]
    assert batch["token_ids"][0, :4].numpy().tolist() == expected
    assert batch["token_ids"][0, 5:].numpy().tolist() == [large.pad_id] * 11
    assert large.pad_id == 70_000


def test_too_few_examples_are_refused(dataset):  # A07
    directory, manifest, _ = dataset(5)
    with pytest.raises(
        DataError, match="5 training examples, fewer than one batch of 6"
    ):
        training_batches(directory, manifest, batch_size=6, seed=0)
    with pytest.raises(DataError, match="no held-out examples"):
        heldout_batches(directory, manifest, batch_size=6)


def test_damage_that_appears_later_is_named(dataset):  # B28
    directory, manifest, _ = dataset(5)
    path = directory / manifest.shards[2].file
    content = bytearray(path.read_bytes())
    content[40] ^= 1
    path.write_bytes(content)
    batches = training_batches(directory, manifest, batch_size=5, seed=0)
    with pytest.raises(tf.errors.OpError, match=rf"{path.name}, record 0: damaged"):
        next(iter(batches))
