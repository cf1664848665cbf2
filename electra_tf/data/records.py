"""Writing shards of records, and recognising those of other programs."""

import contextlib
import os
from pathlib import Path

import google_crc32c
import tensorflow as tf
from google.protobuf.message import DecodeError

from electra_tf.data.examples import Examples
from electra_tf.data.record_format import RecordFormat


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
