"""Layer-wise learning rates for fine-tuning: lower layers move less."""

import re

_LAYER = re.compile(r"(?:^|/)layer_(\d+)/")
_EMBEDDINGS = re.compile(r"(?:^|/)embeddings")


def layerwise_multiplier(
    path: str, *, decay: float, num_layers: int, official_depth: bool = True
) -> float:
    """Factor on the learning rate of one variable.

    Args:
        path: the variable's path, in our names or the official ones.
        decay: float in (0, 1], 0.8 for Small and Base, 0.9 for Large (paper Table 7).
        num_layers: int, transformer layers of the encoder.
        official_depth: count the layers as the official code does, which leaves one
            number unused between the last layer and the head (a pooler stood there): the
            last layer gets `decay²`. The published results were made so. False gives the
            last layer `decay`.

    Returns:
        1.0 for the task head, `decay^k` for what lies k steps below it.
    """
    top = num_layers + (2 if official_depth else 1)
    layer = _LAYER.search(path)
    if layer:
        return decay ** (top - int(layer.group(1)) - 1)
    if _EMBEDDINGS.search(path):
        return decay**top
    return 1.0
