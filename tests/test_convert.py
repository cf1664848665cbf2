"""The command: what it prints, leaves, and refuses."""

import json
import os
import pickle
import shutil
import zipfile

import pytest

from tests.command import refusal_of, run_command


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A directory with `joint/` (official checkpoint), `hf/`, and vocabularies."""
    from tests.conftest import GOLDEN

    path = tmp_path_factory.mktemp("convert")
    shutil.copytree(GOLDEN / "checkpoints" / "joint", path / "joint")
    shutil.copytree(GOLDEN / "hf" / "pretraining", path / "hf")
    shutil.copy(GOLDEN / "model" / "vocab.txt", path / "vocab.txt")
    size = json.loads((path / "hf" / "config.json").read_text())["vocab_size"]
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokens += [f"t{number}" for number in range(size - 5)]
    (path / "hf" / "vocab.txt").write_text("\n".join(tokens) + "\n")
    return path


def test_a_person_sees_what_became_of_every_tensor(place):
    result = run_command(
        "convert",
        "--source=joint",
        "--num_heads=4",
        "--vocab=vocab.txt",
        "--output=presets",
        cwd=place,
    )
    assert result.returncode == 0, result.stderr
    for text in (
        "electra/encoder/layer_*/attention/self/query/kernel",
        "used x 3",
        "slot of the optimizer",
        "342 tensors: 117 used, 225 skipped",
        "verified: generator: 58 tensors read back, equal to the bit",
        "presets/discriminator",
    ):
        assert text in result.stdout, text
    report = json.loads((place / "presets" / "conversion.json").read_text())
    assert len(report["tensors"]) == 342
    assert report["from"] == "tf1"

    back = run_command(
        "convert",
        "--source=presets",
        "--tower=generator",
        "--to=huggingface",
        "--output=generator-hf",
        cwd=place,
    )
    assert back.returncode == 0, back.stderr
    assert (place / "generator-hf" / "model.safetensors").is_file()
    assert "the other tower" in back.stdout


def test_a_configuration_has_to_fit(place):
    arguments = ("--source=joint", "--vocab=vocab.txt", "--output=out")
    line = refusal_of("convert", *arguments, "--config=small", cwd=place)
    assert "has 3 layers, the configuration says 12" in line
    line = refusal_of(
        "convert",
        *arguments,
        "--config=small",
        "--set=model.num_layers=3",
        "--set=model.max_sequence_length=64",
        "--set=data.max_length=64",
        cwd=place,
    )
    assert "model.embedding_dim" in line
    assert "[200, 16], [200, 128] was expected" in line


def _spoilt(place, name):
    directory = place / name
    shutil.copytree(place / "hf", directory)
    weights = directory / "model.safetensors"
    content = weights.read_bytes()
    if name == "huge_header":
        weights.write_bytes((1 << 62).to_bytes(8, "little") + content[8:])
    if name == "no_vocabulary":
        (directory / "vocab.txt").unlink()
    if name == "malicious":
        weights.unlink()
        with zipfile.ZipFile(directory / "pytorch_model.bin", "w") as archive:
            archive.writestr("archive/data.pkl", pickle.dumps({"a": os.system}))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("huge_header", "cut short or damaged"),
        ("no_vocabulary", "name it with --vocab"),
        ("malicious", "which is no tensor, and is not loaded"),
    ],
)
def test_bad_sources_are_refused_in_one_line(place, name, message):
    _spoilt(place, name)
    line = refusal_of("convert", f"--source={name}", "--output=out", cwd=place)
    assert message in line
    assert not (place / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--output=out",), "--source is missing"),
        (("--source=hf",), "--output is missing"),
        (("--source=hf", "--output=hf"), "is there already"),
        (("--source=hf", "--output=out", "--to=onnx"), "--to=onnx"),
        (("--source=hf", "--output=out", "--tower=generator"), "has no generator"),
        (("--source=nowhere", "--output=out"), "no such file"),
        (
            ("--source=joint", "--vocab=vocab.txt", "--output=out"),
            "number of attention",
        ),
        (("--source=hf", "--output=out", "--set=seed=3"), "name it with --config"),
        (
            ("--source=hf", "--output=out", "--task=cola"),
            "--task names a head of a TF1",
        ),
        (
            ("--source=hf", "--output=out", "--config=tiny", "--num_heads=2"),
            "--num_heads",
        ),
    ],
)
def test_bad_requests_are_refused_in_one_line(place, arguments, message):
    assert message in refusal_of("convert", *arguments, cwd=place)
    assert not (place / "out").exists()
