"""Writing shards of records, and parsing them in the graph."""

import contextlib
import os
from pathlib import Path

import google_crc32c
import numpy as np
import tensorflow as tf
from google.protobuf.message import DecodeError

from electra_tf.data.examples import Examples
from electra_tf.data.record_format import SEGMENT_LENGTHS, TOKEN_IDS, RecordFormat


class ShardWriter:
    """Writes a shard under a temporary name and gives it its own when it is complete.

    A context manager; after an exception, or when nothing was written, no file is left
    behind.

    Args:
        path: the shard.
        record_format: `RecordFormat`.

    Attributes:
        examples: int, written so far.
        bytes: int, likewise.
        crc32c: string, 8 hexadecimal digits, checksum of the file so far.
    """

    def __init__(self, path: Path, record_format: RecordFormat):
        self._path = path
        self._temporary = path.with_name(f".{path.name}.partial")
        self._format = record_format
        self._file = None
        self._checksum = 0
        self.examples = 0
        self.bytes = 0

    def __enter__(self):
        self._file = open(self._temporary, "wb")
        return self

    def write(self, examples: Examples) -> None:
        """Appends examples."""
        records = self._format.encode(examples)
        self._file.write(records)
        self._checksum = google_crc32c.extend(self._checksum, records)
        self.examples += len(examples.token_ids)
        self.bytes += len(records)

    @property
    def crc32c(self) -> str:
        """Checksum of what was written."""
        return f"{self._checksum:08x}"

    def __exit__(self, kind, error, traceback):
        try:
            # A full disk may show only when buffers are written out.
            with self._file:
                self._file.flush()
                os.fsync(self._file.fileno())
            if kind is None and self.examples:
                os.replace(self._temporary, self._path)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(self._temporary)


def parse_batch(
    serialized: tf.Tensor, record_format: RecordFormat
) -> dict[str, tf.Tensor]:
    """Parses records into what models take.

    Args:
        serialized: string `[B]`, `tf.train.Example`s as `ShardWriter` writes them.
        record_format: `RecordFormat`.

    Returns:
        `token_ids`, `segment_ids` (1 in the second segment) and `padding_mask` (1 for
        real tokens), all int32 `[B, T]` with static `T`.
    """
    names = (TOKEN_IDS, SEGMENT_LENGTHS)
    features = {name: tf.io.FixedLenFeature([], tf.string) for name in names}
    parsed = tf.io.parse_example(serialized, features)
    # decode_raw knows no uint32; ids are far below 2**31.
    is_short = record_format.token_dtype is np.uint16
    token_ids = tf.io.decode_raw(parsed[TOKEN_IDS], tf.uint16 if is_short else tf.int32)
    token_ids = tf.cast(token_ids, tf.int32)
    token_ids = tf.ensure_shape(token_ids, [None, record_format.max_length])
    lengths = tf.io.decode_raw(parsed[SEGMENT_LENGTHS], tf.uint16)
    lengths = tf.ensure_shape(tf.cast(lengths, tf.int32), [None, 2])
    first, second = lengths[:, :1], lengths[:, 1:]
    positions = tf.range(record_format.max_length)  # [T]
    padding_mask = tf.cast(positions < first + second, tf.int32)
    in_second = tf.cast(positions >= first, tf.int32)
    return {
        "token_ids": token_ids,
        "segment_ids": in_second * padding_mask,
        "padding_mask": padding_mask,
    }


def feature_names(path: Path) -> list[str]:
    """Returns the features of a shard's first `tf.train.Example`, of any schema.

    An empty list means that the file does not begin with such a record.
    """
    try:
        serialized = next(iter(tf.data.TFRecordDataset(str(path)).take(1)), None)
        if serialized is None:
            return []
        example = tf.train.Example.FromString(serialized.numpy())
    except (tf.errors.OpError, DecodeError):
        return []
    return sorted(example.features.feature)
