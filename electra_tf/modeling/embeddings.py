"""Word, position and segment embeddings."""

import keras
import tensorflow as tf

from electra_tf.modeling.arithmetic import LAYER_NORM_EPSILON, dropout, layer_norm
from electra_tf.modeling.initializers import embedding_initializer


@keras.saving.register_keras_serializable(package="electra_tf")
class ElectraEmbeddings(keras.layers.Layer):
    """Sum of word, position and segment vectors, then LayerNorm, then dropout.

    This block, LayerNorm included, is what generator and discriminator share when the
    embeddings are tied. A projection to another width belongs to each encoder.

    Args:
        vocabulary_size: int, rows of the word table.
        embedding_dim: int, width `E`.
        max_sequence_length: int, rows of the position table.
        num_segments: int, rows of the segment table.
        dropout: float in [0, 1).
        initializer_range: float, standard deviation of the truncated normal.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_dim: int,
        max_sequence_length: int = 512,
        num_segments: int = 2,
        dropout: float = 0.1,
        initializer_range: float = 0.02,
        **kwargs,
    ):
        super().__init__(autocast=False, **kwargs)
        self.vocabulary_size = vocabulary_size
        self.embedding_dim = embedding_dim
        self.max_sequence_length = max_sequence_length
        self.num_segments = num_segments
        self.dropout = dropout
        self.initializer_range = initializer_range
        self.layer_norm = keras.layers.LayerNormalization(
            epsilon=LAYER_NORM_EPSILON, dtype=self.dtype_policy, name="layer_norm"
        )

    def build(self, input_shape=None):
        """Creates the three tables; the input's shape does not matter."""
        tables = {
            "word_embeddings": self.vocabulary_size,
            "position_embeddings": self.max_sequence_length,
            "segment_embeddings": self.num_segments,
        }
        for name, rows in tables.items():
            table = self.add_weight(
                name=name,
                shape=(rows, self.embedding_dim),
                initializer=embedding_initializer(self.initializer_range),
            )
            setattr(self, name, table)
        self.layer_norm.build((None, self.embedding_dim))
        self.built = True

    def call(self, token_ids, segment_ids, draws=None):
        """Embeds a batch.

        Args:
            token_ids: int32 `[B, T]`.
            segment_ids: int32 `[B, T]`.
            draws: `DropoutDraws`, or None at inference.

        Returns:
            float `[B, T, E]` in the compute dtype.

        Raises:
            ValueError: `T` exceeds the position table (`tf.errors.InvalidArgumentError`
                where it is known only when the graph runs).
        """
        token_ids = self._check_length(token_ids)
        segments = tf.one_hot(segment_ids, self.num_segments, dtype=tf.float32)
        positions = tf.convert_to_tensor(self.position_embeddings)
        total = tf.gather(tf.convert_to_tensor(self.word_embeddings), token_ids)
        total += positions[: tf.shape(token_ids)[1]]
        total += tf.einsum("bts,se->bte", segments, self.segment_embeddings.value)
        norm = self.layer_norm
        output = layer_norm(total, norm.gamma.value, norm.beta.value)
        output = tf.cast(output, self.compute_dtype)
        rows, length = tf.unstack(tf.shape(token_ids))
        shape = (rows, token_ids.shape[1] or length, self.embedding_dim)
        return dropout(output, self.dropout, draws, shape)

    def _check_length(self, token_ids):
        length, limit = token_ids.shape[1], self.max_sequence_length
        advice = "shorten the input or build the model with more positions."
        if length is None:
            fits = tf.debugging.assert_less_equal(
                tf.shape(token_ids)[1],
                limit,
                f"The sequence is longer than the position table of {limit} rows "
                f"(max_sequence_length); {advice}",
            )
            # Nothing else may fail first. (Eagerly there is nothing to wait for.)
            with tf.control_dependencies([fits] if fits is not None else []):
                return tf.identity(token_ids)
        if length > limit:
            raise ValueError(
                f"The sequence has {length} tokens, the position table {limit} rows "
                f"(max_sequence_length); {advice}"
            )
        return token_ids

    def get_config(self):
        """Constructor arguments."""
        return {
            **super().get_config(),
            "vocabulary_size": self.vocabulary_size,
            "embedding_dim": self.embedding_dim,
            "max_sequence_length": self.max_sequence_length,
            "num_segments": self.num_segments,
            "dropout": self.dropout,
            "initializer_range": self.initializer_range,
        }
