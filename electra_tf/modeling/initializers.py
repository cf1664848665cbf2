"""Initial values as in the original.

Tables and inner kernels: truncated normal, cut at two standard deviations and not
rescaled. The embedding projection and every output layer: Glorot uniform, TF1's default
for a dense layer that names none.
"""

import keras


def embedding_initializer(initializer_range: float) -> keras.initializers.Initializer:
    """Truncated normal of standard deviation `initializer_range` before the cut."""
    return keras.initializers.TruncatedNormal(stddev=initializer_range)


def dense(units: int, name: str, dtype, initializer_range: float | None = None):
    """A dense layer whose weights our layers use directly.

    Args:
        units: int, output width.
        name: string.
        dtype: dtype policy of the layer that owns it.
        initializer_range: float for a truncated normal kernel, None for Glorot uniform.

    Returns:
        An unbuilt `keras.layers.Dense`: its kernel and bias have Keras' usual names, and
        adapters such as LoRA know how to extend it.
    """
    initializer = (
        "glorot_uniform"
        if initializer_range is None
        else embedding_initializer(initializer_range)
    )
    return keras.layers.Dense(
        units, kernel_initializer=initializer, name=name, dtype=dtype
    )
