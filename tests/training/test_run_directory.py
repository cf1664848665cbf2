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
    with pytest.raises(ConfigError, match="the vocabulary"):
        directory.check(micro_config(), "def")
    other = micro_config(model={"num_layers": 2}, seed=3)
    with pytest.raises(
        ConfigError, match=r"model.num_layers \(1 there, 2 here\), seed \(0 there, 3"
    ):
        directory.check(other, "abc")
    directory.check(micro_config(model={"vocabulary_size": None}))


def test_phases_say_which_length_was_used_when(tmp_path):  # A09
    directory = RunDirectory(tmp_path)
    directory.claim(micro_config(), "abc")
    assert directory.start_phase(0, 128, "first") == 0
    assert directory.start_phase(10, 128, "first") == 0  # resumed
    assert directory.start_phase(20, 512, "second") == 20
    assert directory.start_phase(30, 512, "second") == 20
    assert [(p["first_step"], p["max_length"]) for p in directory.phases] == [
        (0, 128),
        (20, 512),
    ]
    # A run that starts anew in the same directory has only what it does itself.
    assert directory.start_phase(0, 64, "third") == 0
    assert len(directory.phases) == 1


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
