"""`dataset.json`: what a dataset holds, how it was built, and whether it is intact.

It is written last, so a directory that has it is complete.
"""

import json
import os
from pathlib import Path
from typing import Literal

import google_crc32c
import pydantic
from pydantic import Field

from electra_tf.data.file_signatures import describe_file
from electra_tf.data.record_format import SEGMENT_LENGTHS, TOKEN_IDS, RecordFormat
from electra_tf.errors import DataError

MANIFEST_FILE = "dataset.json"
VOCABULARY_FILE = "vocab.txt"
QUARANTINE_FILE = "quarantine.jsonl"
FORMAT_VERSION = 1

_BLOCK_BYTES = 1 << 22
_REBUILD = "build the dataset again with build_dataset"


class _Part(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", strict=True)


class SpecialIds(_Part):
    """Token ids of the special tokens."""

    pad: int
    unknown: int
    cls: int
    sep: int
    mask: int


class Source(_Part):
    """A corpus file; its directory does not matter."""

    name: str
    bytes: int
    sha256: str
    layout: str


class BuildInputs(_Part):
    """Everything that determines the shards: equal inputs, equal datasets."""

    format_version: int = FORMAT_VERSION
    sources: list[Source]
    text_field: str
    split_long_lines: bool
    vocabulary_fingerprint: str
    lowercase: bool
    strip_accents: bool
    unicode_version: str
    max_length: int
    heldout_fraction: float
    seed: int
    num_shards: int


class Shard(_Part):
    """A record file and its checksum (CRC-32C of the file, 8 hexadecimal digits)."""

    file: str
    split: Literal["train", "heldout"]
    examples: int
    bytes: int
    crc32c: str


class SplitCounts(_Part):
    """What a split consists of.

    Attributes:
        documents: number of documents (parts of very long ones count singly).
        lines: number of lines.
        text_tokens: word pieces of the text.
        examples: number of examples.
        tokens: tokens in examples, special ones included, padding not.
        kept_text_tokens: word pieces that made it into an example; the original
            discards what overflows.
        unknown_tokens: `[UNK]`s in the text.
    """

    documents: int = 0
    lines: int = 0
    text_tokens: int = 0
    examples: int = 0
    tokens: int = 0
    kept_text_tokens: int = 0
    unknown_tokens: int = 0


class DatasetManifest(_Part):
    """The content of `dataset.json`."""

    inputs: BuildInputs
    vocabulary_size: int
    special_ids: SpecialIds
    train: SplitCounts
    heldout: SplitCounts
    quarantined_lines: int
    warnings: list[str]
    shards: list[Shard] = Field(min_length=1)

    @property
    def max_length(self) -> int:
        """Tokens of an example (`T`)."""
        return self.inputs.max_length

    @property
    def vocabulary_fingerprint(self) -> str:
        """`Vocabulary.fingerprint` of the vocabulary that the ids refer to."""
        return self.inputs.vocabulary_fingerprint

    @property
    def record_format(self) -> RecordFormat:
        """How the records are encoded."""
        return RecordFormat(self.max_length, self.vocabulary_size)


def open_dataset(directory: str | os.PathLike) -> DatasetManifest:
    """Reads the manifest of a dataset; its shards are not looked at (`check_dataset`).

    Raises:
        DataError: there is no dataset, or one of another kind; says what was found.
    """
    directory = Path(directory)
    path = directory / MANIFEST_FILE
    if not directory.is_dir():
        raise DataError(f"{directory}: no such directory; {_REBUILD}")
    if not path.exists():
        raise DataError(
            f"{directory}: no {MANIFEST_FILE}, so not (or not completely) written by "
            f"build_dataset{_foreign_records(directory)}; {_REBUILD}"
        )
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        version = content["inputs"]["format_version"]
        if version == FORMAT_VERSION:
            return DatasetManifest.model_validate(content)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: not the manifest of a dataset; {_REBUILD}") from error
    raise DataError(
        f"{path}: format version {version}, this program reads {FORMAT_VERSION}; "
        f"{_REBUILD}"
    )


def check_dataset(
    directory: str | os.PathLike,
    manifest: DatasetManifest,
    *,
    vocabulary_fingerprint: str | None = None,
    max_length: int | None = None,
    batch_size: int | None = None,
    checksums: bool = True,
) -> None:
    """Checks that a dataset is intact and is what a run expects.

    Args:
        directory: the dataset.
        manifest: what `open_dataset` returned for it.
        vocabulary_fingerprint: of the vocabulary that will be used.
        max_length: int, length that the run is configured for.
        batch_size: int, examples of a (global) batch.
        checksums: read the shards entirely (a gigabyte takes about a second); otherwise
            only their sizes are compared.

    Raises:
        DataError: says which shard or setting is wrong, and the remedy.
    """
    directory = Path(directory)
    if vocabulary_fingerprint not in (None, manifest.vocabulary_fingerprint):
        raise DataError(
            f"{directory}: built with another vocabulary ({manifest.vocabulary_size} "
            f"tokens, kept as {directory / VOCABULARY_FILE}); use that one, or {_REBUILD}"
        )
    if max_length not in (None, manifest.max_length):
        raise DataError(
            f"{directory}: examples of {manifest.max_length} tokens, this run expects "
            f"{max_length}; set data.max_length={manifest.max_length}, or build the "
            f"dataset again with max_length={max_length}"
        )
    if batch_size is not None:
        check_batch_size(manifest, batch_size)
    for shard in manifest.shards:
        _check_shard(directory, shard, checksums)
    _check_no_strangers(directory, manifest)


def check_batch_size(manifest: DatasetManifest, batch_size: int) -> None:
    """Refuses datasets with fewer training examples than one batch.

    Raises:
        DataError: names both numbers.
    """
    if manifest.train.examples < batch_size:
        raise DataError(
            f"the dataset has {manifest.train.examples} training examples, fewer than "
            f"one batch of {batch_size}; lower training.batch_size or use more text"
        )


def _check_shard(directory: Path, shard: Shard, checksums: bool) -> None:
    path = directory / shard.file
    try:
        size = path.stat().st_size
        # After the size: a file that was cut short is told faster this way.
        is_sound = size == shard.bytes and (
            not checksums or _file_checksum(path) == shard.crc32c
        )
        if is_sound:
            return
        kind = describe_file(path)
    except FileNotFoundError as error:
        raise DataError(f"{path}: missing; copy it again, or {_REBUILD}") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error
    if size < shard.bytes and kind.startswith("binary"):
        what = f"cut short ({size} of {shard.bytes} bytes)"
    elif kind.startswith("binary"):
        what = f"damaged ({size} bytes, {shard.bytes} expected, wrong checksum)"
    else:
        what = f"not the record file that was written, it looks like {kind}"
    raise DataError(f"{path}: {what}; copy it again, or {_REBUILD}")


def _file_checksum(path: Path) -> str:
    checksum = 0
    with open(path, "rb") as file:
        while block := file.read(_BLOCK_BYTES):
            checksum = google_crc32c.extend(checksum, block)
    return f"{checksum:08x}"


def _check_no_strangers(directory: Path, manifest: DatasetManifest) -> None:
    known = {shard.file for shard in manifest.shards}
    for path in sorted(directory.glob("*.tfrecord*")):
        if path.name not in known and path.is_file():
            raise DataError(
                f"{path}: not part of the dataset, it looks like {describe_file(path)}; "
                "move it elsewhere"
            )


def _foreign_records(directory: Path) -> str:
    """Says what record files of another origin hold, if there are any."""
    paths = sorted(path for path in directory.glob("*tfrecord*") if path.is_file())
    if not paths:
        return ""
    from electra_tf.data.records import feature_names

    found = feature_names(paths[0])
    if not found:
        return f" ({paths[0].name} holds no records, it looks like " + (
            f"{describe_file(paths[0])})"
        )
    missing = [name for name in (TOKEN_IDS, SEGMENT_LENGTHS) if name not in found]
    return f" ({paths[0].name} has the features {', '.join(found)}" + (
        f"; missing: {', '.join(missing)})" if missing else ")"
    )
