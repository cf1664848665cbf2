import numpy as np
import pytest

from electra_tf.data.examples import Examples
from electra_tf.data.record_format import RecordFormat
from electra_tf.data.record_reader import RecordReader
from electra_tf.errors import DataError

FORMAT = RecordFormat(8, 1000)
COUNTS = [3, 1, 5]


@pytest.fixture
def paths(tmp_path):
    """Shards; every token of example i is i."""
    paths, start = [], 0
    for shard, count in enumerate(COUNTS):
        numbers = np.arange(start, start + count, dtype=np.uint16)
        ids = np.repeat(numbers[:, np.newaxis], 8, axis=1)
        lengths = np.stack([numbers, numbers + 1], axis=1).astype(np.uint16)
        paths.append(tmp_path / f"shard-{shard}")
        paths[-1].write_bytes(FORMAT.encode(Examples(ids, lengths)))
        start += count
    return paths


def test_examples_are_read_by_their_number(paths):
    reader = RecordReader(paths, COUNTS, FORMAT)
    assert len(reader) == 9
    for indices in (range(9), [8, 0, 3, 3, 4, 2], [3], []):
        ids, lengths = reader.read(np.array(indices, np.int64))
        expected = np.array(indices, np.int64)[:, np.newaxis]
        np.testing.assert_array_equal(ids, np.repeat(expected, 8, axis=1))
        np.testing.assert_array_equal(lengths, np.hstack([expected, expected + 1]))


def test_no_shard_is_no_example():
    assert len(RecordReader([], [], FORMAT)) == 0


def test_a_missing_or_cut_shard_is_named(paths):  # B28
    content = paths[1].read_bytes()
    paths[1].write_bytes(content[:-7])
    with pytest.raises(
        DataError, match=r"shard-1: .*cut short.*build the dataset again"
    ):
        RecordReader(paths, COUNTS, FORMAT)
    paths[1].write_bytes(b"")
    with pytest.raises(DataError, match="shard-1: cannot be read"):
        RecordReader(paths, COUNTS, FORMAT)
    paths[1].unlink()
    with pytest.raises(DataError, match="shard-1: cannot be read"):
        RecordReader(paths, COUNTS, FORMAT)


def test_a_damaged_record_is_named_when_it_is_read(paths):  # B28
    content = bytearray(paths[2].read_bytes())
    content[2 * FORMAT.record_bytes + 30] ^= 1
    paths[2].write_bytes(content)
    reader = RecordReader(paths, COUNTS, FORMAT)
    reader.read(np.array([0, 5, 7]))
    with pytest.raises(DataError, match="shard-2, record 2: damaged"):
        reader.read(np.array([0, 6, 7]))
