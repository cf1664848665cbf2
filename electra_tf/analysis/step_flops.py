"""Floating-point operations of the matrix products of a training step.

What a step has to compute, whatever the implementation: multiplications and additions
of the products alone, a forward pass and twice as much backward. (Appendix E of the
paper counts more: softmax, dropout and the like.)
"""

from electra_tf.config import PretrainConfig
from electra_tf.modeling.encoder import EncoderSize
from electra_tf.pretraining.masking import max_masked
from electra_tf.pretraining.pretrainer import discriminator_size, generator_size

# One pass forward, and two products of the same size backward.
_PASSES = 3


def joint_step_flops(config: PretrainConfig) -> int:
    """Operations of one joint update over the global batch.

    Args:
        config: `PretrainConfig` of replaced token detection with a masked language
            model as its generator, `model.vocabulary_size` set.
    """
    rows, length = config.training.batch_size, config.data.max_length
    discriminator, generator = discriminator_size(config), generator_size(config)
    masked = max_masked(config.objective.mask_rate, length)
    width, embedding = generator.hidden_dim, generator.embedding_dim
    language_model = 2 * masked * embedding * (width + generator.vocabulary_size)
    head = 2 * length * discriminator.hidden_dim * (discriminator.hidden_dim + 1)
    forward = (
        encoder_flops(generator, length)
        + encoder_flops(discriminator, length)
        + language_model
        + head
    )
    return _PASSES * rows * forward


def encoder_flops(size: EncoderSize, length: int) -> int:
    """Operations of one sequence of `length` tokens through an encoder, forward."""
    width = size.hidden_dim
    projections = 4 * width * width + 2 * width * size.intermediate_dim
    attention = 2 * length * width
    embeddings = 0
    if size.embedding_dim != width:
        embeddings = size.embedding_dim * width
    products = size.num_layers * (projections + attention) + embeddings
    return 2 * length * products
