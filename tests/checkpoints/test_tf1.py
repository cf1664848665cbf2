"""Official checkpoints: names, towers, spellings of the path (cases E01, E03 to E05)."""

import shutil

import numpy as np
import pytest
import tensorflow as tf

from electra_tf.checkpoints.assembly import Hints
from electra_tf.checkpoints.reading import read_checkpoint
from electra_tf.checkpoints.tf1 import find_tf1, open_tf1, write_tf1
from electra_tf.errors import DataError
from tests.checkpoints.conftest import HINTS, assert_equal_bits, run
from tests.official import arrays


@pytest.mark.parametrize(
    ("variant", "towers"),
    [
        ("joint", {"discriminator", "generator"}),
        ("joint_no_projection", {"discriminator", "generator"}),
        ("untied_generator_embeddings", {"discriminator", "generator"}),
        ("all_tied", {"discriminator", "generator"}),
        ("bert_mlm", {"generator"}),
        ("two_tower", {"discriminator"}),
    ],
)
def test_towers_compute_what_the_original_does(official, variant, towers):
    models = official(variant).models
    values = arrays(variant)
    assert set(models) == towers
    if "generator" in towers:
        logits = run(
            models["generator"],
            values["masked/input_ids"],
            values["segment_ids"],
            values["input_mask"],
            values["masked/positions"],
        )
        used = values["masked/weights"] > 0
        expected = values["generator/logits"]
        np.testing.assert_allclose(logits[used], expected[used], atol=1e-5)
    if "discriminator" in towers:
        logits = run(
            models["discriminator"],
            values["fake/input_ids"],
            values["segment_ids"],
            values["input_mask"],
        )
        real = values["input_mask"] > 0
        expected = values["discriminator/head_logits"]
        np.testing.assert_allclose(logits[real], expected[real], atol=1e-5)


def test_slots_are_left_out_and_counted(official):  # E01
    entries = official("joint").entries
    skipped = [entry for entry in entries if entry.action == "skipped"]
    assert {entry.reason for entry in skipped} == {
        "slot of the optimizer",
        "counter of the optimizer",
    }
    # Two slots for every variable; embeddings are stored once and used by both towers.
    used = {entry.source for entry in entries if entry.action == "used"}
    assert len(skipped) == 2 * len(used) + 1
    shared = "electra/embeddings/word_embeddings"
    targets = {entry.target for entry in entries if entry.source == shared}
    assert {target.split("/")[0] for target in targets} == {
        "discriminator",
        "generator",
    }


@pytest.mark.parametrize(
    "variant",
    ["joint_no_projection", "untied_generator_embeddings", "all_tied", "bert_mlm"],
)
def test_what_is_written_is_the_original_checkpoint(
    official, golden, tmp_path, variant
):
    write_tf1(official(variant).models, tmp_path)
    before = open_tf1(golden / "checkpoints" / variant / "model.ckpt")
    after = open_tf1(tmp_path / "model.ckpt")
    assert before.keys() == after.keys()
    for name, tensor in before.items():
        assert after[name].read().tobytes() == tensor.read().tobytes(), name


def test_a_path_in_any_spelling(golden, tmp_path):  # E05
    source = golden / "checkpoints" / "all_tied"
    for name in ("model.ckpt.index", "model.ckpt.data-00000-of-00001"):
        shutil.copy(source / name, tmp_path / name)
    prefix = tmp_path / "model.ckpt"
    for path in (tmp_path, prefix, tmp_path / "model.ckpt.index"):
        assert find_tf1(path) == prefix
    assert find_tf1(source) == source / "model.ckpt"
    assert find_tf1(tmp_path / "nothing") is None
    shutil.copy(tmp_path / "model.ckpt.index", tmp_path / "model.ckpt-10.index")
    with pytest.raises(DataError, match=r"\(model.ckpt, model.ckpt-10\).*give one"):
        find_tf1(tmp_path)


def test_heads_have_to_be_said(official):  # E04
    with pytest.raises(
        DataError, match="number of attention heads of the discriminator"
    ):
        official("joint", hints={"discriminator": Hints(), "generator": Hints()})
    with pytest.raises(DataError, match="5 attention heads do not divide"):
        official(
            "joint", hints={"discriminator": Hints(num_heads=5), "generator": Hints()}
        )


def test_a_configuration_that_does_not_fit_is_refused(official):  # E03
    wide = {**HINTS, "generator": Hints(letters={"H": 32}, num_heads=4)}
    with pytest.raises(
        DataError,
        match=r"generator/.* \[16, 16\], \[32, 32\] was .*generator.hidden_dim_fraction",
    ):
        official("joint", hints=wide)
    deep = {**HINTS, "discriminator": Hints(num_layers=12, num_heads=4)}
    with pytest.raises(DataError, match=r"3 layers, the configuration says 12"):
        official("joint", hints=deep)


def _write(directory, variables):
    tf.raw_ops.SaveV2(
        prefix=str(directory / "model.ckpt"),
        tensor_names=list(variables),
        shape_and_slices=[""] * len(variables),
        tensors=[tf.constant(value) for value in variables.values()],
    )


def _variables(golden):
    tensors = open_tf1(golden / "checkpoints" / "all_tied" / "model.ckpt")
    return {name: tensor.read() for name, tensor in tensors.items()}


def test_extra_and_missing_variables_are_named(golden, tmp_path):  # E02
    variables = _variables(golden)
    extra = variables | {
        "electra/encoder/layer_0/adapter/kernel": np.ones(3, "float32")
    }
    _write(tmp_path, extra)
    with pytest.raises(DataError, match="layer_0/adapter/kernel has no place"):
        read_checkpoint(tmp_path, hints=HINTS)
    lost = "electra/encoder/layer_1/output/dense/bias"
    del variables[lost]
    _write(tmp_path, variables)
    with pytest.raises(DataError, match=f"lacks {lost}"):
        read_checkpoint(tmp_path, hints=HINTS)
    allowed = "encoder/layer_1/feedforward_output/bias"
    checkpoint = read_checkpoint(tmp_path, hints=HINTS, allow_missing=[allowed])
    assert not checkpoint.models["discriminator"].tensors[allowed].read().any()
    [entry] = [e for e in checkpoint.entries if e.target == f"discriminator/{allowed}"]
    assert entry.action == "fresh"


def test_bert_is_not_electra(tmp_path):
    _write(tmp_path, {"bert/embeddings/word_embeddings": np.ones((3, 2), "float32")})
    with pytest.raises(DataError, match="a checkpoint of BERT, not of ELECTRA"):
        read_checkpoint(tmp_path)


def test_damaged_files_are_named(golden, tmp_path):
    shutil.copytree(golden / "checkpoints" / "all_tied", tmp_path / "cut")
    data = tmp_path / "cut" / "model.ckpt.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:1000])
    model = read_checkpoint(tmp_path / "cut", hints=HINTS).models["discriminator"]
    name = "head/prediction/kernel"
    with pytest.raises(DataError, match=r"model.ckpt: .* cannot be read, a data file"):
        model.tensors[name].read()
    (tmp_path / "cut" / "model.ckpt.index").write_bytes(b"nothing")
    with pytest.raises(DataError, match="cannot be read as a TensorFlow checkpoint"):
        read_checkpoint(tmp_path / "cut", hints=HINTS)


def test_a_tower_alone_comes_back(official, tmp_path):
    checkpoint = official("joint")
    for tower, model in checkpoint.models.items():
        directory = tmp_path / tower
        directory.mkdir()
        write_tf1({tower: model}, directory)
        hints = {name: Hints(num_heads=model.size.num_heads) for name in HINTS}
        alone = read_checkpoint(directory, hints=hints)
        assert set(alone.models) == {tower}
        whole = type(alone)(
            path=directory,
            format="tf1",
            models={tower: model},
            entries=[],
            tokenizer=None,
        )
        assert_equal_bits(whole, alone)


HEADS = {
    "classification_3": "text_classifier",
    "tagging": "token_classifier",
    "squad_independent": "answerability_question_answerer",
    "squad_independent_no_answerable": "question_answerer",
}


@pytest.mark.parametrize(("name", "architecture"), HEADS.items())
def test_fine_tuned_models_compute_what_the_original_does(golden, name, architecture):
    directory = golden / "heads" / name
    checkpoint = read_checkpoint(directory, hints=HINTS)
    [model] = checkpoint.models.values()
    assert model.architecture == architecture
    with np.load(directory / "values.npz") as values:
        inputs = [
            values[f"feature/{key}"]
            for key in ("input_ids", "segment_ids", "input_mask")
        ]
        actual = run(model, *inputs)
        if architecture == "text_classifier":
            np.testing.assert_allclose(actual, values["output/logits"], atol=1e-5)
        elif architecture == "token_classifier":
            positions = values["feature/chunk_labeled_positions"]
            used = values["feature/chunk_labels_mask"] > 0
            actual = np.take_along_axis(actual, positions[..., np.newaxis], axis=1)
            expected = values["output/logits"]
            np.testing.assert_allclose(actual[used], expected[used], atol=1e-5)
        else:
            for key in ("start_logits", "end_logits"):
                expected = values[f"output/{key}"]
                allowed = expected > -500  # forbidden positions are at -1000
                assert allowed.any()
                np.testing.assert_allclose(
                    actual[key][allowed], expected[allowed], atol=1e-4
                )
            if "answerable_logits" in actual:
                expected = values["output/answerable_logit"]
                np.testing.assert_allclose(
                    actual["answerable_logits"], expected, atol=1e-5
                )


@pytest.mark.parametrize("name", HEADS)
def test_fine_tuned_models_are_written_as_they_were(golden, tmp_path, name):
    source = golden / "heads" / name
    before = open_tf1(source / "model.ckpt")
    [task] = {n.split("/")[1] for n in before if n.startswith("task_specific/")}
    write_tf1(read_checkpoint(source, hints=HINTS).models, tmp_path, task)
    after = open_tf1(tmp_path / "model.ckpt")
    skipped = {n for n in before if n not in after}
    assert all("adam" in n or "global_step" in n for n in skipped)
    for key, tensor in after.items():
        assert before[key].read().tobytes() == tensor.read().tobytes(), key


def test_heads_of_several_tasks_and_joint_heads_are_refused(golden, tmp_path):
    tensors = open_tf1(golden / "heads" / "classification_3" / "model.ckpt")
    variables = {name: tensor.read() for name, tensor in tensors.items()}
    second = {
        name.replace("/mnli/", "/cola/"): value
        for name, value in variables.items()
        if "/mnli/" in name
    }
    _write(tmp_path, variables | second)
    with pytest.raises(DataError, match=r"several tasks \(cola, mnli\); name one"):
        read_checkpoint(tmp_path, hints=HINTS)
    checkpoint = read_checkpoint(tmp_path, hints=HINTS, task="cola")
    reasons = {e.reason for e in checkpoint.entries if e.action == "skipped"}
    assert "head of another task" in reasons
    with pytest.raises(DataError, match="no head of the task rte, but cola, mnli"):
        read_checkpoint(tmp_path, hints=HINTS, task="rte")
    joint = {"task_specific/squad/qa_hidden/kernel": np.ones((64, 512), "float32")}
    _write(tmp_path, variables | joint)
    with pytest.raises(DataError, match="start and end jointly"):
        read_checkpoint(tmp_path, hints=HINTS, task="squad")
