"""Compute as the paper counts it (appendix E): Tables 1 and 2 rest on these numbers.

Operations of one token or one sequence, multiplications and additions counted singly:
products, and also biases, activations, softmax, LayerNorm and dropout. Looking up an
embedding counts as the product with a one-hot vector, the backward pass as much as the
forward pass. (`step_flops` counts the matrix products of our own step instead.)
"""

import dataclasses

from electra_tf.config import PretrainConfig

_DROPOUT, _LAYER_NORM, _ACTIVATION, _SOFTMAX = 4, 5, 8, 5
# Share of the positions that a masked language model predicts: 20 of 128, 80 of 512.
MASKED_SHARE = 0.15625


@dataclasses.dataclass(frozen=True, kw_only=True)
class TransformerShape:
    """The shape of one transformer, as far as it decides the count.

    Attributes:
        hidden_dim: int.
        num_layers: int.
        length: int, tokens of a sequence.
        vocabulary_size: int.
        embedding_dim: int or None, which is `hidden_dim`.
        intermediate_dim: int or None, which is four times `hidden_dim`.
        num_heads: int or None, which is one for every 64 units.
        head_dim: int or None, which is `hidden_dim` divided by the heads.
        output_share: float, of the positions whose token is predicted.
        sparse_lookup: bool, count an embedding as a look-up instead of a product.
        is_decoder: bool, attention twice: to itself and to an encoder.
    """

    hidden_dim: int
    num_layers: int
    length: int = 512
    vocabulary_size: int = 30_522
    embedding_dim: int | None = None
    intermediate_dim: int | None = None
    num_heads: int | None = None
    head_dim: int | None = None
    output_share: float = MASKED_SHARE
    sparse_lookup: bool = False
    is_decoder: bool = False

    @property
    def _embedding_dim(self) -> int:
        return self.embedding_dim or self.hidden_dim

    def parameters(self, max_sequence_length: int = 512, num_segments: int = 2) -> int:
        """Variables of the encoder: what is kept after pre-training."""
        width, hidden = self._embedding_dim, self.hidden_dim
        intermediate = self.intermediate_dim or 4 * hidden
        rows = self.vocabulary_size + max_sequence_length + num_segments
        projection = width * hidden + hidden if width != hidden else 0
        attention = 4 * (hidden * hidden + hidden)
        feed_forward = 2 * hidden * intermediate + intermediate + hidden
        layer = attention + feed_forward + 4 * hidden  # and two LayerNorms
        return (rows + 2) * width + projection + self.num_layers * layer

    def layer(self) -> int:
        """Operations of one layer on one sequence."""
        hidden, length = self.hidden_dim, self.length
        heads = self.num_heads or max(hidden // 64, 1)
        inner = heads * self.head_dim if self.head_dim else hidden
        intermediate = self.intermediate_dim or 4 * hidden
        attention = (
            3 * (2 * hidden * inner + inner)  # queries, keys, values
            + 2 * inner * length  # scores
            + (_SOFTMAX + _DROPOUT + 1) * length * heads
            + 2 * hidden * length  # weighted values
            + 2 * hidden * hidden
            + (1 + _DROPOUT + 1) * hidden
            + _LAYER_NORM  # once, not for every unit: so the original counts it
        )
        feed_forward = (
            2 * (2 * hidden * intermediate)
            + (_ACTIVATION + 1) * intermediate
            + (1 + _DROPOUT + 1 + _LAYER_NORM) * hidden
        )
        return length * ((1 + self.is_decoder) * attention + feed_forward)

    def input_embeddings(self) -> int:
        """Operations of the embeddings of one sequence."""
        width, hidden = self._embedding_dim, self.hidden_dim
        count = 2 * width * (self.length + 2) + (2 + _LAYER_NORM + _DROPOUT) * width
        if not self.sparse_lookup:
            count += 2 * width * self.vocabulary_size
        if width != hidden:
            count += 2 * hidden * width + hidden
        return self.length * count

    def language_model_head(self) -> float:
        """Operations of predicting `output_share` of one sequence's tokens."""
        width, hidden = self._embedding_dim, self.hidden_dim
        count = (
            2 * hidden * width
            + (1 + _ACTIVATION + _LAYER_NORM) * width
            + (2 * width + _SOFTMAX + 2) * self.vocabulary_size
        )
        return self.output_share * self.length * count

    def detection_head(self) -> int:
        """Operations of judging every token of one sequence."""
        hidden = self.hidden_dim
        return self.length * (2 * hidden * hidden + (1 + _ACTIVATION + 2) * hidden)

    def encoder(self) -> int:
        """Operations of encoding one sequence."""
        return self.num_layers * self.layer() + self.input_embeddings()

    def inference(self) -> int:
        """Operations of encoding one sequence and judging every token of it."""
        return self.encoder() + self.detection_head()

    def train_example(self, *, is_discriminator: bool = False) -> float:
        """Operations of training on one sequence, forward and backward."""
        head = self.detection_head() if is_discriminator else self.language_model_head()
        return 2 * (self.encoder() + head)


def electra_training(
    discriminator: TransformerShape,
    generator: TransformerShape,
    *,
    num_examples: float,
) -> float:
    """Operations of training both towers on so many sequences."""
    one = discriminator.train_example(is_discriminator=True) + generator.train_example()
    return num_examples * one


def configured_shapes(
    config: PretrainConfig,
) -> tuple[TransformerShape | None, TransformerShape | None]:
    """Discriminator and generator of a configuration, None where there is none."""
    model = config.model
    common = {
        "length": config.data.max_length,
        "vocabulary_size": model.vocabulary_size or config.data.learned_vocabulary_size,
    }
    full = TransformerShape(
        hidden_dim=model.hidden_dim,
        num_layers=model.num_layers,
        embedding_dim=model.embedding_dim,
        intermediate_dim=model.intermediate_dim,
        num_heads=model.num_heads,
        **common,
    )
    if config.objective.name == "masked_lm":
        return None, full
    if config.generator.kind == "uniform":
        return full, None
    if config.generator.tying == "all":
        return full, full
    width = config.generator_hidden_dim
    is_tied = config.generator.tying == "embeddings"
    generator = TransformerShape(
        hidden_dim=width,
        num_layers=config.generator_num_layers,
        embedding_dim=model.embedding_dim if is_tied else width,
        num_heads=config.generator_num_heads,
        **common,
    )
    return full, generator


def train_example_flops(config: PretrainConfig) -> float:
    """Operations of training on one sequence as configured.

    A generator of two towers counts twice.
    """
    discriminator, generator = configured_shapes(config)
    total = 0.0
    if discriminator is not None:
        total += discriminator.train_example(is_discriminator=True)
    if generator is not None:
        towers = 2 if config.generator.kind == "two_tower" else 1
        total += towers * generator.train_example()
    return total
