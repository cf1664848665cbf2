"""The halves that objectives are composed of: generate, corrupt, discriminate."""

import dataclasses
from collections.abc import Mapping

import tensorflow as tf

from electra_tf.modeling.towers import TwoTowerGenerator
from electra_tf.pretraining.losses import LossTerm, binary_cross_entropy, cross_entropy
from electra_tf.pretraining.masking import Masked, candidate_mask, mask_tokens
from electra_tf.pretraining.metrics import detection_metrics, prediction_metrics
from electra_tf.pretraining.objectives.contract import Corruption, Outcome
from electra_tf.pretraining.sampling import Corrupted, corrupt, sample_tokens
from electra_tf.runtime.random import (
    FIRST_DISCRIMINATOR_DROPOUT,
    FIRST_GENERATOR_DROPOUT,
    GENERATOR_SAMPLES,
    Draws,
    DropoutDraws,
)

Batch = Mapping[str, tf.Tensor]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Generated:
    """What the generator says.

    Attributes:
        logits: float32 `[B, N, V]` at the selected positions.
        loss: cross-entropy over the selected positions; of a two-tower generator, which
            predicts every token from all others, over all ordinary positions.
        cloze_logits: float32 `[B, T, V]` of a two-tower generator, else None.
    """

    logits: tf.Tensor
    loss: LossTerm
    cloze_logits: tf.Tensor | None = None


def mask(batch: Batch, draws: Draws, corruption: Corruption) -> Masked:
    """Selects and hides tokens as configured."""
    return mask_tokens(
        batch,
        draws,
        corruption.special,
        rate=corruption.mask_rate,
        replacement=corruption.mask_with_replacement,
    )


def generate(
    generator,
    batch: Batch,
    masked: Masked,
    corruption: Corruption,
    draws: Draws,
    training: bool,
) -> Generated:
    """Runs any kind of generator.

    A two-tower generator reads the text itself, the others read it masked.
    """
    dropout = DropoutDraws(draws, FIRST_GENERATOR_DROPOUT) if training else None
    if isinstance(generator, TwoTowerGenerator):
        cloze = generator(*_inputs(batch, batch["token_ids"]), draws=dropout)
        ordinary = tf.cast(candidate_mask(batch, corruption.special), tf.float32)
        return Generated(
            logits=tf.gather(cloze, masked.mask_positions, batch_dims=1),
            loss=cross_entropy(cloze, batch["token_ids"], ordinary),
            cloze_logits=cloze,
        )
    logits = generator(
        *_inputs(batch, masked.token_ids), masked.mask_positions, draws=dropout
    )
    return Generated(
        logits=logits,
        loss=cross_entropy(logits, masked.mask_ids, masked.mask_weights),
    )


def fill_in(
    batch: Batch,
    masked: Masked,
    logits: tf.Tensor,
    draws: Draws,
    corruption: Corruption,
) -> Corrupted:
    """Samples a token for each selected position and puts it into the text."""
    rows = logits.shape[0] if logits.shape[0] is not None else tf.shape(logits)[0]
    sampled_ids = sample_tokens(
        logits,
        draws.uniform((rows, *logits.shape[1:]), GENERATOR_SAMPLES),
        temperature=corruption.temperature,
        disallowed_ids=masked.mask_ids if corruption.disallow_correct else None,
    )
    return corrupt(batch, masked, sampled_ids)


def discriminate(
    discriminator, batch: Batch, corrupted: Corrupted, draws: Draws, training: bool
) -> tf.Tensor:
    """Logits float32 `[B, T]` of the corrupted text."""
    dropout = DropoutDraws(draws, FIRST_DISCRIMINATOR_DROPOUT) if training else None
    return discriminator(*_inputs(batch, corrupted.token_ids), draws=dropout)


def joint_outcome(
    batch: Batch,
    masked: Masked,
    generated: Generated,
    corrupted: Corrupted,
    logits: tf.Tensor,
    labels: tf.Tensor,
) -> Outcome:
    """Both losses and their measures.

    Args:
        batch: the text.
        masked: what was selected in it.
        generated: what the generator says.
        corrupted: what the discriminator read.
        logits: float32 `[B, T]`, what the discriminator says.
        labels: int32 `[B, T]`, what is right.
    """
    real = batch["padding_mask"]
    return Outcome(
        losses={
            "generator": generated.loss,
            "discriminator": binary_cross_entropy(logits, labels, real),
        },
        metrics={
            **prediction_metrics(generated.logits, masked),
            **detection_metrics(logits, labels, real),
        },
        masked=masked,
        generator_logits=generated.logits,
        corrupted=corrupted,
        discriminator_logits=logits,
        labels=labels,
    )


def _inputs(batch: Batch, token_ids: tf.Tensor) -> tuple[tf.Tensor, ...]:
    return token_ids, batch["segment_ids"], batch["padding_mask"]
