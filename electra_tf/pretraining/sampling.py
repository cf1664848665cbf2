"""From generator logits to the discriminator's input and labels."""

import dataclasses
from collections.abc import Mapping

import tensorflow as tf

from electra_tf.pretraining.masking import Masked, scatter_add

# The constants of the original's Gumbel noise: u = 0 gives a finite number.
_NOISE_FLOOR = 1e-9
_DISALLOWED = 1_000.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Corrupted:
    """The discriminator's example.

    Attributes:
        token_ids: int32 `[B, T]`, the original with sampled tokens put in.
        labels: int32 `[B, T]`, 1 where the token differs from the original.
        resampled: int32 `[B, T]`, 1 at every selected position, changed or not.
    """

    token_ids: tf.Tensor
    labels: tf.Tensor
    resampled: tf.Tensor


def sample_tokens(
    logits: tf.Tensor,
    uniform: tf.Tensor,
    *,
    temperature: float = 1.0,
    disallowed_ids: tf.Tensor | None = None,
) -> tf.Tensor:
    """Draws a token for each slot by the Gumbel-max trick. No gradient passes.

    Args:
        logits: float32 `[B, N, V]`.
        uniform: float32 `[B, N, V]` in [0, 1).
        temperature: float > 0; above 1 flattens the distribution.
        disallowed_ids: int32 `[B, N]`, a token of each slot that may not be drawn, or
            None. The penalty comes after the temperature, as in the original.

    Returns:
        int32 `[B, N]`.
    """
    # float32 throughout: noise in bfloat16 makes ties, and argmax prefers low ids.
    scores = tf.stop_gradient(tf.cast(logits, tf.float32))
    if temperature != 1.0:
        scores /= temperature
    if disallowed_ids is not None:
        scores -= _DISALLOWED * tf.one_hot(disallowed_ids, logits.shape[-1])
    noise = -tf.math.log(-tf.math.log(uniform + _NOISE_FLOOR) + _NOISE_FLOOR)
    return tf.argmax(scores + noise, axis=-1, output_type=tf.int32)


def corrupt(
    batch: Mapping[str, tf.Tensor], masked: Masked, sampled_ids: tf.Tensor
) -> Corrupted:
    """Puts the samples into the original text.

    A position that was drawn twice takes the sample of its first slot. (The original
    writes the integer mean of both ids, an unrelated token.) A sample that equals the
    original token counts as original.

    Args:
        batch: `token_ids` int32 `[B, T]`, the original.
        masked: what was selected.
        sampled_ids: int32 `[B, N]`.

    Returns:
        `Corrupted`.
    """
    original = batch["token_ids"]
    used = tf.cast(masked.mask_weights, tf.int32)
    first = used * _first_occurrence(masked.mask_positions, used)
    change = (sampled_ids - masked.mask_ids) * first
    token_ids = scatter_add(original, masked.mask_positions, change)
    return Corrupted(
        token_ids=token_ids,
        labels=tf.cast(token_ids != original, tf.int32),
        resampled=scatter_add(tf.zeros_like(original), masked.mask_positions, first),
    )


def _first_occurrence(positions: tf.Tensor, used: tf.Tensor) -> tf.Tensor:
    """1 where no earlier used slot of the row has the same position; int32 `[B, N]`."""
    same = positions[:, :, tf.newaxis] == positions[:, tf.newaxis, :]
    earlier = tf.linalg.band_part(tf.ones_like(same[0], tf.int32), -1, 0)
    earlier -= tf.eye(positions.shape[1], dtype=tf.int32)
    repeats = tf.cast(same, tf.int32) * earlier * used[:, tf.newaxis, :]
    return tf.cast(tf.reduce_sum(repeats, axis=-1) == 0, tf.int32)
