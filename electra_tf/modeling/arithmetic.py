"""The element-wise pieces of the encoder, with gradients written by hand.

A graph is traced, optimised and run node by node on a CPU; the automatic gradients of
these functions have two to three times as many nodes, each a pass over the activations.
"""

import tensorflow as tf

# As in the original (contrib layer normalisation); Keras' default of 1e-3 is another model.
LAYER_NORM_EPSILON = 1e-12
_INVERSE_SQRT_2 = 0.7071067811865476
_INVERSE_SQRT_2_PI = 0.3989422804014327


@tf.custom_gradient
def gelu(x: tf.Tensor):
    """Exact gelu, `x · Φ(x)` with the error function (not the tanh approximation)."""
    cdf = 0.5 + 0.5 * tf.math.erf(x * _INVERSE_SQRT_2)

    def gradient(upstream):
        density = _INVERSE_SQRT_2_PI * tf.exp(-0.5 * tf.square(x))
        return upstream * (cdf + x * density)

    return x * cdf, gradient


@tf.custom_gradient
def _layer_norm(x: tf.Tensor, gamma: tf.Tensor, beta: tf.Tensor):
    centered = x - tf.reduce_mean(x, axis=-1, keepdims=True)
    variance = tf.reduce_mean(tf.square(centered), axis=-1, keepdims=True)
    inverse = tf.math.rsqrt(variance + LAYER_NORM_EPSILON)
    normalized = centered * inverse

    def gradient(upstream):
        rows = list(range(upstream.shape.rank - 1))
        product = upstream * normalized
        scaled = upstream * gamma
        slope = tf.reduce_mean(scaled * normalized, axis=-1, keepdims=True)
        level = tf.reduce_mean(scaled, axis=-1, keepdims=True)
        return (
            inverse * (scaled - level - normalized * slope),
            tf.reduce_sum(product, axis=rows),
            tf.reduce_sum(upstream, axis=rows),
        )

    return normalized * gamma + beta, gradient


def layer_norm(x: tf.Tensor, gamma: tf.Tensor, beta: tf.Tensor) -> tf.Tensor:
    """Layer normalisation over the last axis, in float32, in the dtype of `x`.

    Args:
        x: float `[…, H]`.
        gamma: float `[H]`.
        beta: float `[H]`.
    """
    # float32: with 8 significant bits the variance of a long row is noise.
    wide = [tf.cast(value, tf.float32) for value in (x, gamma, beta)]
    return tf.cast(_layer_norm(*wide), x.dtype)


def dropout(x: tf.Tensor, rate: float, draws, shape: tuple) -> tf.Tensor:
    """Inverted dropout.

    Args:
        x: float tensor of any shape.
        rate: float in [0, 1), share of values set to zero.
        draws: `runtime.random.DropoutDraws`, or None to leave `x` as it is.
        shape: `(rows, …)`, the shape of `x` seen with the batch as its first axis: the
            numbers belong to a row of the global batch, wherever that row is computed.
    """
    if draws is None or rate == 0.0:
        return x
    keep = tf.reshape(draws.uniform(shape), tf.shape(x)) >= rate
    return x * (tf.cast(keep, x.dtype) * (1.0 / (1.0 - rate)))
