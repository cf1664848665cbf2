"""Every number of the official counting, to 1e-12 of it."""

import json

import pytest

from electra_tf.analysis.flops import (
    TransformerShape,
    configured_shapes,
    electra_training,
    train_example_flops,
)
from electra_tf.config import load_config, preset_names
from electra_tf.modeling.backbone import ElectraBackbone
from tests.conftest import GOLDEN

FLOPS = json.loads((GOLDEN / "flops.json").read_text())
EXACT = 1e-12
NAMES = {
    "h": "hidden_dim",
    "l": "num_layers",
    "s": "length",
    "v": "vocabulary_size",
    "e": "embedding_dim",
    "i": "intermediate_dim",
    "heads": "num_heads",
    "head_size": "head_dim",
    "output_frac": "output_share",
    "sparse_embed_lookup": "sparse_lookup",
    "decoder": "is_decoder",
}


@pytest.mark.parametrize("name", FLOPS["transformers"])
def test_parts_of_a_transformer(name):
    expected = FLOPS["transformers"][name]
    arguments = expected["arguments"]
    shape = TransformerShape(**{NAMES[key]: value for key, value in arguments.items()})
    actual = {
        "block": shape.layer(),
        "input_embedding": shape.input_embeddings(),
        "output_softmax": shape.language_model_head(),
        "binary_head": shape.detection_head(),
        "inference": shape.inference(),
        "train_one_example_masked_lm": shape.train_example(),
        "train_one_example_discriminator": shape.train_example(is_discriminator=True),
    }
    for key, value in actual.items():
        assert value == pytest.approx(expected[key], rel=EXACT), key


@pytest.mark.parametrize("case", FLOPS["electra_training"])
def test_training_of_both_towers(case):
    arguments = case["arguments"]
    common = {
        NAMES[key]: arguments[key] for key in ("s", "output_frac") if key in arguments
    }
    width = arguments.get("e", arguments["h_d"])
    discriminator = TransformerShape(
        hidden_dim=arguments["h_d"],
        num_layers=arguments["l_d"],
        embedding_dim=width,
        **common,
    )
    generator = TransformerShape(
        hidden_dim=arguments["h_g"],
        num_layers=arguments["l_g"],
        embedding_dim=width if arguments["tied_embeddings"] else None,
        **common,
    )
    actual = electra_training(
        discriminator,
        generator,
        num_examples=arguments["batch_size"] * arguments["train_steps"],
    )
    assert actual == pytest.approx(case["flops"], rel=EXACT)


@pytest.mark.parametrize(
    ("preset", "official"),
    [
        ("small", "electra_small"),
        ("base", "electra_base"),
        ("large_400k", "electra_400k"),
        ("large_1750k", "electra_1.75M"),
    ],
)
def test_our_presets_cost_what_the_paper_says(preset, official):
    config = load_config(preset)
    training = config.training
    total = train_example_flops(config) * training.batch_size * training.num_train_steps
    expected = FLOPS["named_model_training_flops"][official]
    assert total == pytest.approx(expected, rel=EXACT)


@pytest.mark.parametrize("embedding_dim", [8, 16])
def test_parameters_are_those_of_the_model(embedding_dim):
    size = {"hidden_dim": 16, "num_layers": 2, "embedding_dim": embedding_dim}
    backbone = ElectraBackbone(
        vocabulary_size=50, num_heads=2, intermediate_dim=40, **size
    )
    shape = TransformerShape(vocabulary_size=50, intermediate_dim=40, **size)
    weights = backbone.trainable_variables
    assert shape.parameters() == sum(int(v.value.shape.num_elements()) for v in weights)


def test_every_configuration_can_be_counted():
    for name in preset_names():
        assert train_example_flops(load_config(name)) > 0
    small = load_config("small")
    for overrides, share in (
        (["objective.name=masked_lm"], (None, True)),
        (["generator.kind=uniform"], (True, None)),
        (["generator.tying=all"], (True, True)),
    ):
        shapes = configured_shapes(load_config("small", overrides))
        assert tuple(shape and True for shape in shapes) == share
    two = load_config("small", ["generator.kind=two_tower"])
    assert train_example_flops(two) > train_example_flops(small)
