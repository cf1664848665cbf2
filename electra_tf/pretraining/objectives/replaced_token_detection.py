"""ELECTRA: a small generator fills in masked tokens, the discriminator finds them."""

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
        towers.generator, batch, masked, corruption, draws, training
    )
    corrupted = parts.fill_in(batch, masked, generated.logits, draws, corruption)
    replaced = parts.discriminate(
        towers.discriminator, batch, corrupted, draws, training
    )
    return parts.joint_outcome(
        batch, masked, generated, corrupted, replaced, corrupted.labels
    )
