"""What a step reports beside its losses, as sums and counts like them."""

import tensorflow as tf

from electra_tf.pretraining.losses import LossTerm
from electra_tf.pretraining.masking import Masked


def prediction_metrics(logits: tf.Tensor, masked: Masked) -> dict[str, LossTerm]:
    """Share of selected tokens that the generator ranks first.

    Args:
        logits: float32 `[B, N, V]`.
        masked: the selection.
    """
    best = tf.argmax(logits, axis=-1, output_type=tf.int32)
    right = tf.cast(best == masked.mask_ids, tf.float32)
    return {"generator_accuracy": _weighted(right, masked.mask_weights)}


def detection_metrics(
    logits: tf.Tensor, labels: tf.Tensor, padding_mask: tf.Tensor
) -> dict[str, LossTerm]:
    """How well replaced tokens are found among real tokens; padding does not count.

    Args:
        logits: float32 `[B, T]`.
        labels: int32 `[B, T]`.
        padding_mask: int32 `[B, T]`.

    Returns:
        `discriminator_accuracy`, `discriminator_precision`, `discriminator_recall`, and
        `replaced_share`: one minus it is the accuracy of calling everything original.
    """
    real = tf.cast(padding_mask, tf.float32)
    replaced = tf.cast(labels, tf.float32)
    predicted = tf.cast(logits > 0.0, tf.float32)
    right = tf.cast(tf.equal(predicted, replaced), tf.float32)
    return {
        "discriminator_accuracy": _weighted(right, real),
        "discriminator_precision": _weighted(right, real * predicted),
        "discriminator_recall": _weighted(right, real * replaced),
        "replaced_share": _weighted(replaced, real),
    }


def _weighted(values: tf.Tensor, weights: tf.Tensor) -> LossTerm:
    return LossTerm(tf.reduce_sum(values * weights), tf.reduce_sum(weights))
