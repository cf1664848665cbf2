"""Losses as sums and counts, divided only when all replicas have spoken."""

import dataclasses

import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class LossTerm:
    """A mean that is not taken yet.

    Attributes:
        total: float32 scalar, Σ weight · loss over this replica's rows.
        count: float32 scalar, Σ weight over this replica's rows.
    """

    total: tf.Tensor
    count: tf.Tensor


def all_reduce_sum(values):
    """Sum over all replicas of a tensor or a structure of tensors."""
    replica = tf.distribute.get_replica_context()
    if replica is None or replica.num_replicas_in_sync == 1:
        return values
    return replica.all_reduce(tf.distribute.ReduceOp.SUM, values)


def global_mean(term: LossTerm) -> tf.Tensor:
    """This replica's share of the mean over the *global* batch.

    The shares of all replicas add up to the mean, and so do their gradients. A batch
    without any weight has the mean 0.
    """
    return tf.math.divide_no_nan(term.total, all_reduce_sum(term.count))


def cross_entropy(
    logits: tf.Tensor, target_ids: tf.Tensor, weights: tf.Tensor
) -> LossTerm:
    """Negative log-likelihood of the targets.

    Args:
        logits: float32 `[…, V]`.
        target_ids: int32 `[…]`.
        weights: float32 `[…]`.
    """
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=target_ids, logits=logits
    )
    return LossTerm(tf.reduce_sum(losses * weights), tf.reduce_sum(weights))


def binary_cross_entropy(
    logits: tf.Tensor, labels: tf.Tensor, weights: tf.Tensor
) -> LossTerm:
    """Binary cross-entropy with logits.

    Args:
        logits: float32 `[B, T]`.
        labels: int32 `[B, T]`, 0 or 1.
        weights: int32 or float32 `[B, T]`.
    """
    weights = tf.cast(weights, tf.float32)
    losses = tf.nn.sigmoid_cross_entropy_with_logits(
        labels=tf.cast(labels, tf.float32), logits=logits
    )
    return LossTerm(tf.reduce_sum(losses * weights), tf.reduce_sum(weights))
