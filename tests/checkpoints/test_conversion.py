"""Chains of conversions end where they began (case E10), or leave nothing behind."""

import json
import shutil

import pytest

from electra_tf.checkpoints import conversion
from electra_tf.checkpoints.conversion import only_tower, write_checkpoint
from electra_tf.checkpoints.reading import read_checkpoint
from electra_tf.errors import DataError, WorkError
from tests.checkpoints.conftest import HINTS, assert_equal_bits


def _convert(checkpoint, to, output):
    write_checkpoint(checkpoint, to, output)
    return read_checkpoint(output, hints=HINTS)


@pytest.mark.parametrize(
    "variant",
    [
        "joint",
        "joint_no_projection",
        "untied_generator_embeddings",
        "all_tied",
        "bert_mlm",
        "two_tower",
    ],
)
def test_a_chain_through_all_formats_that_keep_heads(official, tmp_path, variant):
    first = official(variant)
    last = first
    for number, to in enumerate(("preset", "huggingface", "preset", "tf1")):
        last = _convert(last, to, tmp_path / str(number))
    assert last.tokenizer == first.tokenizer
    assert_equal_bits(first, last)


@pytest.mark.parametrize(
    ("name", "last_format"),
    [
        ("sequence_classification", "huggingface"),
        ("token_classification", "tf1"),
        ("question_answering", "tf1"),
    ],
)
def test_fine_tuned_models_come_through(
    golden, tmp_path, vocabulary_of, name, last_format
):
    source = golden / "hf" / name
    config = json.loads((source / "config.json").read_text())
    first = read_checkpoint(source, vocab=vocabulary_of(config["vocab_size"]))
    last = first
    for number, to in enumerate(("preset", "huggingface", "preset", last_format)):
        output = tmp_path / str(number)
        write_checkpoint(last, to, output, task="chunk")
        last = read_checkpoint(output, hints=HINTS)
    [before], [after] = first.models.values(), last.models.values()
    assert after.architecture == before.architecture
    assert_equal_bits(first, last)


def test_the_names_of_classes_go_along(golden, tmp_path, vocabulary_of):
    source = shutil.copytree(golden / "hf" / "token_classification", tmp_path / "hf")
    path = source / "config.json"
    config = json.loads(path.read_text())
    names = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
    config["id2label"] = dict(enumerate(names))
    path.write_text(json.dumps(config))
    first = read_checkpoint(source, vocab=vocabulary_of(config["vocab_size"]))
    preset = _convert(first, "preset", tmp_path / "preset")
    assert preset.models["discriminator"].class_names == tuple(names)
    _convert(preset, "huggingface", tmp_path / "again")
    again = json.loads((tmp_path / "again" / "config.json").read_text())
    assert again["id2label"] == {str(i): name for i, name in enumerate(names)}


def test_heads_that_a_format_does_not_have_are_refused(golden, tmp_path, vocabulary_of):
    vocab = golden / "model" / "vocab.txt"
    shallow = read_checkpoint(
        golden / "heads" / "classification_3", hints=HINTS, vocab=vocab
    )
    with pytest.raises(DataError, match="no head like this text_classifier"):
        write_checkpoint(shallow, "huggingface", tmp_path / "out")
    source = golden / "hf" / "sequence_classification"
    deep = read_checkpoint(source, vocab=vocabulary_of(150))
    with pytest.raises(DataError, match="has no hidden layer, as this one has"):
        write_checkpoint(deep, "tf1", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_chain_through_keras_hub_keeps_the_encoder(golden, tmp_path, vocabulary_of):
    source = golden / "hf" / "pretraining"
    size = json.loads((source / "config.json").read_text())["vocab_size"]
    first = read_checkpoint(source, vocab=vocabulary_of(size))
    last = first
    for number, to in enumerate(("preset", "keras_hub", "preset")):
        last = _convert(last, to, tmp_path / str(number))
    before, after = (c.models["discriminator"].tensors for c in (first, last))
    assert after.keys() == {name for name in before if name.startswith("encoder/")}
    for name, tensor in after.items():
        assert tensor.read().tobytes() == before[name].read().tobytes(), name
    assert last.tokenizer == first.tokenizer


def test_every_tensor_is_accounted_for(official, tmp_path):
    result = write_checkpoint(official("joint"), "keras_hub", tmp_path / "out")
    actions = {entry.action for entry in result.entries}
    assert actions == {"used", "skipped", "fresh"}
    assert any("equal to the bit" in v.what for v in result.verifications)
    [note] = {v.note for v in result.verifications if v.note}
    assert "gelu" in note
    assert all(0 < v.difference < 0.01 for v in result.verifications if v.note)


def test_one_tower_is_the_directory_itself(official, tmp_path):
    discriminator = only_tower(official("joint"), "discriminator")
    alone = _convert(discriminator, "preset", tmp_path / "out")
    assert set(alone.models) == {"discriminator"}
    assert (tmp_path / "out" / "config.json").is_file()
    with pytest.raises(DataError, match=r"no generator; it holds a discriminator"):
        only_tower(alone, "generator")


def test_a_vocabulary_is_needed(golden, official, tmp_path):
    checkpoint = official("joint", vocab=None)
    assert checkpoint.tokenizer is None
    with pytest.raises(DataError, match="no vocabulary beside the weights"):
        write_checkpoint(checkpoint, "preset", tmp_path / "out")
    write_checkpoint(checkpoint, "tf1", tmp_path / "tf1")
    shutil.copy(golden / "model" / "vocab.txt", tmp_path / "tf1")
    found = read_checkpoint(tmp_path / "tf1", hints=HINTS)
    assert len(found.tokenizer.tokens) == 200
    assert found.tokenizer.lowercase


def test_what_is_there_is_not_replaced_unless_asked(official, tmp_path):
    checkpoint = official("bert_mlm")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.docx").touch()
    with pytest.raises(DataError, match="is there already"):
        write_checkpoint(checkpoint, "tf1", tmp_path / "out")
    write_checkpoint(checkpoint, "tf1", tmp_path / "out", overwrite=True)
    assert (tmp_path / "out" / "model.ckpt.index").is_file()


@pytest.mark.parametrize("fault", ["a tensor", "the writer"])
def test_a_result_that_is_wrong_is_not_kept(official, tmp_path, monkeypatch, fault):
    def write(models, directory, task):
        if fault == "the writer":
            raise OSError(28, "No space left on device")
        [model] = models.values()
        tensors = dict(model.tensors)
        name = "head/output_bias"
        value = tensors[name].read() + 1
        tensors[name] = type(tensors[name])(value.shape, lambda: value)
        changed = type(model)(
            architecture=model.architecture, size=model.size, tensors=tensors
        )
        conversion_write({"generator": changed}, directory, task)

    conversion_write = conversion.write_tf1
    monkeypatch.setattr(conversion, "write_tf1", write)
    message = "other bits" if fault == "a tensor" else "No space left"
    with pytest.raises(WorkError, match=message):
        write_checkpoint(official("bert_mlm"), "tf1", tmp_path / "out")
    assert not list(tmp_path.iterdir())
