import errno

import google_crc32c
import numpy as np
import pytest
import tensorflow as tf

from electra_tf.data.examples import Examples
from electra_tf.data.record_format import RecordFormat
from electra_tf.data.records import ShardWriter, feature_names

FORMAT = RecordFormat(8, 100)


def _examples(count):
    ids = np.arange(8 * count, dtype=np.uint16).reshape(count, 8) % 100
    return Examples(ids, np.full((count, 2), 4, np.uint16))


def test_a_shard_appears_when_it_is_complete(tmp_path, read_shard):
    path = tmp_path / "a.tfrecord"
    with ShardWriter(path, FORMAT) as writer:
        writer.write(_examples(3))
        writer.write(_examples(2))
        assert not path.exists()
    content = path.read_bytes()
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.tfrecord"]
    assert writer.examples == 5
    assert writer.bytes == len(content) == 5 * FORMAT.record_bytes
    assert writer.crc32c == f"{google_crc32c.value(content):08x}"
    ids, _ = read_shard(path)
    np.testing.assert_array_equal(
        ids, np.concatenate([_examples(3).token_ids, _examples(2).token_ids])
    )


def test_an_error_or_nothing_to_write_leaves_no_file(tmp_path):
    with ShardWriter(tmp_path / "empty", FORMAT):
        pass
    with pytest.raises(AttributeError), ShardWriter(tmp_path / "bad", FORMAT) as writer:
        writer.write([writer.write(_examples(1))])
    assert not list(tmp_path.iterdir())


def test_a_disk_that_fills_up_at_the_end_leaves_no_file(tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with (
        pytest.raises(OSError, match="No space"),
        ShardWriter(tmp_path / "full", FORMAT) as writer,
    ):
        writer.write(_examples(1))
    assert not list(tmp_path.iterdir())


def test_features_of_foreign_records_are_named(tmp_path):
    path = tmp_path / "foreign"
    values = tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))
    features = tf.train.Features(feature={"input_mask": values, "input_ids": values})
    with tf.io.TFRecordWriter(str(path)) as writer:
        writer.write(tf.train.Example(features=features).SerializeToString())
    assert feature_names(path) == ["input_ids", "input_mask"]


@pytest.mark.parametrize("content", [b"", b"plain text, no record at all\n" * 9])
def test_files_that_are_no_records_have_no_features(tmp_path, content):
    path = tmp_path / "foreign"
    path.write_bytes(content)
    assert feature_names(path) == []
