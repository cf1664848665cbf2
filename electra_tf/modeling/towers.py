"""Generator and discriminator as they stand during pre-training, and their tying."""

import dataclasses
from typing import Literal

import keras
import tensorflow as tf

from electra_tf.modeling.encoder import ElectraEncoder, EncoderSize
from electra_tf.modeling.heads import MaskedLanguageModelHead, ReplacedTokenHead

Tying = Literal["none", "embeddings", "all"]
GeneratorKind = Literal["masked_lm", "two_tower", "uniform"]


def gather_positions(states: tf.Tensor, positions: tf.Tensor) -> tf.Tensor:
    """Rows of `[B, T, H]` at `positions` int32 `[B, N]`, as `[B·N, H]`."""
    length, width = states.shape[1], states.shape[2]
    if length is None:
        length = tf.shape(states)[1]
    first = tf.range(tf.shape(states)[0])[:, tf.newaxis] * length
    return tf.gather(
        tf.reshape(states, [-1, width]), tf.reshape(positions + first, [-1])
    )


class Discriminator(keras.layers.Layer):
    """Decides for every token whether it was replaced (paper §2).

    Args:
        size: `EncoderSize`.
        embeddings: `ElectraEmbeddings` to share, or None.
    """

    def __init__(self, size: EncoderSize, embeddings=None, **kwargs):
        kwargs.setdefault("name", "discriminator")
        super().__init__(autocast=False, **kwargs)
        policy = self.dtype_policy
        self.encoder = ElectraEncoder(size, embeddings, dtype=policy, name="encoder")
        self.head = ReplacedTokenHead(
            size.hidden_dim, size.initializer_range, dtype=policy, name="head"
        )

    def build(self, input_shape=None, *_):
        """Creates all weights."""
        self.encoder.build()
        self.head.build()
        self.built = True

    def call(self, token_ids, segment_ids, padding_mask, draws=None):
        """Logits float32 `[B, T]`; arguments as in `ElectraEncoder`."""
        return self.head(
            self.encoder(token_ids, segment_ids, padding_mask, draws=draws)
        )


class Generator(keras.layers.Layer):
    """Masked language model that is evaluated at the masked positions only.

    Args:
        size: `EncoderSize`.
        embeddings: `ElectraEmbeddings` to share, or None.
        encoder: `ElectraEncoder` to share entirely (tying "all"), or None.
    """

    def __init__(self, size: EncoderSize, embeddings=None, encoder=None, **kwargs):
        kwargs.setdefault("name", "generator")
        super().__init__(autocast=False, **kwargs)
        policy = self.dtype_policy
        self.encoder = encoder or ElectraEncoder(
            size, embeddings, dtype=policy, name="encoder"
        )
        self.head = MaskedLanguageModelHead(
            size.hidden_dim,
            self.encoder.embeddings.embedding_dim,
            size.vocabulary_size,
            size.initializer_range,
            dtype=policy,
            name="head",
        )

    def build(self, input_shape=None, *_):
        """Creates all weights that are not shared and built already."""
        if not self.encoder.built:
            self.encoder.build()
        self.head.build()
        self.built = True

    def call(self, token_ids, segment_ids, padding_mask, positions, draws=None):
        """Predicts the tokens at some positions.

        Args:
            token_ids: int32 `[B, T]`, with `[MASK]` in place of what is to be predicted.
            segment_ids: int32 `[B, T]`.
            padding_mask: int32 `[B, T]`.
            positions: int32 `[B, N]`.
            draws: `DropoutDraws` while training, None at inference.

        Returns:
            float32 `[B, N, V]` logits.
        """
        states = self.encoder(token_ids, segment_ids, padding_mask, draws=draws)
        table = self.encoder.embeddings.word_embeddings.value
        logits = self.head(gather_positions(states, positions), table)
        shape = [tf.shape(positions)[0], positions.shape[1], logits.shape[-1]]
        return tf.reshape(logits, shape)


class TwoTowerGenerator(keras.layers.Layer):
    """Cloze model of two causal towers over the unmasked text (Electric).

    The state of position t joins what the left-to-right tower knows up to t-1 and what
    the right-to-left tower knows from t+1 on.

    Args:
        size: `EncoderSize` of each tower.
        embeddings: `ElectraEmbeddings` to share, or None for one block a tower; the
            output then uses the left-to-right tower's table.
    """

    def __init__(self, size: EncoderSize, embeddings=None, **kwargs):
        kwargs.setdefault("name", "generator")
        super().__init__(autocast=False, **kwargs)
        policy = self.dtype_policy
        self.left_to_right, self.right_to_left = (
            ElectraEncoder(size, embeddings, direction, dtype=policy, name=direction)
            for direction in ("left_to_right", "right_to_left")
        )
        self.head = MaskedLanguageModelHead(
            2 * size.hidden_dim,
            self.left_to_right.embeddings.embedding_dim,
            size.vocabulary_size,
            size.initializer_range,
            dtype=policy,
            name="head",
        )

    def build(self, input_shape=None, *_):
        """Creates all weights."""
        self.left_to_right.build()
        self.right_to_left.build()
        self.head.build()
        self.built = True

    def call(self, token_ids, segment_ids, padding_mask, draws=None):
        """Logits float32 `[B, T, V]` of every position given all others.

        The first and the last position see round the corner; they hold `[CLS]` and
        `[SEP]` or padding, which no loss counts.
        """
        inputs = (token_ids, segment_ids, padding_mask)
        before = self.left_to_right(*inputs, draws=draws)
        after = self.right_to_left(*inputs, draws=draws)
        states = tf.concat(
            [tf.roll(before, shift=1, axis=1), tf.roll(after, shift=-1, axis=1)],
            axis=-1,
        )
        rows = tf.reshape(states, [-1, states.shape[-1]])
        logits = self.head(rows, self.left_to_right.embeddings.word_embeddings.value)
        return tf.reshape(logits, [*tf.unstack(tf.shape(token_ids)), logits.shape[-1]])


class UniformGenerator(keras.layers.Layer):
    """Knows nothing: every token is equally likely. Has no weights."""

    def __init__(self, vocabulary_size: int, **kwargs):
        kwargs.setdefault("name", "generator")
        super().__init__(autocast=False, **kwargs)
        self.vocabulary_size = vocabulary_size

    def build(self, input_shape=None, *_):
        """There is nothing to create."""
        self.built = True

    def call(self, token_ids, segment_ids, padding_mask, positions, draws=None):
        """Logits of zeros, float32 `[B, N, V]`."""
        del token_ids, segment_ids, padding_mask, draws
        return tf.zeros([*tf.unstack(tf.shape(positions)), self.vocabulary_size])


@dataclasses.dataclass(frozen=True)
class Towers:
    """The networks of one pre-training run.

    Attributes:
        generator: `Generator`, `TwoTowerGenerator` or `UniformGenerator`.
        discriminator: `Discriminator`, or None where the objective has none.
    """

    generator: keras.layers.Layer
    discriminator: Discriminator | None

    def build(self) -> None:
        """Creates all weights now, so that optimizers and checkpoints can see them."""
        for tower in (self.discriminator, self.generator):
            if tower is not None and not tower.built:
                tower.build()


def make_towers(
    discriminator: EncoderSize,
    generator: EncoderSize,
    *,
    tying: Tying = "embeddings",
    kind: GeneratorKind = "masked_lm",
    dtype=None,
) -> Towers:
    """Builds both towers and ties them.

    Args:
        discriminator: size of the encoder that is kept.
        generator: size of the generator. With tied embeddings its embedding block is the
            discriminator's whatever `embedding_dim` says here; with everything tied all
            of its size is.
        tying: "none", "embeddings" (the whole block, LayerNorm included), or "all" (one
            network with two heads; paper §3.2).
        kind: "masked_lm", "two_tower" (Electric) or "uniform".
        dtype: dtype policy of all layers.

    Raises:
        ValueError: "all" with a generator that is no single masked language model.
    """
    if tying == "all" and kind != "masked_lm":
        raise ValueError(f"tying='all' needs kind='masked_lm', not {kind!r}.")
    tower = Discriminator(discriminator, dtype=dtype)
    shared = tower.encoder.embeddings if tying == "embeddings" else None
    if kind == "uniform":
        made = UniformGenerator(discriminator.vocabulary_size)
    elif kind == "two_tower":
        made = TwoTowerGenerator(generator, shared, dtype=dtype)
    elif tying == "all":
        made = Generator(discriminator, encoder=tower.encoder, dtype=dtype)
    else:
        made = Generator(generator, shared, dtype=dtype)
    towers = Towers(generator=made, discriminator=tower)
    towers.build()
    return towers
