"""Official checkpoints, and what they compute."""

import numpy as np
import pytest

from electra_tf.checkpoints.assembly import Hints
from electra_tf.checkpoints.presets import network_of
from electra_tf.checkpoints.reading import read_checkpoint

HINTS = {"discriminator": Hints(num_heads=4), "generator": Hints()}


@pytest.fixture
def official(golden):
    """Reads a variant of the official implementation."""

    def official(variant, **options):
        path = golden / "checkpoints" / variant
        vocab = golden / "model" / "vocab.txt"
        return read_checkpoint(path, **{"hints": HINTS, "vocab": vocab, **options})

    return official


@pytest.fixture
def vocabulary_of(tmp_path):
    """Writes a vocabulary of so many tokens; returns its path."""

    def vocabulary_of(size):
        path = tmp_path / f"vocab-{size}.txt"
        tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        tokens += [f"t{number}" for number in range(size - len(tokens))]
        path.write_text("\n".join(tokens) + "\n")
        return path

    return vocabulary_of


def run(model, token_ids, segment_ids, padding_mask, mask_positions=None):
    """What a model computes: logits, or hidden states without a head."""
    inputs = {
        "token_ids": token_ids,
        "segment_ids": segment_ids,
        "padding_mask": padding_mask,
    }
    if model.architecture == "masked_lm":
        if mask_positions is None:
            rows, length = token_ids.shape
            mask_positions = np.tile(np.arange(length, dtype="int32"), (rows, 1))
        inputs["mask_positions"] = mask_positions
    output = network_of(model)(inputs)
    if isinstance(output, dict):
        return {name: value.numpy() for name, value in output.items()}
    return output.numpy()


def assert_equal_bits(one, other):
    """Both checkpoints have the same towers with the same tensors."""
    assert one.models.keys() == other.models.keys()
    for tower, model in one.models.items():
        copy = other.models[tower]
        assert copy.size == model.size
        assert list(copy.tensors) == list(model.tensors)
        for name, tensor in model.tensors.items():
            assert copy.tensors[name].read().tobytes() == tensor.read().tobytes(), name
