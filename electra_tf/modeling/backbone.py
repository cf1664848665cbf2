"""The encoder as a KerasHub backbone: a functional model with presets."""

import keras
import keras_hub

from electra_tf.modeling.encoder import ElectraEncoder, EncoderSize


def token_inputs() -> dict[str, keras.KerasTensor]:
    """Symbolic inputs of every model here, each int32 `[B, T]`."""
    names = ("token_ids", "segment_ids", "padding_mask")
    return {name: keras.Input((None,), dtype="int32", name=name) for name in names}


@keras.saving.register_keras_serializable(package="electra_tf")
class ElectraBackbone(keras_hub.models.Backbone):
    """ELECTRA's transformer encoder, without any head.

    Inputs are `token_ids`, `segment_ids` and `padding_mask`, int32 `[B, T]`; the output
    is the last layer's state of every token, `[B, T, hidden_dim]`, raw: no pooler. The
    official arithmetic: erf-gelu, LayerNorm epsilon 1e-12, post-LayerNorm layers.

    Args:
        vocabulary_size: int.
        num_layers: int.
        num_heads: int, divides `hidden_dim`.
        hidden_dim: int.
        intermediate_dim: int, width of the feed-forward blocks.
        embedding_dim: int or None, width of the embeddings; None is `hidden_dim`.
        dropout: float in [0, 1).
        attention_dropout: float in [0, 1).
        max_sequence_length: int, rows of the position table.
        num_segments: int.
        initializer_range: float.
        seed: int or None, of the dropout in `fit`.
        dtype: dtype policy.

    Raises:
        ValueError: `hidden_dim` is not divisible by `num_heads`; when called: more
            tokens than positions.

    Example:
        >>> backbone = ElectraBackbone(
        ...     vocabulary_size=100, num_layers=2, num_heads=2, hidden_dim=8,
        ...     intermediate_dim=16,
        ... )
        >>> ids = np.ones((1, 4), "int32")
        >>> backbone(
        ...     {"token_ids": ids, "segment_ids": 0 * ids, "padding_mask": ids}
        ... ).shape
        TensorShape([1, 4, 8])
    """

    def __init__(
        self,
        *,
        vocabulary_size: int,
        num_layers: int,
        num_heads: int,
        hidden_dim: int,
        intermediate_dim: int,
        embedding_dim: int | None = None,
        dropout: float = 0.1,
        attention_dropout: float = 0.1,
        max_sequence_length: int = 512,
        num_segments: int = 2,
        initializer_range: float = 0.02,
        seed: int | None = None,
        dtype=None,
        **kwargs,
    ):
        size = EncoderSize(
            vocabulary_size=vocabulary_size,
            embedding_dim=embedding_dim or hidden_dim,
            hidden_dim=hidden_dim,
            num_layers=num_layers,
            num_heads=num_heads,
            intermediate_dim=intermediate_dim,
            max_sequence_length=max_sequence_length,
            num_segments=num_segments,
            dropout=dropout,
            attention_dropout=attention_dropout,
            initializer_range=initializer_range,
        )
        encoder = ElectraEncoder(size, seed=seed, dtype=dtype, name="encoder")
        encoder.build()
        inputs = token_inputs()
        super().__init__(
            inputs=inputs, outputs=encoder(**inputs), dtype=dtype, **kwargs
        )
        self.encoder = encoder
        self.size = size
        self.seed = seed

    @classmethod
    def from_size(cls, size: EncoderSize, **kwargs) -> "ElectraBackbone":
        """A backbone of the given `EncoderSize`."""
        return cls(**vars(size), **kwargs)

    def get_config(self):
        """Constructor arguments."""
        return {**super().get_config(), **vars(self.size), "seed": self.seed}
