"""Output layers of the two towers."""

import keras
import tensorflow as tf

from electra_tf.modeling.arithmetic import LAYER_NORM_EPSILON, gelu
from electra_tf.modeling.initializers import dense
from electra_tf.modeling.transformer import normalize, project


class MaskedLanguageModelHead(keras.layers.Layer):
    """Scores every token of the vocabulary with the transposed word table.

    Args:
        input_dim: int, width of the states it reads.
        embedding_dim: int, width `E` of the word table.
        vocabulary_size: int, `V`.
        initializer_range: float, standard deviation of the truncated normal.
    """

    def __init__(
        self,
        input_dim: int,
        embedding_dim: int,
        vocabulary_size: int,
        initializer_range: float = 0.02,
        **kwargs,
    ):
        super().__init__(autocast=False, **kwargs)
        self.input_dim = input_dim
        self.embedding_dim = embedding_dim
        self.vocabulary_size = vocabulary_size
        policy = self.dtype_policy
        self.dense = dense(embedding_dim, "dense", policy, initializer_range)
        self.layer_norm = keras.layers.LayerNormalization(
            epsilon=LAYER_NORM_EPSILON, dtype=policy, name="layer_norm"
        )

    def build(self, input_shape=None, *_):
        """Creates the weights; shapes come from the constructor."""
        self.dense.build((None, self.input_dim))
        self.layer_norm.build((None, self.embedding_dim))
        self.output_bias = self.add_weight(
            name="output_bias", shape=(self.vocabulary_size,), initializer="zeros"
        )
        self.built = True

    def call(self, states, word_embeddings):
        """Logits of the states.

        Args:
            states: float `[R, input_dim]`, only the rows that are to be predicted: the
                product with the word table is the largest of a small model.
            word_embeddings: `[V, E]`, the table of the tower's embeddings.

        Returns:
            float32 `[R, V]`.
        """
        hidden = normalize(self.layer_norm, gelu(project(self.dense, states)))
        table = tf.cast(word_embeddings, hidden.dtype)
        logits = tf.matmul(hidden, table, transpose_b=True)
        # float32 from here on: rounded logits tie, and argmax then prefers low ids.
        return tf.cast(logits, tf.float32) + self.output_bias.value


class ReplacedTokenHead(keras.layers.Layer):
    """One logit a token: positive where the token looks replaced.

    Args:
        hidden_dim: int, width of the states it reads.
        initializer_range: float, standard deviation of the hidden kernel.
    """

    def __init__(self, hidden_dim: int, initializer_range: float = 0.02, **kwargs):
        super().__init__(autocast=False, **kwargs)
        self.hidden_dim = hidden_dim
        self.dense = dense(hidden_dim, "dense", self.dtype_policy, initializer_range)
        self.prediction = dense(1, "prediction", self.dtype_policy)

    def build(self, input_shape=None):
        """Creates the weights; shapes come from the constructor."""
        self.dense.build((None, self.hidden_dim))
        self.prediction.build((None, self.hidden_dim))
        self.built = True

    def call(self, states):
        """Logits float32 `[B, T]` of states `[B, T, H]`."""
        rows = tf.reshape(states, [-1, self.hidden_dim])
        logits = project(self.prediction, gelu(project(self.dense, rows)))
        return tf.cast(tf.reshape(logits, tf.shape(states)[:2]), tf.float32)

    def compute_output_spec(self, states):
        """Shape of the output."""
        return keras.KerasTensor(states.shape[:2], dtype="float32")
