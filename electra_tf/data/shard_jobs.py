"""What the work of a shard is and what comes of it: plain values, no TensorFlow."""

import dataclasses
import hashlib
from collections.abc import Sequence
from pathlib import Path

from electra_tf.data.corpus import Span
from electra_tf.data.manifest import Shard, SplitCounts
from electra_tf.tokenization.vocabulary import Vocabulary

SPLITS = ("train", "heldout")
_HASH_BYTES = 8
HASH_RANGE = 1 << (8 * _HASH_BYTES)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShardSettings:
    """What all shards of a dataset have in common.

    Attributes:
        vocabulary: `Vocabulary`.
        lowercase: as in `WordPieceTokenizer`.
        strip_accents: likewise.
        max_length: int, tokens of an example.
        text_field: as in `corpus.read_documents`.
        heldout_below: int; documents whose hash is lower are held out.
        seed: int in [0, 2³²).
        split_long_lines: as in `ExampleBuilder`.
        refuse_invalid: bool, stop at lines that cannot be read, rather than list them.
        directory: where to write.
    """

    vocabulary: Vocabulary
    lowercase: bool
    strip_accents: bool
    max_length: int
    text_field: str
    heldout_below: int
    seed: int
    split_long_lines: bool
    refuse_invalid: bool
    directory: Path


@dataclasses.dataclass(frozen=True)
class ShardJob:
    """Which shard, of how many, from which stretches of the corpus."""

    index: int
    num_shards: int
    spans: Sequence[Span]


@dataclasses.dataclass(frozen=True)
class ShardResult:
    """What a job wrote.

    Attributes:
        index: of the shard.
        shards: at most one for each split.
        counts: split to `SplitCounts`.
        quarantined_lines: int.
        quarantine: file that lists them, `None` if there are none.
        lowest_hash: int, of all documents; `HASH_RANGE` if there are none.
        highest_hash: likewise; -1 if there are none.
        cut_documents: int, parts that are not the last of a very long document.
    """

    index: int
    shards: list[Shard]
    counts: dict[str, SplitCounts]
    quarantined_lines: int
    quarantine: Path | None
    lowest_hash: int
    highest_hash: int
    cut_documents: int


def document_hash(document: Sequence[str]) -> int:
    """Hash of a document's text in [0, `HASH_RANGE`).

    It depends on nothing else: a document, and each copy of it, is in the same split
    in every dataset with the same share held out.
    """
    text = "\n".join(document).encode("utf-8")
    digest = hashlib.blake2b(text, digest_size=_HASH_BYTES).digest()
    return int.from_bytes(digest, "little")


def add_counts(counts: Sequence[SplitCounts]) -> SplitCounts:
    """Returns the sums, field by field."""
    dicts = [count.model_dump() for count in counts]
    return SplitCounts(
        **{
            name: sum(entry[name] for entry in dicts)
            for name in SplitCounts.model_fields
        }
    )
