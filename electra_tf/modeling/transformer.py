"""One layer of the post-LayerNorm transformer."""

import keras
import tensorflow as tf

from electra_tf.modeling.arithmetic import (
    LAYER_NORM_EPSILON,
    dropout,
    gelu,
    layer_norm,
)
from electra_tf.modeling.initializers import dense

# Finite, so that a row without any visible key is uniform instead of NaN, and small
# enough for float16.
MASKED_SCORE = -10_000.0


def attention_bias(padding_mask: tf.Tensor, direction: str = "both") -> tf.Tensor:
    """What is added to the scores: 0 for a visible key, `MASKED_SCORE` for a hidden one.

    Args:
        padding_mask: `[B, T]`, 1 for real tokens. It hides keys only; padded queries are
            computed and ignored later.
        direction: "both", or for the two towers of a cloze model "left_to_right" /
            "right_to_left", where a query sees itself and what is before / after it.

    Returns:
        float32 `[B, 1, 1, T]`, or `[B, 1, T, T]` with a direction.
    """
    visible = tf.cast(padding_mask, tf.float32)[:, tf.newaxis, tf.newaxis, :]
    if direction != "both":
        square = tf.ones([tf.shape(padding_mask)[1]] * 2)
        below, above = (-1, 0) if direction == "left_to_right" else (0, -1)
        visible *= tf.linalg.band_part(square, below, above)
    return (1.0 - visible) * MASKED_SCORE


@keras.saving.register_keras_serializable(package="electra_tf")
class TransformerLayer(keras.layers.Layer):
    """Self-attention and feed-forward block, each followed by add and LayerNorm.

    Works on tokens as rows, `[B·T, H]`: a product with a kernel is then one plain matrix
    product. The three projections of the attention are one product as well; their kernels
    stay variables of their own, as in every published checkpoint.

    Args:
        hidden_dim: int, width `H`.
        num_heads: int, `A`; divides `H`.
        intermediate_dim: int, width of the feed-forward block.
        dropout: float in [0, 1), of both blocks' outputs.
        attention_dropout: float in [0, 1), of the attention probabilities.
        initializer_range: float, standard deviation of the truncated normal.
    """

    def __init__(
        self,
        hidden_dim: int,
        num_heads: int,
        intermediate_dim: int,
        dropout: float = 0.1,
        attention_dropout: float = 0.1,
        initializer_range: float = 0.02,
        **kwargs,
    ):
        super().__init__(autocast=False, **kwargs)
        if hidden_dim % num_heads:
            raise ValueError(
                f"hidden_dim={hidden_dim} is not divisible by num_heads={num_heads}."
            )
        self.hidden_dim = hidden_dim
        self.num_heads = num_heads
        self.intermediate_dim = intermediate_dim
        self.dropout = dropout
        self.attention_dropout = attention_dropout
        self.initializer_range = initializer_range
        policy, spread = self.dtype_policy, initializer_range
        self.query = dense(hidden_dim, "query", policy, spread)
        self.key = dense(hidden_dim, "key", policy, spread)
        self.value = dense(hidden_dim, "value", policy, spread)
        self.attention_output = dense(hidden_dim, "attention_output", policy, spread)
        self.intermediate = dense(intermediate_dim, "intermediate", policy, spread)
        self.feedforward_output = dense(
            hidden_dim, "feedforward_output", policy, spread
        )
        self.attention_layer_norm = self._make_layer_norm("attention_layer_norm")
        self.output_layer_norm = self._make_layer_norm("output_layer_norm")

    def _make_layer_norm(self, name):
        return keras.layers.LayerNormalization(
            epsilon=LAYER_NORM_EPSILON, dtype=self.dtype_policy, name=name
        )

    def build(self, input_shape=None, *_):
        """Creates all weights; they depend on the constructor's arguments alone."""
        hidden = (None, self.hidden_dim)
        for layer in (self.query, self.key, self.value, self.attention_output):
            layer.build(hidden)
        self.intermediate.build(hidden)
        self.feedforward_output.build((None, self.intermediate_dim))
        self.attention_layer_norm.build(hidden)
        self.output_layer_norm.build(hidden)
        self.built = True

    def call(self, x, bias, draws=None):
        """Runs the layer.

        Args:
            x: float `[B·T, H]`.
            bias: float32 `[B, 1, 1 or T, T]` from `attention_bias`.
            draws: `DropoutDraws`, or None at inference.

        Returns:
            float `[B·T, H]`.
        """
        batch, length = tf.shape(bias)[0], bias.shape[-1] or tf.shape(bias)[-1]
        rows = (batch, length, self.hidden_dim)
        probabilities, values = self.attend(x, bias)
        probabilities = dropout(
            probabilities,
            self.attention_dropout,
            draws,
            (batch, self.num_heads, length, length),
        )
        context = tf.matmul(probabilities, values)  # [B, A, T, D]
        context = tf.reshape(tf.transpose(context, [0, 2, 1, 3]), tf.shape(x))
        attended = dropout(
            project(self.attention_output, context), self.dropout, draws, rows
        )
        x = normalize(self.attention_layer_norm, x + attended)
        expanded = gelu(project(self.intermediate, x))
        update = project(self.feedforward_output, expanded)
        update = dropout(update, self.dropout, draws, rows)
        return normalize(self.output_layer_norm, x + update)

    def attend(self, x, bias):
        """Attention probabilities float `[B, A, T, T]` and values float `[B, A, T, D]`."""
        head_dim = self.hidden_dim // self.num_heads
        scale = head_dim**-0.5
        layers = (self.query, self.key, self.value)
        kernels = [tf.cast(layer.kernel, x.dtype) for layer in layers]
        biases = [tf.cast(layer.bias, x.dtype) for layer in layers]
        # Scaling the small kernel is cheaper than scaling [B, A, T, T] scores.
        kernels[0] *= scale
        biases[0] *= scale
        joint = tf.matmul(x, tf.concat(kernels, axis=1)) + tf.concat(biases, axis=0)
        shape = [tf.shape(bias)[0], tf.shape(bias)[-1], 3, self.num_heads, head_dim]
        joint = tf.transpose(tf.reshape(joint, shape), [2, 0, 3, 1, 4])
        queries, keys, values = tf.unstack(joint, num=3)  # [B, A, T, D] each
        scores = tf.matmul(queries, keys, transpose_b=True)
        scores = tf.cast(scores, tf.float32) + bias
        return tf.cast(tf.nn.softmax(scores), x.dtype), values

    def get_config(self):
        """Constructor arguments."""
        return {
            **super().get_config(),
            "hidden_dim": self.hidden_dim,
            "num_heads": self.num_heads,
            "intermediate_dim": self.intermediate_dim,
            "dropout": self.dropout,
            "attention_dropout": self.attention_dropout,
            "initializer_range": self.initializer_range,
        }


def project(layer: keras.layers.Dense, x: tf.Tensor) -> tf.Tensor:
    """`x · kernel + bias` in the dtype of `x`, without the overhead of a layer call."""
    product = tf.matmul(x, tf.cast(layer.kernel, x.dtype))
    return tf.nn.bias_add(product, tf.cast(layer.bias, x.dtype))


def normalize(layer: keras.layers.LayerNormalization, x: tf.Tensor) -> tf.Tensor:
    """LayerNorm with the weights of `layer`."""
    return layer_norm(x, layer.gamma.value, layer.beta.value)
