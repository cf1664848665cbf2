"""Hugging Face's directories, against what its own modules compute (cases E06, E08)."""

import json
import shutil

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
import tensorflow as tf

from electra_tf.checkpoints.huggingface import (
    read_huggingface,
    read_tokenizer,
    write_huggingface,
)
from electra_tf.checkpoints.model import TokenizerSettings
from electra_tf.checkpoints.presets import network_of
from electra_tf.checkpoints.reading import read_checkpoint
from electra_tf.errors import DataError
from tests.checkpoints.conftest import run

NAMES = {
    "pretraining": "discriminator",
    "masked_lm": "generator",
    "sequence_classification": "discriminator",
    "token_classification": "discriminator",
    "question_answering": "discriminator",
}


@pytest.fixture
def copy_of(golden, tmp_path):
    """A copy of one of the directories, to be spoilt."""

    def copy_of(name):
        return shutil.copytree(golden / "hf" / name, tmp_path / name)

    return copy_of


def _change_config(directory, **changes):
    path = directory / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def _load(directory):
    return safetensors.numpy.load_file(directory / "model.safetensors")


def _save(directory, arrays, name="model.safetensors"):
    safetensors.numpy.save_file(arrays, directory / name)


@pytest.mark.parametrize(("name", "tower"), NAMES.items())
def test_outputs_are_those_of_its_modules(golden, name, tower):
    models, entries, tokenizer = read_huggingface(golden / "hf" / name)
    assert tokenizer is None
    assert set(models) == {tower}
    with np.load(golden / "hf" / name / "expected.npz") as expected:
        inputs = [
            expected[key].astype("int32")
            for key in ("input_ids", "token_type_ids", "attention_mask")
        ]
        actual = run(models[tower], *inputs)
        real = inputs[2] > 0
        if isinstance(actual, dict):
            assert actual.keys() == {"start_logits", "end_logits"}
            for key, value in actual.items():
                np.testing.assert_allclose(value[real], expected[key][real], atol=1e-5)
        else:
            rows = real if actual.ndim == 3 or name == "pretraining" else slice(None)
            np.testing.assert_allclose(
                actual[rows], expected["logits"][rows], atol=1e-5
            )
        encoder = network_of(models[tower]).backbone.encoder
        states = encoder.hidden_states(*(tf.constant(value) for value in inputs))
        assert len(states) == len(expected["hidden_states"])
        for layer, value in zip(expected["hidden_states"], states, strict=True):
            np.testing.assert_allclose(value.numpy()[real], layer[real], atol=1e-5)
    actions = {entry.action for entry in entries}
    assert actions <= {"used", "transposed", "split", "skipped"}
    kernels = [e for e in entries if e.target and e.target.endswith("/kernel")]
    assert kernels
    assert all(entry.action in ("transposed", "split") for entry in kernels)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_what_was_there(golden, tmp_path, name):
    models, *_ = read_huggingface(golden / "hf" / name)
    [model] = models.values()
    tokens = ("[PAD]", *(f"t{i}" for i in range(model.size.vocabulary_size - 1)))
    write_huggingface(model, TokenizerSettings(tokens=tokens, **_UNCASED), tmp_path)
    before, after = _load(golden / "hf" / name), _load(tmp_path)
    before.pop("generator_lm_head.weight", None)
    assert before.keys() == after.keys()
    for key, value in before.items():
        assert after[key].tobytes() == value.tobytes(), key
    config = json.loads((tmp_path / "config.json").read_text())
    original = json.loads((golden / "hf" / name / "config.json").read_text())
    assert {key: original.get(key) for key in config} == config


_UNCASED = {"lowercase": True, "strip_accents": True}


@pytest.mark.parametrize("name", NAMES)
def test_transformers_loads_it_with_no_key_missing(golden, tmp_path, name):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("torch")
    models, *_ = read_huggingface(golden / "hf" / name)
    [model] = models.values()
    tokens = ("[PAD]", *(f"t{i}" for i in range(model.size.vocabulary_size - 1)))
    write_huggingface(model, TokenizerSettings(tokens=tokens, **_UNCASED), tmp_path)
    [cls] = json.loads((tmp_path / "config.json").read_text())["architectures"]
    _, info = getattr(transformers, cls).from_pretrained(
        tmp_path, output_loading_info=True
    )
    assert not info["missing_keys"]
    assert not info["unexpected_keys"]


def test_shards_are_read_as_one_file(copy_of):
    directory = copy_of("pretraining")
    arrays = _load(directory)
    names = sorted(arrays)
    parts = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, members in parts.items():
        _save(directory, {name: arrays[name] for name in members}, file)
    places = {name: file for file, members in parts.items() for name in members}
    (directory / "model.safetensors").unlink()
    index = directory / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": places}))
    models, *_ = read_huggingface(directory)
    assert len(models["discriminator"].tensors) == len(arrays)
    (directory / "b.safetensors").unlink()
    with pytest.raises(DataError, match=r"b.safetensors: missing, although"):
        read_huggingface(directory)
    index.write_text(json.dumps({"weight_map": {"x": "../a.safetensors"}}))
    with pytest.raises(DataError, match="missing, although"):
        read_huggingface(directory)


@pytest.mark.parametrize("tower", ["discriminator", "generator"])
def test_it_agrees_with_the_official_checkpoint(golden, official, tower):
    models, *_ = read_huggingface(golden / "hf" / f"joint_{tower}")
    expected = official("joint").models[tower]
    assert models[tower].size == expected.size
    for name, tensor in expected.tensors.items():
        assert models[tower].tensors[name].read().tobytes() == tensor.read().tobytes()


def test_bfloat16_becomes_float32(copy_of):
    directory = copy_of("pretraining")
    arrays = _load(directory)
    halves = {name: value.astype(ml_dtypes.bfloat16) for name, value in arrays.items()}
    _save(directory, halves)
    models, *_ = read_huggingface(directory)
    value = models["discriminator"].tensors["encoder/embeddings/word_embeddings"].read()
    name = "electra.embeddings.word_embeddings.weight"
    np.testing.assert_array_equal(value, halves[name].astype("float32"))


def test_float16_becomes_float32(copy_of):
    directory = copy_of("pretraining")
    arrays = _load(directory)
    _save(directory, {name: value.astype("float16") for name, value in arrays.items()})
    models, *_ = read_huggingface(directory)
    name = "electra.embeddings.word_embeddings.weight"
    tensor = models["discriminator"].tensors["encoder/embeddings/word_embeddings"]
    assert tensor.read().dtype == "float32"
    np.testing.assert_array_equal(tensor.read(), arrays[name].astype("float16"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "bert"}, "model_type is 'bert'"),
        ({"hidden_act": "relu"}, "hidden_act is 'relu'; the official arithmetic"),
        ({"hidden_act": "gelu_new"}, "hidden_act is 'gelu_new'"),
        ({"layer_norm_eps": 1e-5}, "layer_norm_eps is 1e-05"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type"),
        ({"architectures": ["ElectraForMultipleChoice"]}, "ElectraForMultipleChoice"),
        (
            {"embedding_size": 7},
            r"word_embeddings.weight has the shape .*embedding_dim",
        ),
        ({"vocab_size": 99}, "word_embeddings.weight has the shape"),
        ({"num_hidden_layers": 12}, "layers, the configuration says 12"),
        ({"num_attention_heads": 5}, "5 attention heads do not divide"),
    ],
)
def test_what_does_not_fit_is_refused(copy_of, changes, message):
    directory = copy_of("pretraining")
    _change_config(directory, **changes)
    with pytest.raises(DataError, match=message):
        read_huggingface(directory)


def test_a_generator_with_an_output_table_of_its_own_is_refused(copy_of):
    directory = copy_of("masked_lm")
    arrays = _load(directory)
    table = arrays["electra.embeddings.word_embeddings.weight"]
    _save(directory, arrays | {"generator_lm_head.weight": table + 1})
    with pytest.raises(DataError, match="differs from the word embeddings"):
        read_huggingface(directory)
    _save(directory, arrays | {"generator_lm_head.weight": table})
    _, entries, _ = read_huggingface(directory)
    assert [e.source for e in entries if e.action == "skipped"] == [
        "generator_lm_head.weight"
    ]


@pytest.mark.parametrize("damage", ["cut", "header", "text", "absent"])
def test_damaged_weights_are_refused(copy_of, damage):
    directory = copy_of("pretraining")
    (directory / "pytorch_model.bin").unlink(missing_ok=True)
    path = directory / "model.safetensors"
    content = path.read_bytes()
    spoilt = {
        "cut": content[:-100],
        # It claims a header of an exabyte.
        "header": (1 << 60).to_bytes(8, "little") + content[8:],
        "text": b"<html>not found</html>",
    }
    message = "cannot be read as safetensors"
    if damage == "absent":
        path.unlink()
        message = "has no weights"
    else:
        path.write_bytes(spoilt[damage])
    with pytest.raises(DataError, match=message):
        read_huggingface(directory)


def test_padded_tables_are_cut_to_the_vocabulary(copy_of, vocabulary_of):  # E06
    directory = copy_of("masked_lm")
    arrays = _load(directory)
    name = "electra.embeddings.word_embeddings.weight"
    rows = len(arrays[name])
    padding = -rows % 8 or 8
    arrays[name] = np.pad(arrays[name], ((0, padding), (0, 0)))
    bias = "generator_lm_head.bias"
    arrays[bias] = np.pad(arrays[bias], (0, padding))
    arrays.pop("generator_lm_head.weight", None)
    _save(directory, arrays)
    _change_config(directory, vocab_size=rows + padding)
    checkpoint = read_checkpoint(directory, vocab=vocabulary_of(rows))
    [model] = checkpoint.models.values()
    assert model.size.vocabulary_size == rows
    assert len(model.tensors["head/output_bias"].read()) == rows
    cut = {entry.source for entry in checkpoint.entries if entry.action == "cut"}
    assert cut == {name, bias}
    for size in (rows + padding + 1, rows - 130):
        if size > 10:
            with pytest.raises(
                DataError, match=rf"{rows + padding} rows, the .* {size}"
            ):
                read_checkpoint(directory, vocab=vocabulary_of(size))


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ({"do_lower_case": False}, (False, False)),
        ({"do_lower_case": True, "strip_accents": None}, (True, True)),
        ({"do_lower_case": True, "strip_accents": False}, (True, False)),
        ({}, (True, True)),
    ],
)
def test_the_case_of_text_is_kept(tmp_path, vocabulary_of, stored, expected):  # E08
    shutil.copy(vocabulary_of(20), tmp_path / "vocab.txt")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(stored))
    settings = read_tokenizer(tmp_path)
    assert (settings.lowercase, settings.strip_accents) == expected
