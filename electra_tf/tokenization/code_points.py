"""BERT's normalisation as a table from code point to what becomes of it.

Every code point has one int32: what it is in the low 8 bits, what it turns into in the
rest. Most characters stay themselves and the table stores a *difference*, so most pages
of 256 entries are equal and are kept once: a few hundred kilobytes, where a string for
each of 1.1 million code points costs a served model more than a gigabyte.

The entry of a character that turns into several (a Hangul syllable, `İ`) points into
`sequences` instead, whose elements are encoded as `code point << 8 | what it is`.
"""

import functools
import unicodedata
from typing import NamedTuple

import numpy as np

from electra_tf.tokenization import normalization

# What a character is: three bits.
KIND_MASK = 0x07
WORD, ISOLATED, SPACE, DELETED, STRIPPED, SEQUENCE = range(6)
# For the rule of the final sigma, of the character before lower-casing.
CASED, CASE_IGNORABLE = 0x08, 0x10
# Three bits for the order of combining marks: 0 none, 1 a mark that is stripped anyway,
# else the place of its combining class among those of marks that stay.
ORDER_SHIFT, ORDER_MASK = 5, 0x07
PAYLOAD_SHIFT = 8
LENGTH_BITS = 3

NUM_CODE_POINTS = 0x110000
PAGE_SIZE = 256
# One beyond Unicode: marks the end of a text among code points, and is a space.
END_OF_TEXT = NUM_CODE_POINTS


class CodePointTable(NamedTuple):
    """The table; the entry of `c` is `entries[page_starts[c >> 8] + (c & 255)]`.

    Attributes:
        page_starts: int32 `[4353]`, where in `entries` each page begins.
        entries: int32 `[pages * 256]`, `difference << 8 | flags`; for a sequence
            `(start << 3 | length) << 8 | flags`.
        sequences: int32, `code point << 8 | flags`, all sequences one after another.
    """

    page_starts: np.ndarray
    entries: np.ndarray
    sequences: np.ndarray


@functools.cache
def code_point_table(*, lowercase: bool, strip_accents: bool) -> CodePointTable:
    """Builds the table from Python's `unicodedata`, once (about a second)."""
    characters = [chr(code_point) for code_point in range(NUM_CODE_POINTS)]
    flat = np.full(NUM_CODE_POINTS + PAGE_SIZE, DELETED, dtype=np.int32)
    flat[END_OF_TEXT] = SPACE
    kept = [c for c in characters if not normalization.is_deleted(c)]
    case_flags = _case_flags(kept) if lowercase else [0] * len(kept)
    sequences = []
    for character, flags in zip(kept, case_flags, strict=True):
        entry = _entry(character, lowercase, strip_accents, sequences)
        flat[ord(character)] = entry | flags
    pages, page_of = np.unique(flat.reshape(-1, PAGE_SIZE), axis=0, return_inverse=True)
    return CodePointTable(
        page_starts=(page_of.reshape(-1) * PAGE_SIZE).astype(np.int32),
        entries=pages.reshape(-1),
        sequences=np.asarray([*sequences, 0], dtype=np.int32),
    )


def _case_flags(characters: list[str]) -> list[int]:
    """Unicode's Cased and Case_Ignorable, which `unicodedata` does not have.

    `str.lower` does: it makes a sigma final after a cased character, skipping ignorable
    ones. What it does to `cΣ` and `AcΣ` tells which of the two `c` is.
    """
    flags = []
    for character in characters:
        if f"{character}Σ".lower().endswith("ς"):
            flags.append(CASED)
        elif f"A{character}Σ".lower().endswith("ς"):
            flags.append(CASE_IGNORABLE)
        else:
            flags.append(0)
    return flags


def _entry(
    character: str, lowercase: bool, strip_accents: bool, sequences: list[int]
) -> int:
    if normalization.is_space(character):
        return SPACE
    result = normalization.normalize_word(
        character, lowercase=lowercase, strip_accents=strip_accents
    )
    with_order = lowercase and strip_accents
    if not result:
        decomposed = unicodedata.normalize("NFD", character)
        is_starter = any(unicodedata.combining(mark) == 0 for mark in decomposed)
        return STRIPPED | (0 if is_starter else 1 << ORDER_SHIFT)
    if normalization.is_cjk(character):
        flags = [ISOLATED]
    else:
        flags = [_flags(element, with_order) for element in result]
    if len(result) == 1:
        return (ord(result) - ord(character)) << PAYLOAD_SHIFT | flags[0]
    assert len(result) < 1 << LENGTH_BITS
    payload = len(sequences) << LENGTH_BITS | len(result)
    sequences.extend(
        ord(element) << PAYLOAD_SHIFT | flag
        for element, flag in zip(result, flags, strict=True)
    )
    return payload << PAYLOAD_SHIFT | SEQUENCE


def _flags(character: str, with_order: bool) -> int:
    if normalization.is_space(character):
        return SPACE
    if normalization.is_punctuation(character):
        return ISOLATED
    if not with_order or unicodedata.combining(character) == 0:
        return WORD
    return WORD | (2 + _mark_classes().index(unicodedata.combining(character))) << (
        ORDER_SHIFT
    )


@functools.cache
def _mark_classes() -> list[int]:
    """Combining classes of marks that stay when category Mn is stripped, in order."""
    marks = (chr(c) for c in range(NUM_CODE_POINTS))
    classes = {
        unicodedata.combining(mark)
        for mark in marks
        if unicodedata.category(mark) == "Mc"
    }
    return sorted(classes - {0})
