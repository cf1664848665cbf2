"""Pre-training examples, assembled exactly as the official example writer does.

Lines of a document are collected until they fill an example; then they are dealt to one
or two segments. What does not fit in an example is discarded, as in the original. Which
line goes where depends on the lengths of the lines alone (`plan_examples`), so that the
tokens can be moved by a few array operations for thousands of examples (`assemble`).
"""

import dataclasses
import random
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

# Shares and bounds of the original.
_SINGLE_SEGMENT_SHARE = 0.1
_SHORT_EXAMPLE_SHARE = 0.05
_MIN_TARGET_LENGTH = 5
_NO_LIMIT = 100_000
_OVERFLOW_SHARE = 0.5


class Plan(NamedTuple):
    """Where lines go.

    Attributes:
        example: per line, the number of its example.
        segment: per line, 0 or 1.
        num_examples: int.
        target_length: how long the next example after these is meant to be.
    """

    example: list[int]
    segment: list[int]
    num_examples: int
    target_length: int


class Examples(NamedTuple):
    """Assembled examples.

    Attributes:
        token_ids: uint16 or uint32 `[E, T]`: `[CLS]` first segment `[SEP]`, and where
            there is a second segment that and `[SEP]`, then padding.
        segment_lengths: uint16 `[E, 2]`: tokens of the first segment with `[CLS]` and
            `[SEP]`, of the second with `[SEP]` (0 when there is none).
    """

    token_ids: np.ndarray
    segment_lengths: np.ndarray


@dataclasses.dataclass(kw_only=True)
class ExampleBuilder:
    """Turns tokenized documents into examples, batch after batch.

    Equal documents give equal examples however they are cut into batches.

    Args:
        max_length: int in [5, 32768], tokens of an example (`T`).
        cls_id: id of `[CLS]`.
        sep_id: id of `[SEP]`.
        pad_id: id of `[PAD]`.
        dtype: of the ids: `np.uint16` or `np.uint32`.
        rng: source of randomness; draws come in the order of the original.
        split_long_lines: bool, cut lines to pieces of at most an eighth of an example
            first. The original takes lines as they are, and what overflows is lost: a
            third of a text with a paragraph on each line.
    """

    max_length: int
    cls_id: int
    sep_id: int
    pad_id: int
    dtype: type
    rng: random.Random
    split_long_lines: bool = False

    def __post_init__(self):
        self._target_length = self.max_length

    def build(
        self, token_ids: np.ndarray, line_lengths: np.ndarray, document_ends: np.ndarray
    ) -> Examples:
        """Builds the examples of some whole documents.

        Args:
            token_ids: integers, all lines one after another.
            line_lengths: int `[L]`, tokens of each line; lines may be empty.
            document_ends: int `[D]`, increasing, number of the line behind each
                document; the last one is `L`.

        Returns:
            `Examples`; no example has tokens of two documents.
        """
        line_lengths, document_ends = _split_lines(
            line_lengths,
            document_ends,
            max(1, self.max_length // 8) if self.split_long_lines else None,
        )
        plan = plan_examples(
            line_lengths.tolist(),
            document_ends.tolist(),
            max_length=self.max_length,
            target_length=self._target_length,
            rng=self.rng,
        )
        self._target_length = plan.target_length
        return assemble(
            token_ids,
            line_lengths,
            plan,
            max_length=self.max_length,
            cls_id=self.cls_id,
            sep_id=self.sep_id,
            pad_id=self.pad_id,
            dtype=self.dtype,
        )


def _split_lines(line_lengths, document_ends, limit):
    """Leaves out empty lines and cuts the others to equal pieces of up to `limit`.

    A line without tokens leaves no trace in the original either.
    """
    pieces = (line_lengths > 0).astype(np.int64)
    if limit is not None:
        pieces = -(-line_lengths // limit)
    ends = np.cumsum(pieces)
    number = np.arange(ends[-1]) - np.repeat(ends - pieces, pieces)
    lengths, pieces = np.repeat(line_lengths, pieces), np.repeat(pieces, pieces)
    sizes = lengths * (number + 1) // pieces - lengths * number // pieces
    return sizes, ends[document_ends - 1]


def plan_examples(
    line_lengths: Sequence[int],
    document_ends: Sequence[int],
    *,
    max_length: int,
    target_length: int,
    rng: random.Random,
) -> Plan:
    """Decides which lines make an example and which segment each belongs to.

    Args:
        line_lengths: positive ints, tokens of each line; Python ints are fastest.
        document_ends: number of the line behind each document.
        max_length: int, tokens of an example.
        target_length: int, how long the first example is meant to be; `max_length` at
            the beginning of a corpus, then what the last plan says.
        rng: as in `ExampleBuilder`.

    Returns:
        `Plan`.
    """
    example, segment = [], []
    num_examples = start = 0
    for document_end in document_ends:
        while start < document_end:
            end, length = start, 0
            while end < document_end and length < target_length:
                length += line_lengths[end]
                end += 1
            segment += _deal(line_lengths[start:end], target_length, rng)
            example += [num_examples] * (end - start)
            num_examples += 1
            start = end
            target_length = max_length
            if rng.random() < _SHORT_EXAMPLE_SHARE:
                target_length = rng.randint(_MIN_TARGET_LENGTH, max_length)
    return Plan(example, segment, num_examples, target_length)


def _deal(lengths: Sequence[int], target_length: int, rng: random.Random) -> list[int]:
    """Deals the lines of an example to its segments.

    A short line may go to the first segment though the one before it went to the
    second: the original does so, which reorders the text.
    """
    budget = (target_length - 3) // 2
    if rng.random() < _SINGLE_SEGMENT_SHARE:
        budget = _NO_LIMIT
    segments = []
    first = 0
    second_is_empty = True
    for length in lengths:
        if (
            first == 0
            or first + length < budget
            or (second_is_empty and first < budget and rng.random() < _OVERFLOW_SHARE)
        ):
            first += length
            segments.append(0)
        else:
            second_is_empty = False
            segments.append(1)
    return segments


def assemble(
    token_ids: np.ndarray,
    line_lengths: np.ndarray,
    plan: Plan,
    *,
    max_length: int,
    cls_id: int,
    sep_id: int,
    pad_id: int,
    dtype: type,
) -> Examples:
    """Moves the tokens to where the plan wants them, cutting what does not fit.

    Args:
        token_ids: integers, all lines one after another.
        line_lengths: positive ints `[L]`.
        plan: of these lines.
        max_length: int, tokens of an example (`T`).
        cls_id: id of `[CLS]`.
        sep_id: id of `[SEP]`.
        pad_id: id of `[PAD]`.
        dtype: of the resulting ids.

    Returns:
        `Examples`.
    """
    rows = np.arange(plan.num_examples)
    # One slot for each segment of each example: 2e and 2e + 1.
    slot = 2 * np.asarray(plan.example, np.int64) + np.asarray(plan.segment, np.int64)
    offset, sizes = _offsets_in_slots(slot, line_lengths, 2 * plan.num_examples)
    first = np.minimum(sizes[0::2], max_length - 2)
    second = np.minimum(sizes[1::2], np.maximum(max_length - first - 3, 0))
    room = np.stack([first, second], axis=1).reshape(-1)
    slot_begin = np.stack([rows * 0 + 1, first + 2], axis=1)
    slot_begin = (slot_begin + rows[:, np.newaxis] * max_length).reshape(-1)

    kept = np.clip(room[slot] - offset, 0, line_lengths)
    source = np.cumsum(line_lengths) - line_lengths
    moved = np.cumsum(kept) - kept  # tokens of the lines before each
    step = np.arange(kept.sum())
    result = np.full((plan.num_examples, max_length), pad_id, dtype)
    target = np.repeat(slot_begin[slot] + offset - moved, kept) + step
    result.reshape(-1)[target] = token_ids[np.repeat(source - moved, kept) + step]

    result[:, 0] = cls_id
    result[rows, first + 1] = sep_id
    both = rows[second > 0]
    result[both, (first + second + 2)[both]] = sep_id
    lengths = np.stack([first + 2, second + (second > 0)], axis=1)
    return Examples(result, lengths.astype(np.uint16))


def _offsets_in_slots(
    slot: np.ndarray, line_lengths: np.ndarray, num_slots: int
) -> tuple[np.ndarray, np.ndarray]:
    """Tokens before each line in its slot, and tokens in each slot."""
    order = np.argsort(slot, kind="stable")
    before = np.cumsum(line_lengths[order]) - line_lengths[order]
    sizes = np.zeros(num_slots, np.int64)
    np.add.at(sizes, slot, line_lengths)
    slot_begins = np.cumsum(sizes) - sizes
    offset = np.empty_like(before)
    offset[order] = before - slot_begins[slot[order]]
    return offset, sizes
