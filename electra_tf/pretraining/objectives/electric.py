"""Electric: the discriminator as an energy-based cloze model (noise contrast)."""

import math

import tensorflow as tf

from electra_tf.pretraining.objectives import parts
from electra_tf.pretraining.objectives.contract import Outcome


def electric(towers, batch, draws, corruption, training) -> Outcome:
    """Tells noise from data given how likely the noise was.

    The classifier's logit is `head + log q(token | context) + log(m / (1 - m))`, with `q`
    the two-tower generator's distribution and `m` the mask rate; then `head` is an
    unnormalised log-probability (its negative an energy). Every resampled position is
    noise, also where the sample equals the original.

    Args and batch as in `replaced_token_detection`; the generator has two towers.

    Returns:
        `Outcome` with the losses "generator" (cloze, over all ordinary tokens) and
        "discriminator" (over real tokens).
    """
    masked = parts.mask(batch, draws, corruption)
    generated = parts.generate(
        towers.generator, batch, masked, corruption, draws, training
    )
    corrupted = parts.fill_in(batch, masked, generated.logits, draws, corruption)
    energies = parts.discriminate(
        towers.discriminator, batch, corrupted, draws, training
    )
    logits = noise_logits(
        energies, generated.cloze_logits, corrupted.token_ids, corruption.mask_rate
    )
    return parts.joint_outcome(
        batch, masked, generated, corrupted, logits, corrupted.resampled
    )


def noise_logits(
    head_logits: tf.Tensor,
    cloze_logits: tf.Tensor,
    token_ids: tf.Tensor,
    mask_rate: float,
) -> tf.Tensor:
    """Log-odds of being noise.

    Args:
        head_logits: float32 `[B, T]`, output of the discriminator's head.
        cloze_logits: float32 `[B, T, V]`; no gradient passes.
        token_ids: int32 `[B, T]`, the corrupted text.
        mask_rate: float, share of positions that were resampled.

    Returns:
        float32 `[B, T]`.
    """
    log_q = -tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=token_ids, logits=tf.stop_gradient(cloze_logits)
    )
    return head_logits + log_q + math.log(mask_rate / (1.0 - mask_rate))
