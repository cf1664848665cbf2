"""The command, and the names in its JSON that scripts rely on."""

import json

import pytest

from tests.command import refusal_of, run_command

NAMES = {
    "electra_small",
    "electra_base",
    "electra_large_400k",
    "electra_large_1750k",
    "bert_small",
    "bert_base",
    "bert_large",
}


def test_a_configuration_beside_the_models_of_the_paper(tmp_path):
    result = run_command(
        "flops", "--config=small", "--all", "--format=json", cwd=tmp_path
    )
    models = json.loads(result.stdout)["models"]
    assert models.keys() >= NAMES | {"small"}
    for field in ("parameters", "train_flops", "inference_flops"):
        assert models["small"][field] == pytest.approx(models["electra_small"][field])
    assert models["small"]["parameters"] == 13_483_008


def test_a_person_sees_ratios(tmp_path):
    result = run_command(
        "flops",
        "--config=small",
        "--set=training.num_train_steps=250_000",
        cwd=tmp_path,
    )
    assert "0.25 x" in result.stdout
    assert "13,483,008" in result.stdout
    assert "electra_base" not in result.stdout


def test_bad_requests_are_refused_in_one_line(tmp_path):
    assert "smal" in refusal_of("flops", "--config=smal", cwd=tmp_path)
    assert "--format=xml" in refusal_of("flops", "--format=xml", cwd=tmp_path)
