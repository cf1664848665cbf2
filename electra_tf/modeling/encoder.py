"""Embeddings and a stack of transformer layers: what both towers are made of."""

import dataclasses

import keras
import tensorflow as tf

from electra_tf.modeling.embeddings import ElectraEmbeddings
from electra_tf.modeling.initializers import dense
from electra_tf.modeling.transformer import (
    TransformerLayer,
    attention_bias,
    project,
)
from electra_tf.runtime.random import FIRST_DISCRIMINATOR_DROPOUT, Draws, DropoutDraws


@dataclasses.dataclass(frozen=True, kw_only=True)
class EncoderSize:
    """Everything that determines the shapes and dropout rates of one encoder."""

    vocabulary_size: int
    embedding_dim: int
    hidden_dim: int
    num_layers: int
    num_heads: int
    intermediate_dim: int
    max_sequence_length: int = 512
    num_segments: int = 2
    dropout: float = 0.1
    attention_dropout: float = 0.1
    initializer_range: float = 0.02

    def make_embeddings(self, dtype=None, name="embeddings") -> ElectraEmbeddings:
        """A new, unshared embedding block of this size."""
        return ElectraEmbeddings(
            vocabulary_size=self.vocabulary_size,
            embedding_dim=self.embedding_dim,
            max_sequence_length=self.max_sequence_length,
            num_segments=self.num_segments,
            dropout=self.dropout,
            initializer_range=self.initializer_range,
            dtype=dtype,
            name=name,
        )


class ElectraEncoder(keras.layers.Layer):
    """Embeddings, a projection where the widths differ, transformer layers.

    There is no pooler and no final LayerNorm.

    Args:
        size: `EncoderSize`.
        embeddings: `ElectraEmbeddings` to share, or None for a block of its own.
        direction: "both", "left_to_right" or "right_to_left" (towers of a cloze model).
        seed: int, of the dropout when nobody hands in `draws`.
    """

    def __init__(
        self,
        size: EncoderSize,
        embeddings: ElectraEmbeddings | None = None,
        direction: str = "both",
        seed: int | None = None,
        **kwargs,
    ):
        super().__init__(autocast=False, **kwargs)
        self.size = size
        self.direction = direction
        policy = self.dtype_policy
        self.embeddings = embeddings or size.make_embeddings(policy)
        # Only for `training=True` without `draws`, as in `model.fit`.
        self.seed_generator = keras.random.SeedGenerator(seed)
        self.embeddings_projection = None
        if self.embeddings.embedding_dim != size.hidden_dim:
            self.embeddings_projection = dense(
                size.hidden_dim, "embeddings_projection", policy
            )
        self.transformer_layers = [
            TransformerLayer(
                hidden_dim=size.hidden_dim,
                num_heads=size.num_heads,
                intermediate_dim=size.intermediate_dim,
                dropout=size.dropout,
                attention_dropout=size.attention_dropout,
                initializer_range=size.initializer_range,
                dtype=policy,
                name=f"layer_{index}",
            )
            for index in range(size.num_layers)
        ]

    def build(self, input_shape=None, *_):
        """Creates all weights; shapes come from the size alone."""
        if not self.embeddings.built:
            self.embeddings.build()
        if self.embeddings_projection is not None:
            self.embeddings_projection.build((None, self.embeddings.embedding_dim))
        for layer in self.transformer_layers:
            layer.build()
        self.built = True

    def call(self, token_ids, segment_ids, padding_mask, draws=None, training=False):
        """Encodes a batch.

        Args:
            token_ids: int32 `[B, T]`.
            segment_ids: int32 `[B, T]`.
            padding_mask: int32 `[B, T]`, 1 for real tokens.
            draws: `DropoutDraws` while pre-training, where every number has its place
                in the global batch; None otherwise.
            training: bool; with `draws` None, drop out by numbers of the layer's own.

        Returns:
            float `[B, T, H]` in the compute dtype: the last layer, raw.
        """
        if draws is None and training:
            draws = self._own_draws()
        return self.hidden_states(token_ids, segment_ids, padding_mask, draws)[-1]

    def _own_draws(self):
        seed = tf.cast(tf.convert_to_tensor(self.seed_generator.next()), tf.uint64)
        key = tf.bitwise.bitwise_or(tf.bitwise.left_shift(seed[:1], 32), seed[1:])
        return DropoutDraws(Draws(key), FIRST_DISCRIMINATOR_DROPOUT)

    def compute_output_spec(self, token_ids, segment_ids, padding_mask, **_):
        """Shape of the output; the input's length is checked when it is known."""
        shape = (*token_ids.shape, self.size.hidden_dim)
        return keras.KerasTensor(shape, dtype=self.compute_dtype)

    def hidden_states(self, token_ids, segment_ids, padding_mask, draws=None):
        """Input of the first layer and output of every layer, each `[B, T, H]`."""
        x = self.embeddings(token_ids, segment_ids, draws=draws)
        shape = [tf.shape(token_ids)[0], token_ids.shape[1], self.size.hidden_dim]
        if shape[1] is None:
            shape[1] = tf.shape(token_ids)[1]
        x = tf.reshape(x, [-1, self.embeddings.embedding_dim])
        if self.embeddings_projection is not None:
            x = project(self.embeddings_projection, x)
        bias = attention_bias(padding_mask, self.direction)
        states = [tf.reshape(x, shape)]
        for layer in self.transformer_layers:
            x = layer(x, bias, draws=draws)
            states.append(tf.reshape(x, shape))
        return states
