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


class ClassificationHead(keras.layers.Layer):
    """Logits of classes, of a sequence's first token or of every token.

    Args:
        input_dim: int, width of the states it reads.
        num_classes: int, `C`.
        has_hidden_layer: bool, a gelu layer in between, as Hugging Face's classifier of
            sequences has; the original's has none.
        dropout: float in [0, 1), before each layer.
        initializer_range: float, standard deviation of the truncated normal.
    """

    def __init__(
        self,
        input_dim: int,
        num_classes: int,
        has_hidden_layer: bool = False,
        dropout: float = 0.1,
        initializer_range: float = 0.02,
        **kwargs,
    ):
        super().__init__(autocast=False, **kwargs)
        self.input_dim = input_dim
        policy = self.dtype_policy
        self.dropout = keras.layers.Dropout(dropout, name="dropout", dtype=policy)
        self.dense = None
        if has_hidden_layer:
            self.dense = dense(input_dim, "dense", policy, initializer_range)
        self.output_dense = dense(num_classes, "output", policy, initializer_range)

    def build(self, input_shape=None):
        """Creates the weights; shapes come from the constructor."""
        for layer in (self.dense, self.output_dense):
            if layer is not None:
                layer.build((None, self.input_dim))
        self.built = True

    def call(self, states, training=False):
        """Logits float32 `[…, C]` of states `[…, input_dim]`."""
        hidden = self.dropout(states, training=training)
        if self.dense is not None:
            hidden = self.dropout(gelu(self.dense(hidden)), training=training)
        return tf.cast(self.output_dense(hidden), tf.float32)

    def compute_output_spec(self, states, training=False):
        """Shape of the output."""
        del training
        shape = (*states.shape[:-1], self.output_dense.units)
        return keras.KerasTensor(shape, dtype="float32")


class AnswerHead(keras.layers.Layer):
    """Where an answer starts and ends, each scored by itself.

    Args:
        input_dim: int, width of the states it reads.
        has_answerability: bool, score the first token as well: is there no answer?
        initializer_range: float, standard deviation of the truncated normal.
    """

    def __init__(
        self,
        input_dim: int,
        has_answerability: bool = False,
        initializer_range: float = 0.02,
        **kwargs,
    ):
        super().__init__(autocast=False, **kwargs)
        self.input_dim = input_dim
        self.start, self.end, self.answerable = (
            dense(1, name, self.dtype_policy, initializer_range)
            for name in ("start", "end", "answerable")
        )
        if not has_answerability:
            self.answerable = None

    def build(self, input_shape=None):
        """Creates the weights; shapes come from the constructor."""
        for layer in (self.start, self.end, self.answerable):
            if layer is not None:
                layer.build((None, self.input_dim))
        self.built = True

    def call(self, states):
        """Dict of float32 logits of states `[B, T, input_dim]`."""
        logits = {
            "start_logits": self.start(states)[..., 0],
            "end_logits": self.end(states)[..., 0],
        }
        if self.answerable is not None:
            logits["answerable_logits"] = self.answerable(states[:, 0])[..., 0]
        return {name: tf.cast(value, tf.float32) for name, value in logits.items()}

    def compute_output_spec(self, states):
        """Shapes of the output."""
        shapes = {"start_logits": states.shape[:2], "end_logits": states.shape[:2]}
        if self.answerable is not None:
            shapes["answerable_logits"] = states.shape[:1]
        return {
            name: keras.KerasTensor(shape, dtype="float32")
            for name, shape in shapes.items()
        }
