"""Checkpoints of our own runs, also before they are finished."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from electra_tf.checkpoints.presets import model_of
from electra_tf.checkpoints.reading import read_checkpoint
from electra_tf.modeling.masked_lm import ElectraMaskedLM
from electra_tf.modeling.presets import ElectraTokenizer
from electra_tf.modeling.replaced_token_detector import ElectraReplacedTokenDetector
from electra_tf.optimization.factory import make_optimizer
from electra_tf.pretraining.pretrainer import ElectraPretrainer
from electra_tf.training.artifacts import save_towers
from electra_tf.training.checkpoints import Checkpoints
from tests.micro import SPECIAL, VOCABULARY, batch_of, micro_config

CLASSES = {
    "discriminator": ElectraReplacedTokenDetector,
    "generator": ElectraMaskedLM,
}


@pytest.mark.parametrize(
    ("sections", "towers"),
    [
        ({"generator": {"tying": "embeddings"}}, {"discriminator", "generator"}),
        ({"generator": {"tying": "none"}}, {"discriminator", "generator"}),
        ({"generator": {"tying": "all"}}, {"discriminator", "generator"}),
        ({"model": {"embedding_dim": 4}}, {"discriminator", "generator"}),
        ({"generator": {"kind": "two_tower"}}, {"discriminator"}),
        ({"generator": {"kind": "uniform"}}, {"discriminator"}),
        ({"objective": {"name": "masked_lm"}}, {"generator"}),
    ],
)
def test_towers_are_those_of_the_presets(tmp_path, sections, towers):
    config = micro_config(**sections)
    pretrainer = ElectraPretrainer(config, SPECIAL)
    pretrainer.compile(make_optimizer(config.training))
    pretrainer.train_step({k: tf.constant(v) for k, v in batch_of([16, 9]).items()})
    Checkpoints(tmp_path / "checkpoints", pretrainer, keep=2).save(1)
    (tmp_path / "config.yaml").write_text(config.to_yaml())
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    save_towers(pretrainer, ElectraTokenizer(VOCABULARY), tmp_path / "presets")

    for path in (tmp_path, tmp_path / "checkpoints", tmp_path / "checkpoints/step-1"):
        checkpoint = read_checkpoint(path)
        assert checkpoint.format == "run"
        assert set(checkpoint.models) == towers
    assert checkpoint.tokenizer.tokens == tuple(VOCABULARY)
    for tower, model in checkpoint.models.items():
        preset = tmp_path / "presets" / tower
        expected = model_of(CLASSES[tower].from_preset(str(preset)))
        assert dataclasses.replace(expected.size) == model.size
        assert expected.tensors.keys() == model.tensors.keys()
        for name, tensor in expected.tensors.items():
            np.testing.assert_array_equal(
                model.tensors[name].read(), tensor.read(), name
            )
