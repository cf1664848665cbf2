"""KerasHub's encoder: names, heads in an axis of their own, and its pooler."""

import keras_hub
import numpy as np
import pytest

from electra_tf.checkpoints.keras_hub_presets import (
    is_keras_hub,
    read_keras_hub,
    write_keras_hub,
)
from tests.checkpoints.conftest import run
from tests.official import arrays


@pytest.mark.parametrize("variant", ["joint", "joint_no_projection"])
def test_its_encoder_loads_what_is_written(official, tmp_path, variant):
    checkpoint = official(variant)
    model = checkpoint.models["discriminator"]
    entries = write_keras_hub(model, checkpoint.tokenizer, tmp_path)
    assert is_keras_hub(tmp_path)
    backbone = keras_hub.models.ElectraBackbone.from_preset(str(tmp_path))
    values = arrays(variant)
    states = backbone(
        {
            "token_ids": values["fake/input_ids"],
            "segment_ids": values["segment_ids"],
            "padding_mask": values["input_mask"],
        }
    )["sequence_output"]
    left_out = {entry.source for entry in entries if entry.action == "skipped"}
    assert left_out == {name for name in model.tensors if name.startswith("head/")}
    assert not backbone.get_layer("pooled_dense").kernel.numpy().any()

    models, entries, tokenizer = read_keras_hub(tmp_path)
    assert tokenizer == checkpoint.tokenizer
    copy = models["discriminator"]
    assert copy.architecture == "encoder"
    for name, tensor in copy.tensors.items():
        assert tensor.read().tobytes() == model.tensors[name].read().tobytes(), name
    skipped = [entry.source for entry in entries if entry.action == "skipped"]
    assert skipped == ["pooled_dense/kernel", "pooled_dense/bias"]
    ours = run(
        copy, values["fake/input_ids"], values["segment_ids"], values["input_mask"]
    )
    real = values["input_mask"] > 0
    difference = np.abs(np.asarray(states) - ours)[real].max()
    # It takes gelu by tanh.
    assert 1e-5 < difference < 5e-3
