import numpy as np
import pytest
import tensorflow as tf

from electra_tf.data.examples import Examples
from electra_tf.data.record_format import RecordFormat


def _examples(record_format, count=5):
    rng = np.random.default_rng(1)
    shape = (count, record_format.max_length)
    ids = rng.integers(0, record_format.vocabulary_size, shape)
    # Bytes like those of the blanks in the template.
    ids[0] = 0xBBBB % record_format.vocabulary_size
    lengths = rng.integers(0, record_format.max_length, (count, 2))
    return Examples(ids.astype(record_format.token_dtype), lengths.astype(np.uint16))


def _records(record_format, examples):
    encoded = np.frombuffer(record_format.encode(examples), np.uint8)
    return encoded.reshape(-1, record_format.record_bytes).copy()


@pytest.mark.parametrize(
    ("max_length", "vocabulary_size", "dtype"),
    [
        (5, 100, np.uint16),
        (128, 1 << 16, np.uint16),
        (128, (1 << 16) + 1, np.uint32),
        (512, 250_000, np.uint32),
        (2000, 30_522, np.uint16),
    ],
)
def test_records_are_read_as_they_were_written(max_length, vocabulary_size, dtype):
    record_format = RecordFormat(max_length, vocabulary_size)
    assert record_format.token_dtype is dtype
    examples = _examples(record_format)
    decoded, is_sound = record_format.decode(_records(record_format, examples))
    assert is_sound.all()
    assert decoded.token_ids.dtype == dtype
    np.testing.assert_array_equal(decoded.token_ids, examples.token_ids)
    np.testing.assert_array_equal(decoded.segment_lengths, examples.segment_lengths)


@pytest.mark.parametrize("vocabulary_size", [1000, 100_000])
def test_any_reader_of_tfrecords_can_parse_them(tmp_path, read_shard, vocabulary_size):
    record_format = RecordFormat(16, vocabulary_size)
    examples = _examples(record_format)
    path = tmp_path / "shard"
    path.write_bytes(record_format.encode(examples))
    kind = tf.uint16 if vocabulary_size == 1000 else tf.int32
    ids, lengths = read_shard(path, kind)
    np.testing.assert_array_equal(ids, examples.token_ids)
    np.testing.assert_array_equal(lengths, examples.segment_lengths)


def test_every_flipped_byte_is_noticed():
    record_format = RecordFormat(8, 100)
    examples = _examples(record_format, record_format.record_bytes)
    records = _records(record_format, examples)
    records[np.diag_indices_from(records)] ^= 4
    assert not record_format.decode(records)[1].any()


def test_no_examples_are_no_bytes():
    record_format = RecordFormat(8, 100)
    assert (
        record_format.encode(
            _examples(record_format)._replace(
                token_ids=np.zeros((0, 8), np.uint16),
                segment_lengths=np.zeros((0, 2), np.uint16),
            )
        )
        == b""
    )
