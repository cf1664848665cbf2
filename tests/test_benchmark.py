"""The command that measures speeds, on a model that takes no time."""

import json

import pytest

from tests.command import refusal_of, run_command
from tests.micro import micro_config


def test_train_step_reports_ratios(tmp_path):
    config = micro_config(model={"vocabulary_size": None})
    (tmp_path / "micro.yaml").write_text(config.to_yaml())
    result = run_command(
        "benchmark",
        "train_step",
        "--config=micro.yaml",
        "--set=data.max_length=16",
        "--repeats=2",
        "--json=result.json",
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    numbers = json.loads((tmp_path / "result.json").read_text())
    assert numbers["batch_size"] == 16
    assert numbers["max_length"] == 16
    assert len(numbers["step"]["runs"]) == 2
    assert numbers["matmul_utilization"] == pytest.approx(
        numbers["model_flops"]
        / numbers["step"]["seconds"]
        / numbers["matmul_flops_per_second"]
    )
    (peer,) = numbers["peers"].values()
    if "missing" in peer:
        assert peer["missing"].startswith("pip install ")
        assert "not measured" in result.stdout
    else:
        assert numbers["ratios"]
    assert max(map(len, result.stdout.splitlines())) <= 100


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((), "train_step"),
        (("train_stepp",), "train_stepp"),
        (("train_step", "build"), "build"),
        (("train_step", "--repeats=0"), "repeats"),
        (("train_step", "--config=smal"), "smal"),
        (("train_step", "--set=model.hidden_dim=250"), "num_heads"),
        (("train_step", "--set=generator.tying=none"), "generator.tying=none"),
        (("train_step", "--strategy=gpu"), "--strategy means nothing here"),
    ],
)
def test_bad_requests_are_refused_in_one_line(tmp_path, arguments, named):
    assert named in refusal_of("benchmark", *arguments, cwd=tmp_path)
