"""The bytes of a record: a TFRecord holding a `tf.train.Example` of fixed size.

Two features hold an example: `token_ids` (little-endian, padded to `max_length`) and
`segment_lengths` (two uint16). Any reader of TFRecords can parse them; because all
records are equally long, encoding is a few array operations, and record i of a shard is
found by multiplication.
"""

import dataclasses
import functools

import google_crc32c
import numpy as np

from electra_tf.data.examples import Examples

TOKEN_IDS, SEGMENT_LENGTHS = "token_ids", "segment_lengths"

# A TFRecord: length, checksum of the length, content, checksum of the content.
_HEADER_BYTES = 12
_FOOTER_BYTES = 4
_MAX_UINT16_VOCABULARY = 1 << 16


@dataclasses.dataclass(frozen=True)
class RecordFormat:
    """The bytes of a record.

    Args:
        max_length: int, tokens of an example (`T`).
        vocabulary_size: int; ids take two bytes when they fit.
    """

    max_length: int
    vocabulary_size: int

    @property
    def token_dtype(self) -> type:
        """`np.uint16` or `np.uint32`."""
        return (
            np.uint16 if self.vocabulary_size <= _MAX_UINT16_VOCABULARY else np.uint32
        )

    @property
    def record_bytes(self) -> int:
        """Size of a record with its frame."""
        return len(self._template.content) + _HEADER_BYTES + _FOOTER_BYTES

    def encode(self, examples: Examples) -> bytes:
        """Returns the records, frames included, of examples one after another."""
        template = self._template
        records = np.empty((len(examples.token_ids), self.record_bytes), np.uint8)
        records[:, :_HEADER_BYTES] = template.header
        content = records[:, _HEADER_BYTES:-_FOOTER_BYTES]
        content[:] = template.content
        content[:, template.token_ids] = _bytes_of(examples.token_ids)
        content[:, template.segment_lengths] = _bytes_of(examples.segment_lengths)
        checksums = [google_crc32c.value(row.tobytes()) for row in content]
        records[:, -_FOOTER_BYTES:] = _bytes_of(_masked(checksums))
        return records.tobytes()

    def decode(self, records: np.ndarray) -> tuple[Examples, np.ndarray]:
        """Inverse of `encode`.

        Args:
            records: uint8 `[E, record_bytes]`.

        Returns:
            `Examples`, and bool `[E]`: whether the frame and checksum of each are right.
        """
        template = self._template
        content = np.ascontiguousarray(records[:, _HEADER_BYTES:-_FOOTER_BYTES])
        checksums = _masked([google_crc32c.value(row.tobytes()) for row in content])
        is_sound = (records[:, :_HEADER_BYTES] == template.header).all(axis=1)
        is_sound &= (records[:, -_FOOTER_BYTES:] == _bytes_of(checksums)).all(axis=1)
        token_ids = _integers(content[:, template.token_ids], self.token_dtype)
        lengths = _integers(content[:, template.segment_lengths], np.uint16)
        return Examples(token_ids, lengths), is_sound

    @functools.cached_property
    def _template(self) -> "_Template":
        return _make_template(self)


class _Template:
    """A record with blanks.

    Attributes:
        header: uint8 `[12]`.
        content: uint8, the serialized example.
        token_ids: slice of the content.
        segment_lengths: likewise.
    """

    def __init__(self, content: bytes, token_ids: bytes, segment_lengths: bytes):
        size = np.asarray([len(content)], "<u8").tobytes()
        checksum = _bytes_of(_masked([google_crc32c.value(size)])).tobytes()
        self.header = np.frombuffer(size + checksum, np.uint8)
        self.content = np.frombuffer(content, np.uint8)
        self.token_ids = self._find(content, token_ids)
        self.segment_lengths = self._find(content, segment_lengths)

    def _find(self, content, value):
        start = content.index(value)
        return slice(start, start + len(value))


def _make_template(record_format: RecordFormat) -> _Template:
    import tensorflow as tf

    # Recognisable content, then replaced: no id is 0xaaaa... and no length 0xbbbb.
    token_bytes = np.dtype(record_format.token_dtype).itemsize
    token_ids = b"\xaa" * record_format.max_length * token_bytes
    segment_lengths = b"\xbb" * 4
    feature = {
        name: tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
        for name, value in (
            (TOKEN_IDS, token_ids),
            (SEGMENT_LENGTHS, segment_lengths),
        )
    }
    example = tf.train.Example(features=tf.train.Features(feature=feature))
    content = example.SerializeToString(deterministic=True)
    return _Template(content, token_ids, segment_lengths)


def _masked(checksums: list[int]) -> np.ndarray:
    """CRC32Cs as TFRecord stores them, uint32 `[E, 1]`."""
    values = np.asarray(checksums, np.uint32)
    rotated = (values >> np.uint32(15)) | (values << np.uint32(17))
    return (rotated + np.uint32(0xA282EAD8))[:, np.newaxis]


def _bytes_of(values: np.ndarray) -> np.ndarray:
    """Little-endian bytes of `[E, n]` integers, uint8 `[E, n * itemsize]`."""
    little = values.astype(values.dtype.newbyteorder("<"), copy=False)
    return np.ascontiguousarray(little).view(np.uint8)


def _integers(values: np.ndarray, dtype: type) -> np.ndarray:
    """Inverse of `_bytes_of`."""
    little = np.dtype(dtype).newbyteorder("<")
    return np.ascontiguousarray(values).view(little).astype(dtype, copy=False)
