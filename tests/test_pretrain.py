"""The main command on a small text: what it prints and leaves, and what it refuses."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import tensorflow as tf
import yaml

from electra_tf.config import load_config
from electra_tf.data.manifest import open_dataset
from electra_tf.pretraining.pretrainer import ElectraPretrainer
from electra_tf.tokenization.vocabulary import SPECIAL_TOKENS
from tests.command import refusal_of, run_command
from tests.conftest import ROOT
from tests.micro import SPECIAL, micro_config

SUMMARY_KEYS = {"steps", "tokens", "seconds", "tokens_per_second", "heldout"}
BASE = ("--config=micro.yaml", "--model_dir=refused")
HELDOUT_KEYS = {
    "generator_accuracy",
    "unigram_accuracy",
    "generator_loss",
    "discriminator_accuracy",
    "majority_accuracy",
    "discriminator_auc",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """A directory with `texts/` (two files), and `micro.yaml`."""
    path = tmp_path_factory.mktemp("workspace")
    rng = random.Random(0)
    words = [
        "red",
        "green",
        "blue",
        "small",
        "large",
        "house",
        "tree",
        "river",
        "walks",
        "sings",
    ]
    (path / "texts").mkdir()
    for name in ("one.txt", "two words.txt"):
        documents = [
            "\n".join(
                f"the {rng.choice(words)} {rng.choice(words)} {rng.choice(words)} ."
                for _ in range(12)
            )
            for _ in range(60)
        ]
        (path / "texts" / name).write_text("\n\n".join(documents) + "\n")
    config = micro_config(
        model={"vocabulary_size": None},
        data={"learned_vocabulary_size": 120, "heldout_fraction": 0.1},
        training={"peak_flops_per_second": 1e9},
    )
    (path / "micro.yaml").write_text(config.to_yaml())
    return path


@pytest.fixture(scope="module")
def finished(workspace):
    """A run that was made from text; its completed process."""
    result = run_command(
        "pretrain",
        "--config=micro.yaml",
        "--corpus=texts/*.txt",
        "--model_dir=run",
        cwd=workspace,
    )
    assert result.returncode == 0, result.stderr
    return result


def test_a_run_leaves_everything_to_repeat_it(workspace, finished):
    run = workspace / "run"
    names = {path.name for path in run.iterdir()}
    assert names >= {
        "config.yaml",
        "run.json",
        "metrics.jsonl",
        "tensorboard",
        "checkpoints",
        "summary.json",
        "report.html",
        "discriminator",
        "generator",
        "vocab.txt",
        "records-16",
    }
    summary = json.loads((run / "summary.json").read_text())
    assert summary.keys() >= SUMMARY_KEYS
    assert summary["steps"] == 20
    assert summary["heldout"].keys() >= HELDOUT_KEYS
    records = [json.loads(line) for line in (run / "metrics.jsonl").open()]
    assert [record["step"] for record in records] == [5, 10, 15, 20, 20]
    *steps, heldout = records
    assert all(record["loss"] > 0 for record in steps)
    assert all(record["mfu"] > 0 for record in steps)
    ratio = steps[0]["model_flops_per_second"] / steps[0]["mfu"]
    assert ratio == pytest.approx(1e9)
    assert steps[-1]["tokens"] == pytest.approx(summary["tokens"])
    assert heldout["heldout_generator_loss"] == summary["heldout"]["generator_loss"]
    saved = yaml.safe_load((run / "config.yaml").read_text())
    assert saved["model"]["vocabulary_size"] == len(
        (run / "vocab.txt").open().readlines()
    )


def test_a_person_sees_progress_and_a_summary(finished):
    assert "step 20/20" in finished.stderr
    assert "tokens/s (MFU " in finished.stderr
    assert "left" in finished.stderr
    assert "microseconds" not in finished.stderr  # TensorFlow's notes to itself
    for text in ("On held-out text", "generator", "discriminator", "AUC", "→"):
        assert text in finished.stdout


def test_the_report_needs_no_network(workspace, finished):
    page = (workspace / "run" / "report.html").read_text()
    assert "http://" not in page
    assert "https://" not in page
    assert "data:image/png;base64," in page
    assert "<script" not in page


def test_the_same_command_again_says_that_it_is_done(workspace, finished):
    before = (workspace / "run" / "metrics.jsonl").read_text()
    summary = (workspace / "run" / "summary.json").read_text()
    result = run_command(
        "pretrain",
        "--config=micro.yaml",
        "--corpus=texts/*.txt",
        "--model_dir=run",
        cwd=workspace,
    )
    assert result.returncode == 0, result.stderr
    assert "resuming from the checkpoint of step 20" in result.stderr
    assert "this run is finished" in result.stderr
    assert (workspace / "run" / "metrics.jsonl").read_text() == before
    assert (workspace / "run" / "summary.json").read_text() == summary


def test_evaluate_gives_the_same_measures(workspace, finished):
    result = run_command("evaluate", "--model=run", cwd=workspace)
    assert result.returncode == 0, result.stderr
    expected = json.loads((workspace / "run" / "summary.json").read_text())["heldout"]
    actual = json.loads((workspace / "run" / "evaluation.json").read_text())["heldout"]
    assert actual == pytest.approx(expected, rel=1e-4)


def test_longer_sequences_follow_shorter_ones(workspace):  # A09
    run = workspace / "phases"

    def phase(max_length, num_train_steps):
        """Trains on; returns what `step-N` holds: name → array."""
        result = run_command(
            "pretrain",
            "--config=micro.yaml",
            "--corpus=texts",
            "--model_dir=phases",
            f"--set=data.max_length={max_length}",
            f"--set=training.num_train_steps={num_train_steps}",
            "--set=training.num_warmup_steps=1",
            cwd=workspace,
        )
        assert result.returncode == 0, result.stderr
        return _model_weights(run / "checkpoints" / f"step-{num_train_steps}")

    first = phase(8, 2)
    second = phase(16, 3)
    [positions] = [name for name in first if "position_embeddings" in name]
    config = load_config(str(run / "config.yaml"))
    pretrainer = ElectraPretrainer(config, SPECIAL)
    initial = pretrainer.discriminator.encoder.embeddings.position_embeddings.value
    # The first phase read 8 positions: weight decay is all that happened to the others.
    ratio = first[positions][8:] / np.asarray(initial)[8:]
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-5)
    assert 0.999 < ratio[0, 0] < 1.0
    assert np.abs(second[positions] - first[positions])[8:].max() > 1e-5
    # One step at a rate of at most 1e-3: everything was carried over.
    assert second.keys() == first.keys()
    for name, value in second.items():
        np.testing.assert_allclose(value, first[name], atol=5e-3, err_msg=name)
    phases = json.loads((run / "run.json").read_text())["phases"]
    assert [(p["first_step"], p["max_length"]) for p in phases] == [(0, 8), (2, 16)]


def test_a_run_starts_from_the_weights_of_another(workspace, finished):
    result = run_command(
        "pretrain",
        "--config=micro.yaml",
        "--data=run/records-16",
        "--model_dir=continued",
        "--init_discriminator=run",
        "--init_generator=run/generator",
        "--seed=3",
        "--set=training.num_train_steps=1",
        "--set=training.num_warmup_steps=0",
        "--set=training.learning_rate=1e-9",
        cwd=workspace,
    )
    assert result.returncode == 0, result.stderr
    loaded = re.findall(r"(\w+): (\d+) of (\d+) variables loaded", result.stderr)
    assert [name for name, *_ in loaded] == ["discriminator", "generator"]
    assert all(count == total for _, count, total in loaded)
    before, after = (
        _model_weights(workspace / run / "checkpoints" / f"step-{step}")
        for run, step in (("run", 20), ("continued", 1))
    )
    for name, value in before.items():
        np.testing.assert_allclose(after[name], value, atol=1e-6, err_msg=name)


@pytest.mark.parametrize(
    ("source", "message"),
    [("nowhere", "no such file"), ("texts", "nothing that is known here")],
)
def test_weights_that_cannot_be_read_are_refused(workspace, finished, source, message):
    line = refusal_of(
        "pretrain",
        *BASE,
        "--data=run/records-16",
        f"--init_discriminator={source}",
        cwd=workspace,
    )
    assert "--init_discriminator" in line
    assert source in line
    assert message in line


def test_two_replicas_make_the_updates_of_one(workspace, finished):
    weights = []
    for replicas in (1, 2):
        result = run_command(
            "pretrain",
            "--config=micro.yaml",
            "--data=run/records-16",
            f"--model_dir=replicas-{replicas}",
            f"--logical_cpus={replicas}",
            "--set=training.num_train_steps=4",
            "--set=training.log_every=1",
            "--set=model.dropout=0.1",
            cwd=workspace,
        )
        assert result.returncode == 0, result.stderr
        run = workspace / f"replicas-{replicas}"
        weights.append(_model_weights(run / "checkpoints" / "step-4"))
    assert "2 replicas on one CPU" in result.stderr
    one, two = weights
    assert one.keys() == two.keys()
    for name, value in one.items():
        np.testing.assert_allclose(two[name], value, atol=1e-6, err_msg=name)
    losses = [
        [json.loads(line).get("loss") for line in (workspace / name).open()]
        for name in ("replicas-1/metrics.jsonl", "replicas-2/metrics.jsonl")
    ]
    assert len(losses[0]) == 5
    assert losses[1][:4] == pytest.approx(losses[0][:4], rel=1e-5)


def _model_weights(checkpoint):
    reader = tf.train.load_checkpoint(str(checkpoint))
    names = reader.get_variable_to_shape_map()
    return {n: reader.get_tensor(n) for n in names if n.startswith("model/")}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_the_same_command_goes_on(workspace, finished, number):
    model_dir = workspace / f"stopped-{number.name}"
    command = [
        "pretrain",
        "--config=micro.yaml",
        "--data=run/records-16",
        f"--model_dir={model_dir}",
        "--set=training.num_train_steps=1000000",
        "--set=training.checkpoint_every=1000000",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", f"electra_tf.{command[0]}", *command[1:]],
        cwd=workspace,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )
    metrics = model_dir / "metrics.jsonl"
    deadline = time.monotonic() + 120
    while not (metrics.exists() and metrics.stat().st_size):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.2)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert f"stopped by {number.name}" in errors
    assert "run the same command to go on" in errors
    assert not (model_dir / "summary.json").exists()
    [stopped] = (model_dir / "checkpoints").glob("step-*.index")
    step = int(stopped.stem.removeprefix("step-"))
    before = [json.loads(line) for line in metrics.open()]

    end = f"--set=training.num_train_steps={step + 3}"
    resumed = run_command(*command[:3], end, f"--model_dir={model_dir}", cwd=workspace)
    assert resumed.returncode == 0, resumed.stderr
    assert f"resuming from the checkpoint of step {step}" in resumed.stderr
    summary = json.loads((model_dir / "summary.json").read_text())
    assert summary["steps"] == step + 3
    records = [json.loads(line) for line in metrics.open()]
    assert records[: len(before)] == before
    # Tokens and time of both parts.
    assert summary["tokens"] > before[-1]["tokens"]
    assert summary["seconds"] > before[-1]["seconds"]
    rate = summary["tokens"] / records[-2]["seconds"]
    assert summary["tokens_per_second"] == pytest.approx(rate)


# What is refused, in about a second and before any work.


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--corpus=no/such/*.txt",), "no file matches"),
        (("--corpus=empty.txt",), "no text in 1 file"),
        (("--corpus=picture.txt",), "not text"),
        (("--corpus=texts", "--data=texts"), "exclude each other"),
        (("--data=texts",), "no dataset.json"),
        (("--data=nowhere",), "no such directory"),
        (("--corpus=texts", "--vocab=nowhere.txt"), "nowhere.txt"),
        (("--corpus=texts", "--vocab=no_mask.txt"), "[MASK]"),
        (("--corpus=texts", "--vocab=double.txt"), "line 7"),
        (("--corpus=texts", "--vocab=texts"), "directory"),
        (
            ("--set=model.hidden_dim=250", "--set=model.num_heads=4"),  # A11
            "model.hidden_dim=250 is not divisible by model.num_heads=4",
        ),
        (("--set=model.hidden_size=250",), "did you mean 'hidden_dim'"),
        (("--set=training.lerning_rate=1e-4",), "did you mean 'learning_rate'"),  # G03
        (("--set=learning_rate",), "section.key=value"),  # G02
        (("--set=training.batch_size=5", "--logical_cpus=2"), "not divisible by the 2"),
        (("--strategy=cuda",), "should be one of auto"),
        (("--precision=fp16",), "should be one of float32"),
        (("--resume=maybe",), "resume"),
        (("--learning_rate=1",), "learning_rate"),
        (("texts",), "unexpected argument 'texts'"),
        (("--config=nowhere.yaml",), "nowhere.yaml"),
    ],
)
def test_bad_requests_are_refused_in_one_line(workspace, arguments, expected):
    (workspace / "empty.txt").write_text("\n \n\n")
    (workspace / "picture.txt").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    tokens = [*SPECIAL_TOKENS, "the", "the"]
    (workspace / "double.txt").write_text("\n".join(tokens) + "\n")
    (workspace / "no_mask.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\n")
    assert expected in refusal_of("pretrain", *BASE, *arguments, cwd=workspace)


def test_a_missing_gpu_is_refused(workspace):  # G04
    line = refusal_of(
        "pretrain", *BASE, "--corpus=texts", "--strategy=gpu", cwd=workspace
    )
    assert "sees no GPU" in line


def test_a_table_larger_than_the_vocabulary_is_refused(workspace):  # A15
    tokens = [*SPECIAL_TOKENS, *(f"w{number}" for number in range(995))]
    (workspace / "thousand.txt").write_text("\n".join(tokens) + "\n")
    arguments = (*BASE, "--corpus=texts", "--vocab=thousand.txt")
    line = refusal_of(
        "pretrain", *arguments, "--set=model.vocabulary_size=2000", cwd=workspace
    )
    assert "model.vocabulary_size=2000, but the vocabulary has 1000 tokens" in line


def test_records_that_do_not_fit_are_refused(workspace, finished):  # B27, B28, G07
    data = "--data=run/records-16"
    line = refusal_of(
        "pretrain", *BASE, data, "--set=data.max_length=12", cwd=workspace
    )
    assert "16" in line
    assert "12" in line
    tokens = [*SPECIAL_TOKENS, "other"]
    (workspace / "other.txt").write_text("\n".join(tokens) + "\n")
    line = refusal_of("pretrain", *BASE, data, "--vocab=other.txt", cwd=workspace)
    assert "another vocabulary" in line
    line = refusal_of(
        "pretrain", *BASE, data, "--set=training.batch_size=100000", cwd=workspace
    )
    assert "100000" in line


def test_a_damaged_shard_is_named(workspace, finished):  # B28
    shutil.copytree(workspace / "run" / "records-16", workspace / "damaged")
    shard = workspace / "damaged" / open_dataset(workspace / "damaged").shards[0].file
    content = bytearray(shard.read_bytes())
    content[100] ^= 1
    shard.write_bytes(content)
    line = refusal_of("pretrain", *BASE, "--data=damaged", cwd=workspace)
    assert shard.name in line
    shard.write_bytes(content[:-7])
    line = refusal_of("pretrain", *BASE, "--data=damaged", cwd=workspace)
    assert "cut short" in line


def test_the_directory_of_another_run_is_refused(workspace, finished):  # G07
    line = refusal_of(
        "pretrain",
        "--config=micro.yaml",
        "--corpus=texts",
        "--model_dir=run",
        "--vocab=thousand.txt",
        cwd=workspace,
    )
    assert "belongs to another run" in line


def test_resuming_can_be_forbidden(workspace, finished):
    line = refusal_of(
        "pretrain",
        "--config=micro.yaml",
        "--corpus=texts",
        "--model_dir=run",
        "--resume=never",
        cwd=workspace,
    )
    assert "holds checkpoints" in line


def test_a_model_directory_that_is_a_file_is_refused(workspace):
    (workspace / "occupied").write_text("")
    line = refusal_of(
        "pretrain",
        "--config=micro.yaml",
        "--corpus=texts",
        "--model_dir=occupied",
        cwd=workspace,
    )
    assert "cannot be written" in line
