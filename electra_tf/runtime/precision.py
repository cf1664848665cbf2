"""Number formats of a run."""

from electra_tf.errors import ConfigError

# Variables, losses, softmax and sampling stay float32 under each of them.
_POLICIES = {
    "float32": "float32",
    "bfloat16": "mixed_bfloat16",
    "float16": "mixed_float16",
}
PRECISIONS = tuple(_POLICIES)


def dtype_policy(precision: str) -> str:
    """Name of Keras' dtype policy for `--precision`.

    Raises:
        ConfigError: unknown precision.
    """
    if precision not in _POLICIES:
        raise ConfigError(
            f"--precision={precision}: should be one of {', '.join(PRECISIONS)}"
        )
    return _POLICIES[precision]
