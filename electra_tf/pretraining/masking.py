"""Which positions the generator has to predict, and what it gets to see.

Masks are drawn anew at every step, on the device; records hold none.
"""

import dataclasses
from collections.abc import Mapping

import tensorflow as tf

from electra_tf.runtime.random import MASK_POSITIONS, MASK_REPLACEMENT, Draws
from electra_tf.tokenization.vocabulary import Vocabulary

REPLACED_BY_MASK = 0.85


@dataclasses.dataclass(frozen=True, kw_only=True)
class SpecialTokens:
    """Ids of the tokens with a meaning of their own; always looked up, never assumed."""

    pad_id: int
    cls_id: int
    sep_id: int
    mask_id: int

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> "SpecialTokens":
        """Those of a vocabulary."""
        names = [field.name for field in dataclasses.fields(cls)]
        return cls(**{name: getattr(vocabulary, name) for name in names})


@dataclasses.dataclass(frozen=True, kw_only=True)
class Masked:
    """A masked batch; `N` slots a row, of which the first few are used.

    Attributes:
        token_ids: int32 `[B, T]`, what the generator reads.
        mask_positions: int32 `[B, N]`; 0 in unused slots.
        mask_ids: int32 `[B, N]`, the original tokens; 0 in unused slots.
        mask_weights: float32 `[B, N]`, 1 for used slots.
    """

    token_ids: tf.Tensor
    mask_positions: tf.Tensor
    mask_ids: tf.Tensor
    mask_weights: tf.Tensor


def max_masked(rate: float, length: int) -> int:
    """Static number of slots `N` for sequences of `length` tokens, at least one."""
    return max(1, int((rate + 0.005) * length))


def mask_count(lengths: tf.Tensor, *, rate: float, limit: int) -> tf.Tensor:
    """Number of positions to select in each sequence.

    The official rounding, half to even; the paper writes a ceiling.

    Args:
        lengths: int32 `[B]`, real tokens including `[CLS]` and `[SEP]`.
        rate: float in (0, 1), share of tokens to select.
        limit: int, number of slots.

    Returns:
        int32 `[B]` in `[1, limit]`.

    Raises:
        ValueError: `rate` outside (0, 1), or `limit` below 1.
    """
    if not 0.0 < rate < 1.0 or limit < 1:
        raise ValueError(f"Need 0 < rate < 1 and limit >= 1, got {rate} and {limit}.")
    wanted = tf.round(tf.cast(lengths, tf.float32) * rate)
    return tf.clip_by_value(tf.cast(wanted, tf.int32), 1, limit)


def candidate_mask(batch: Mapping[str, tf.Tensor], special: SpecialTokens) -> tf.Tensor:
    """Positions that may be selected: real tokens that are not special, bool `[B, T]`."""
    token_ids = batch["token_ids"]
    allowed = batch["padding_mask"] > 0
    for excluded in (special.pad_id, special.cls_id, special.sep_id, special.mask_id):
        allowed &= token_ids != excluded
    return allowed


def draw_positions(
    candidates: tf.Tensor, uniform: tf.Tensor, *, limit: int, replacement: bool
) -> tf.Tensor:
    """Draws `limit` candidate positions a row.

    Args:
        candidates: bool `[B, T]`.
        uniform: float32 `[B, T]` in [0, 1); with replacement its first `limit` columns
            are used.
        limit: int, at most `T`.
        replacement: draw each slot independently, as the original does: about 7 % of the
            positions are then drawn twice at a rate of 0.15.

    Returns:
        int32 `[B, limit]`. Without replacement, slots beyond the number of candidates
        hold positions that are none; the caller gives them no weight.
    """
    if not replacement:
        scores = tf.where(candidates, uniform, uniform - 1.0)
        return tf.math.top_k(scores, k=limit, sorted=True).indices
    total = tf.reduce_sum(tf.cast(candidates, tf.int32), axis=1, keepdims=True)
    rank = tf.cast(uniform[:, :limit] * tf.cast(total, tf.float32), tf.int32)
    # A stable sort lists each row's candidates first, in order.
    in_order = tf.argsort(tf.cast(~candidates, tf.int32), axis=1, stable=True)
    return tf.gather(in_order, rank, batch_dims=1)


def mask_tokens(
    batch: Mapping[str, tf.Tensor],
    draws: Draws,
    special: SpecialTokens,
    *,
    rate: float,
    replacement: bool = False,
) -> Masked:
    """Selects tokens and hides 85 % of them; the other 15 % stay as they are.

    There is no third kind: BERT's random words are not part of ELECTRA.

    Args:
        batch: `token_ids`, `padding_mask` int32 `[B, T]`.
        draws: random numbers of the step.
        special: ids that are never selected, and that of `[MASK]`.
        rate: float in (0, 1), share of tokens to select.
        replacement: draw positions with replacement, as the original does.

    Returns:
        `Masked`. A row without any candidate gets no weight at all.
    """
    token_ids = batch["token_ids"]
    rows, length = tf.shape(token_ids)[0], token_ids.shape[1]
    limit = max_masked(rate, length)
    candidates = candidate_mask(batch, special)
    positions = draw_positions(
        candidates,
        draws.uniform((rows, length), MASK_POSITIONS),
        limit=limit,
        replacement=replacement,
    )
    lengths = tf.reduce_sum(batch["padding_mask"], axis=1)
    count = mask_count(lengths, rate=rate, limit=limit)
    available = tf.reduce_sum(tf.cast(candidates, tf.int32), axis=1)
    if replacement:
        available = tf.where(available > 0, limit, 0)
    used = tf.sequence_mask(tf.minimum(count, available), limit, dtype=tf.int32)
    positions *= used
    hide = draws.uniform((rows, limit), MASK_REPLACEMENT) < REPLACED_BY_MASK
    return Masked(
        token_ids=hide_tokens(
            token_ids, positions, tf.cast(hide, tf.int32) * used, special.mask_id
        ),
        mask_positions=positions,
        mask_ids=tf.gather(token_ids, positions, batch_dims=1) * used,
        mask_weights=tf.cast(used, tf.float32),
    )


def hide_tokens(
    token_ids: tf.Tensor, positions: tf.Tensor, hidden: tf.Tensor, mask_id: int
) -> tf.Tensor:
    """Writes `mask_id` wherever a slot with `hidden` = 1 points; int32 `[B, T]`.

    A position drawn twice stays visible only if both draws leave it so.
    """
    counts = scatter_add(tf.zeros_like(token_ids), positions, hidden)
    return tf.where(counts > 0, mask_id, token_ids)


def scatter_add(
    values: tf.Tensor, positions: tf.Tensor, updates: tf.Tensor
) -> tf.Tensor:
    """Adds `updates` `[B, N]` to `values` `[B, T]` at `positions` int32 `[B, N]`."""
    row = tf.range(tf.shape(positions)[0])[:, tf.newaxis]
    indices = tf.stack([tf.broadcast_to(row, tf.shape(positions)), positions], axis=-1)
    return tf.tensor_scatter_nd_add(values, indices, updates)
