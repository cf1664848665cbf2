"""The models of the paper's Tables 1 and 2, and what they cost to train (appendix E)."""

import dataclasses

from electra_tf.analysis.flops import (
    TransformerShape,
    configured_shapes,
    electra_training,
    train_example_flops,
)
from electra_tf.config import PretrainConfig


@dataclasses.dataclass(frozen=True, kw_only=True)
class KnownModel:
    """What a model costs.

    Attributes:
        train_flops: float, operations of its pre-training.
        inference_flops: float or None, operations of one sequence at inference.
        parameters: int or None, of the encoder that is kept, where we can build it.
    """

    train_flops: float
    inference_flops: float | None = None
    parameters: int | None = None


_SMALL = TransformerShape(hidden_dim=256, num_layers=12, embedding_dim=128, length=128)
_BASE = TransformerShape(hidden_dim=768, num_layers=12)
_LARGE = TransformerShape(hidden_dim=1024, num_layers=24)
_SMALL_GENERATOR = dataclasses.replace(_SMALL, hidden_dim=64)
_BASE_GENERATOR = dataclasses.replace(_BASE, hidden_dim=256, embedding_dim=768)
_LARGE_GENERATOR = dataclasses.replace(_LARGE, hidden_dim=256, embedding_dim=1024)
_GPT = dataclasses.replace(_BASE, vocabulary_size=40_000, output_share=1.0)
_ROBERTA = dataclasses.replace(_LARGE, vocabulary_size=50_265)
_ALBERT = TransformerShape(
    hidden_dim=4096, num_layers=12, vocabulary_size=30_000, embedding_dim=128
)
_T5_ENCODER = TransformerShape(
    hidden_dim=1024,
    num_layers=24,
    vocabulary_size=32_000,
    intermediate_dim=65_536,
    num_heads=128,
    head_dim=128,
    output_share=0.0,
)
_T5_DECODER = dataclasses.replace(_T5_ENCODER, output_share=1.0, is_decoder=True)
# Not transformers of this kind; counted by the authors from their graphs: operations of
# one forward pass, over the examples it had.
_ELMO_FORWARD, _ELMO_TOKENS = 568_093_262_680, 20 * 128
_XLNET_FORWARD, _XLNET_EXAMPLES = 15_064_773_691_518, 32
_WORDS_OF_LM1B, _ELMO_EPOCHS = 768_648_884, 10


def known_models() -> dict[str, KnownModel]:
    """Name → cost, from the smallest to the largest."""
    models = {
        "electra_small": _electra(_SMALL, _SMALL_GENERATOR, 128 * 1e6),
        "bert_small": _masked_lm(_SMALL, 128 * 1.45e6),
        "elmo": KnownModel(
            train_flops=2 * _ELMO_EPOCHS * _WORDS_OF_LM1B * _ELMO_FORWARD / _ELMO_TOKENS
        ),
        "gpt": _masked_lm(_GPT, 128 * 960_800),
        "electra_base": _electra(_BASE, _BASE_GENERATOR, 256 * 766_000),
        "bert_base": _masked_lm(_BASE, 256 * 1e6),
        "bert_large": _masked_lm(_LARGE, 256 * 1e6),
        "electra_large_400k": _electra(_LARGE, _LARGE_GENERATOR, 2048 * 400_000),
        "electra_large_1750k": _electra(_LARGE, _LARGE_GENERATOR, 2048 * 1_750_000),
        "roberta": _masked_lm(_ROBERTA, 8000 * 500_000),
        "xlnet": KnownModel(
            train_flops=2 * 500_000 * 8192 * _XLNET_FORWARD / _XLNET_EXAMPLES
        ),
        "albert": _masked_lm(_ALBERT, 4096 * 1.5e6),
        "t5_11b": KnownModel(
            train_flops=2048
            * 1e6
            * (_T5_ENCODER.train_example() + _T5_DECODER.train_example())
        ),
    }
    return dict(sorted(models.items(), key=lambda item: item[1].train_flops))


def configured_model(config: PretrainConfig) -> KnownModel:
    """What a configuration costs."""
    training = config.training
    discriminator, generator = configured_shapes(config)
    kept = discriminator or generator
    return KnownModel(
        train_flops=train_example_flops(config)
        * training.batch_size
        * training.num_train_steps,
        inference_flops=kept.inference(),
        parameters=kept.parameters(
            config.model.max_sequence_length, config.model.num_segments
        ),
    )


def _masked_lm(shape: TransformerShape, num_examples: float) -> KnownModel:
    return KnownModel(
        train_flops=num_examples * shape.train_example(),
        inference_flops=shape.inference(),
        parameters=shape.parameters() if shape.vocabulary_size == 30_522 else None,
    )


def _electra(discriminator, generator, num_examples) -> KnownModel:
    return KnownModel(
        train_flops=electra_training(
            discriminator, generator, num_examples=num_examples
        ),
        inference_flops=discriminator.inference(),
        parameters=discriminator.parameters(),
    )
