import errno
import logging

import numpy as np
import pytest
import tensorflow as tf

from electra_tf.errors import DataError, WorkError
from electra_tf.optimization.factory import make_optimizer
from electra_tf.pretraining.pretrainer import ElectraPretrainer
from electra_tf.training.checkpoints import Checkpoints
from tests.micro import SPECIAL, batch_of, micro_config


def _pretrainer(**sections):
    config = micro_config(**sections)
    pretrainer = ElectraPretrainer(config, SPECIAL)
    pretrainer.compile(optimizer=make_optimizer(config.training))
    return pretrainer


def _train(pretrainer, steps):
    batch = {k: tf.constant(v) for k, v in batch_of([16, 12, 9, 16]).items()}
    for _ in range(steps):
        pretrainer.train_step(batch)


def _values(pretrainer):
    variables = [*pretrainer.trainable_variables, *pretrainer.optimizer.variables]
    return {v.path: v.numpy() for v in variables}


def test_a_resumed_run_is_the_uninterrupted_one(tmp_path):
    whole = _pretrainer(model={"dropout": 0.1})
    _train(whole, 5)

    first = _pretrainer(model={"dropout": 0.1})
    checkpoints = Checkpoints(tmp_path, first, keep=2)
    assert checkpoints.restore_latest() == 0
    _train(first, 3)
    checkpoints.save(3)
    second = _pretrainer(model={"dropout": 0.1}, seed=0)
    assert Checkpoints(tmp_path, second, keep=2).restore_latest() == 3
    _train(second, 2)

    expected, actual = _values(whole), _values(second)
    assert expected.keys() == actual.keys()
    for path, value in expected.items():
        np.testing.assert_array_equal(actual[path], value, err_msg=path)


def test_only_the_latest_are_kept(tmp_path):
    checkpoints = Checkpoints(tmp_path, _pretrainer(), keep=2)
    for step in (1, 2, 3):
        checkpoints.save(step)
    names = {path.stem for path in tmp_path.glob("*.index")}
    assert names == {"step-2", "step-3"}


def test_a_full_disk_leaves_the_previous_one_good(tmp_path, monkeypatch):
    pretrainer = _pretrainer()
    checkpoints = Checkpoints(tmp_path, pretrainer, keep=2)
    _train(pretrainer, 1)
    checkpoints.save(1)
    (tmp_path / "step-20.index").touch()

    def full(*args, **kwargs):
        (tmp_path / "step-2.data-00000-of-00001.tempstate").write_bytes(b"half")
        raise tf.errors.ResourceExhaustedError(None, None, "No space left on device")

    monkeypatch.setattr(checkpoints._manager, "save", full)
    with pytest.raises(WorkError, match=r"step 2 .*No space left.*step-1"):
        checkpoints.save(2)
    assert [path.name for path in tmp_path.glob("step-2*")] == ["step-20.index"]
    restored = _pretrainer()
    assert Checkpoints(tmp_path, restored, keep=2).restore_latest() == 1


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device")])
def test_errors_of_the_file_system_are_work_errors(tmp_path, monkeypatch, error):
    checkpoints = Checkpoints(tmp_path, _pretrainer(), keep=2)

    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(checkpoints._manager, "save", fail)
    with pytest.raises(WorkError, match="the last good one is: none"):
        checkpoints.save(1)


def test_an_older_checkpoint_is_used_when_the_latest_is_damaged(tmp_path, caplog):
    pretrainer = _pretrainer()
    checkpoints = Checkpoints(tmp_path, pretrainer, keep=2)
    for step in (1, 2):
        _train(pretrainer, 1)
        checkpoints.save(step)
    data = next(tmp_path.glob("step-2.data*"))
    data.write_bytes(data.read_bytes()[:100])
    caplog.set_level(logging.WARNING)
    resumed = _pretrainer()
    checkpoints = Checkpoints(tmp_path, resumed, keep=2)
    assert checkpoints.restore_latest() == 1
    assert "step-2 cannot be read" in caplog.text
    # The damaged one is replaced when the run comes to its step again.
    _train(resumed, 1)
    checkpoints.save(2)
    assert Checkpoints(tmp_path, _pretrainer(), keep=2).restore_latest() == 2


def test_checkpoints_without_their_list_are_not_overlooked(tmp_path):
    Checkpoints(tmp_path, _pretrainer(), keep=2).save(1)
    (tmp_path / "checkpoint").unlink()
    with pytest.raises(DataError, match=r"holds checkpoints \(step-1, …\)"):
        Checkpoints(tmp_path, _pretrainer(), keep=2).restore_latest()


def test_nothing_readable_is_an_error_and_not_a_new_start(tmp_path):
    pretrainer = _pretrainer()
    Checkpoints(tmp_path, pretrainer, keep=2).save(1)
    for path in tmp_path.glob("step-1.data*"):
        path.write_bytes(b"")
    with pytest.raises(DataError, match="none of the 1 checkpoints"):
        Checkpoints(tmp_path, _pretrainer(), keep=2).restore_latest()


def test_another_model_is_refused(tmp_path):
    Checkpoints(tmp_path, _pretrainer(), keep=2).save(1)
    other = _pretrainer(model={"num_layers": 2})
    with pytest.raises(DataError, match="another model"):
        Checkpoints(tmp_path, other, keep=2).restore_latest()
