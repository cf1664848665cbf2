import json
import os

import pytest

from electra_tf.config import load_config
from electra_tf.errors import ConfigError, UserError
from electra_tf.training.run_directory import RunDirectory
from tests.micro import micro_config


def test_the_same_run_may_go_on(tmp_path):
    RunDirectory(tmp_path / "run").claim(micro_config(), "abc")
    longer = micro_config(training={"num_train_steps": 99}, data={"max_length": 12})
    RunDirectory(tmp_path / "run").claim(longer, "abc")
    saved = load_config(str(tmp_path / "run" / "config.yaml"))
    assert saved == longer


def test_another_run_is_refused_with_what_differs(tmp_path):  # G07
    directory = RunDirectory(tmp_path)
    directory.claim(micro_config(), "abc")
    directory.start_phase(0, max_length=16, batch_size=4, dataset="first")
    with pytest.raises(ConfigError, match="the vocabulary"):
        directory.check(micro_config(), "def")
    other = micro_config(model={"num_layers": 2}, seed=3)
    with pytest.raises(
        ConfigError, match=r"model.num_layers \(1 there, 2 here\), seed \(0 there, 3"
    ):
        directory.check(other, "abc")
    directory.check(micro_config(model={"vocabulary_size": None}))


def test_a_run_that_never_began_binds_nobody(tmp_path):
    RunDirectory(tmp_path).claim(micro_config(), "abc")
    other = micro_config(model={"num_layers": 2})
    RunDirectory(tmp_path).claim(other, "def")
    assert load_config(str(tmp_path / "config.yaml")) == other


def test_phases_say_what_was_used_when(tmp_path):  # A09
    directory = RunDirectory(tmp_path)
    directory.claim(micro_config(), "abc")

    def start(step, max_length, dataset, batch_size=4):
        return directory.start_phase(
            step, max_length=max_length, batch_size=batch_size, dataset=dataset
        )

    assert start(0, 128, "first") == 0
    assert start(10, 128, "first") == 0  # resumed
    assert start(20, 512, "second") == 20
    assert start(30, 512, "second") == 20
    # The place in the data is a multiple of the batch.
    assert start(40, 512, "second", batch_size=8) == 40
    assert [(p["first_step"], p["max_length"]) for p in directory.phases] == [
        (0, 128),
        (20, 512),
        (40, 512),
    ]
    # From an earlier checkpoint, on other data: what came after it is forgotten.
    assert start(10, 512, "second") == 10
    assert [p["first_step"] for p in directory.phases] == [0, 10]
    # A run that starts anew in the same directory has only what it does itself.
    assert start(0, 512, "second") == 0
    assert [p["dataset"] for p in directory.phases] == ["second"]


def test_versions_are_kept(tmp_path):
    RunDirectory(tmp_path).claim(micro_config(), "abc")
    versions = json.loads((tmp_path / "run.json").read_text())["versions"]
    assert versions["tensorflow"].startswith("2.")


def test_a_directory_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        RunDirectory(tmp_path / "file")
    if os.geteuid() != 0:  # root may write anywhere
        (tmp_path / "locked").mkdir(mode=0o500)
        with pytest.raises(UserError, match="cannot be written"):
            RunDirectory(tmp_path / "locked" / "run")
