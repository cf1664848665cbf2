import numpy as np
import tensorflow as tf

from electra_tf.pretraining.losses import (
    LossTerm,
    binary_cross_entropy,
    cross_entropy,
    global_mean,
)


def test_cross_entropy_sums_over_weighted_targets():
    logits = tf.math.log([[[0.5, 0.5], [0.9, 0.1]]])
    term = cross_entropy(logits, tf.constant([[0, 1]]), tf.constant([[1.0, 0.0]]))
    np.testing.assert_allclose(term.total, np.log(2), rtol=1e-6)
    assert float(term.count) == 1.0


def test_binary_cross_entropy_counts_real_tokens_only():
    logits = tf.constant([[0.0, 2.0, 50.0]])
    term = binary_cross_entropy(
        logits, tf.constant([[1, 0, 0]]), tf.constant([[1, 1, 0]])
    )
    np.testing.assert_allclose(term.total, np.log(2) + np.log(1 + np.exp(2)), rtol=1e-6)
    assert float(term.count) == 2.0


def test_the_mean_of_nothing_is_zero():
    assert float(global_mean(LossTerm(tf.constant(0.0), tf.constant(0.0)))) == 0.0
