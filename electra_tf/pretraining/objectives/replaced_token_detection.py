"""ELECTRA: a small generator fills in masked tokens, the discriminator finds them."""

from electra_tf.pretraining.losses import binary_cross_entropy
from electra_tf.pretraining.metrics import detection_metrics, prediction_metrics
from electra_tf.pretraining.objectives import parts
from electra_tf.pretraining.objectives.contract import Outcome


def replaced_token_detection(towers, batch, draws, corruption, training) -> Outcome:
    """Generator by maximum likelihood, discriminator on every real token (paper §2).

    Nothing flows from the discriminator's loss through the samples to the generator.

    Args:
        towers: `Towers`.
        batch: `token_ids`, `segment_ids`, `padding_mask`, int32 `[B, T]`.
        draws: `Draws` of the step.
        corruption: `Corruption`.
        training: bool, drop out.

    Returns:
        `Outcome` with the losses "generator" (over selected tokens) and "discriminator"
        (over real tokens, `[CLS]` and `[SEP]` included).
    """
    masked = parts.mask(batch, draws, corruption)
    generated = parts.generate(
        towers.generator,
        batch,
        masked,
        corruption,
        parts.generator_dropout(draws, training),
    )
    corrupted = parts.fill_in(batch, masked, generated.logits, draws, corruption)
    replaced = parts.discriminate(
        towers.discriminator,
        batch,
        corrupted,
        parts.discriminator_dropout(draws, training),
    )
    return Outcome(
        losses={
            "generator": generated.loss,
            "discriminator": binary_cross_entropy(
                replaced, corrupted.labels, batch["padding_mask"]
            ),
        },
        metrics={
            **prediction_metrics(generated.logits, masked),
            **detection_metrics(replaced, corrupted.labels, batch["padding_mask"]),
        },
        masked=masked,
        generator_logits=generated.logits,
        corrupted=corrupted,
        discriminator_logits=replaced,
    )
