"""BERT's objective with ELECTRA's masking: the baseline of every comparison."""

from electra_tf.pretraining.metrics import prediction_metrics
from electra_tf.pretraining.objectives import parts
from electra_tf.pretraining.objectives.contract import Outcome


def masked_lm(towers, batch, draws, corruption, training) -> Outcome:
    """One full-size masked language model, no discriminator, no sentence task.

    Args and batch as in `replaced_token_detection`; `towers.generator` is the model.

    Returns:
        `Outcome` with the loss "generator".
    """
    masked = parts.mask(batch, draws, corruption)
    generated = parts.generate(
        towers.generator, batch, masked, corruption, draws, training
    )
    return Outcome(
        losses={"generator": generated.loss},
        metrics=prediction_metrics(generated.logits, masked),
        masked=masked,
        generator_logits=generated.logits,
    )
