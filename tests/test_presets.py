"""Sizes of the presets, to the unit (electra-facts; Table 6 of the paper)."""

import json

import pytest

from electra_tf.config import load_config
from electra_tf.pretraining.pretrainer import (
    build_towers,
    discriminator_size,
    generator_size,
)

VOCABULARY = 30_522


def _count(tower):
    return sum(int(v.shape.num_elements()) for v in _tensors(tower))


def _tensors(tower):
    return [v.value for v in tower.trainable_variables]


def _joint(name, *overrides):
    towers = build_towers(load_config(name, overrides, vocabulary_size=VOCABULARY))
    variables = {
        id(v): v
        for v in (
            *towers.discriminator.trainable_variables,
            *towers.generator.trainable_variables,
        )
    }
    joint = sum(int(v.value.shape.num_elements()) for v in variables.values())
    return joint, _count(towers.discriminator), _count(towers.generator)


@pytest.mark.parametrize(
    ("name", "overrides", "expected"),
    [
        ("small", (), (14_196_219, 13_549_057, 4_620_026)),
        ("small_plus_plus", (), (23_122_875, 13_549_057, 13_546_682)),
        ("small", ("generator.tying=none",), (16_170_107, 13_549_057, None)),
        ("small", ("generator.tying=all",), (13_612_731, 13_549_057, None)),
        ("small", ("generator.kind=two_tower",), (14_812_475, 13_549_057, None)),
    ],
)
def test_parameters_of_small_are_the_published_ones(name, overrides, expected):
    joint, discriminator, generator = _joint(name, *overrides)
    assert (joint, discriminator) == expected[:2]
    if expected[2]:
        assert generator == expected[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("base", (119_386_427, 109_483_009, 33_740_602)),
        ("base_code_defaults", (115_149_307, 109_483_009, 29_503_482)),
        ("large", (354_655_291, 335_142_913, 51_295_290)),
    ],
)
def test_parameters_of_larger_models_are_the_published_ones(name, expected):
    assert _joint(name) == expected


@pytest.mark.parametrize("name", ["small", "base", "large"])
def test_sizes_agree_with_the_official_variables(name, golden):
    official = json.loads((golden / "model" / "variables.json").read_text())[name]
    config = load_config(name, vocabulary_size=VOCABULARY)
    size, generator = discriminator_size(config), generator_size(config)
    shapes = official["variables"]
    query = "encoder/layer_0/attention/self/query/kernel"
    inner = "encoder/layer_0/intermediate/dense/kernel"
    assert shapes[f"electra/{query}"] == [size.hidden_dim] * 2
    assert shapes[f"electra/{inner}"] == [size.hidden_dim, size.intermediate_dim]
    assert shapes[f"generator/{query}"] == [generator.hidden_dim] * 2
    layers = {k for k in shapes if k.startswith("electra/") and k.endswith(query[15:])}
    assert len(layers) == size.num_layers
