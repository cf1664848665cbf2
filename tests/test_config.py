import pathlib

import pytest
import yaml

from electra_tf.config import load_config, preset_names
from electra_tf.errors import ConfigError


def _refusal(*overrides, source="tiny", **kwargs):
    with pytest.raises(ConfigError) as caught:
        load_config(source, overrides, **kwargs)
    message = str(caught.value)
    assert "\n" not in message
    return message


def _file(tmp_path, change):
    text = load_config("tiny").to_yaml()
    path = tmp_path / "mine.yaml"
    path.write_text(change(text), encoding="utf-8")
    return str(path)


def test_every_preset_loads_and_is_complete():
    assert {
        "tiny",
        "small",
        "base",
        "large",
        "small_plus_plus",
        "base_plus_plus",
    } <= set(preset_names())
    assert {"large_400k", "large_1750k"} <= set(preset_names())
    for name in preset_names():
        load_config(name)


def test_a_saved_configuration_loads_as_the_same(tmp_path):
    config = load_config("base", ["training.learning_rate=5e-5"])
    path = tmp_path / "config.yaml"
    path.write_text(config.to_yaml())
    assert load_config(str(path)) == config


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # length, batch, steps, rate, mask rate, generator width (paper Table 6)
        ("small", (128, 128, 1_000_000, 5e-4, 0.15, 64)),
        ("base", (512, 256, 766_000, 2e-4, 0.15, 256)),
        ("large", (512, 2048, 400_000, 2e-4, 0.25, 256)),
        ("large_400k", (512, 2048, 400_000, 2e-4, 0.25, 256)),
        ("large_1750k", (512, 2048, 1_750_000, 2e-4, 0.25, 256)),
        ("small_plus_plus", (512, 128, 4_000_000, 5e-4, 0.15, 256)),
        ("base_plus_plus", (512, 256, 4_000_000, 2e-4, 0.15, 256)),
        ("base_code_defaults", (128, 128, 1_000_000, 5e-4, 0.15, 192)),
    ],
)
def test_presets_have_the_published_values(name, expected):
    config = load_config(name)
    training = config.training
    assert expected == (
        config.data.max_length,
        training.batch_size,
        training.num_train_steps,
        training.learning_rate,
        config.objective.mask_rate,
        config.generator_hidden_dim,
    )
    assert training.num_warmup_steps == 10_000
    assert training.weight_decay == 0.01


def test_scientific_notation_needs_no_point():
    assert load_config(
        "tiny", ["training.learning_rate=2e-4"]
    ).training.learning_rate == (2e-4)


def test_unknown_setting_is_refused_with_the_nearest_name():
    message = _refusal("training.lerning_rate=1e-4")
    assert "lerning_rate" in message
    assert "did you mean 'learning_rate'" in message


def test_unknown_setting_in_a_file_is_refused_with_its_line(tmp_path):
    path = _file(tmp_path, lambda t: t.replace("  learning_rate:", "  lerning_rate:"))
    lines = pathlib.Path(path).read_text().splitlines()
    line = next(i for i, text in enumerate(lines, 1) if "lerning_rate" in text)
    message = _refusal(source=path)
    assert f"mine.yaml, line {line}" in message
    assert "'learning_rate'" in message


def test_malformed_override_is_refused_with_the_expected_form():
    message = _refusal("training.learning_rate")
    assert "section.key=value" in message


def test_quoted_boolean_is_refused(tmp_path):
    path = _file(tmp_path, lambda t: t.replace("lowercase: true", "lowercase: 'true'"))
    message = _refusal(source=path)
    assert "data.lowercase='true'" in message
    assert "line" in message


def test_foreign_name_is_refused_but_its_value_is_checked_too():
    message = _refusal("model.hidden_size=250", "model.num_heads=4")
    assert "did you mean 'hidden_dim'" in message
    assert "hidden_dim=250" in message
    assert "num_heads=4" in message


def test_table_that_does_not_fit_the_vocabulary_is_refused():
    message = _refusal("model.vocab_size=2000", vocabulary_size=1000)
    assert "2000" in message
    assert "1000" in message
    assert load_config("tiny", vocabulary_size=1000).model.vocabulary_size == 1000


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        (["model.hidden_dim=250"], ["hidden_dim=250", "num_heads=4"]),
        (["data.max_length=513"], ["max_length=513", "max_sequence_length=128"]),
        (
            ["training.num_warmup_steps=10", "training.num_train_steps=10"],
            ["num_warmup_steps=10", "num_train_steps=10"],
        ),
        (["generator.hidden_dim_fraction=0.001"], ["hidden_dim_fraction=0.001"]),
        (["generator.num_layers_fraction=0.1"], ["num_layers_fraction=0.1"]),
        (["objective.mask_rate=0"], ["mask_rate=0"]),
        (["objective.mask_rate=1.0"], ["mask_rate=1.0"]),
        (["objective.name=electric"], ["two_tower"]),
        (["generator.tying=all", "generator.kind=uniform"], ["tying=all"]),
        (["training.batch_size=2.5"], ["batch_size=2.5", "integer"]),
        (["training.batch_size='8'"], ["batch_size='8'", "integer"]),
        (["model=3"], ["model=3"]),
        (["seed=-1"], ["seed=-1"]),
        (["seed=2020-13-45"], ["cannot be read"]),
        (["training.learning_rate=.inf"], ["finite"]),
    ],
)
def test_impossible_values_are_refused(overrides, named):
    message = _refusal(*overrides)
    for text in named:
        assert text in message


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("", "sections"),
        ("- a\n- b\n", "sections"),
        ("model: {a: 1\n", "line"),
        ("model: {}\nmodel: {}\n", "already given in line 1"),
        ("model: !foo 3\n", "line 1: is not YAML"),
        ("{? [a]: 1}\n", "is not YAML"),
        ("seed: 2020-13-45\n", "cannot be read"),
        ("model: &a {b: *a}\n", "cannot be read"),
    ],
)
def test_malformed_files_are_refused(tmp_path, content, named):
    path = tmp_path / "bad.yaml"
    path.write_text(content)
    assert named in _refusal(source=str(path))


def test_binary_file_is_refused(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_bytes(b"\xff\xfe\x00model")
    assert "UTF-8" in _refusal(source=str(path))


def test_missing_section_is_named(tmp_path):
    values = yaml.safe_load(load_config("tiny").to_yaml())
    del values["training"]
    path = tmp_path / "part.yaml"
    path.write_text(yaml.safe_dump(values))
    assert "'training' is missing" in _refusal(source=str(path))


def test_unknown_preset_lists_all():
    message = _refusal(source="smal")
    assert "did you mean 'small'" in message
    assert "large_1750k" in message


def test_official_compatibility_masks_with_replacement():
    assert load_config("small", ["compat=official"]).objective.mask_with_replacement
    assert not load_config("small").objective.mask_with_replacement


def test_a_resolved_configuration_means_what_it_says(tmp_path):
    overrides = ["compat=official", "objective.mask_with_replacement=false"]
    path = tmp_path / "config.yaml"
    path.write_text(load_config("small", overrides).to_yaml())
    assert not load_config(str(path)).objective.mask_with_replacement
    asked = load_config(str(path), ["compat=official"])
    assert asked.objective.mask_with_replacement


def test_a_new_file_is_a_new_preset(tmp_path, monkeypatch):
    for name in ("mini_x", "tiny"):
        (tmp_path / f"{name}.yaml").write_text(load_config("tiny").to_yaml())
    monkeypatch.setattr("electra_tf.config._preset_directory", lambda: tmp_path)
    assert preset_names() == ["tiny", "mini_x"]


def test_a_setting_outside_its_section_is_sent_home():
    message = _refusal("generator_hidden_size=0.25")
    assert "did you mean 'generator.hidden_dim_fraction'" in message
    assert ";" not in message.removesuffix("'?").replace("; did you", "")
