"""Exact checkpoints of a run: every weight, every slot, the step."""

import pathlib
import re
import shutil

import tensorflow as tf
from absl import logging

from electra_tf.errors import DataError, WorkError

_NAME = "step"


class Checkpoints:
    """Saves and restores a pretrainer and its optimizer.

    Variables are stored under their paths, so that a checkpoint does not depend on how
    the code is organised. A file is complete before its name appears, and older ones are
    deleted after that: whatever happens during a save, the previous one stays good.

    Args:
        directory: where the checkpoints are; created if need be.
        pretrainer: compiled `ElectraPretrainer`.
        keep: int, how many of the latest to keep.
    """

    def __init__(self, directory: pathlib.Path, pretrainer, keep: int):
        optimizer = pretrainer.optimizer
        self._optimizer = optimizer
        self._checkpoint = tf.train.Checkpoint(
            model=_by_path(pretrainer.trainable_variables),
            optimizer=_by_path(optimizer.variables),
        )
        self._directory = pathlib.Path(directory)
        # Of the step that is known to be on disk, whole.
        self._current: int | None = None
        self._manager = tf.train.CheckpointManager(
            self._checkpoint, str(directory), max_to_keep=keep, checkpoint_name=_NAME
        )

    def save(self, step: int) -> None:
        """Saves the state after `step` updates.

        Raises:
            WorkError: it could not be written; says which checkpoint is the last good one.
        """
        if step == self._current:
            return
        previous = self._manager.latest_checkpoint
        try:
            self._manager.save(checkpoint_number=step)
            self._current = step
        except (tf.errors.OpError, OSError) as error:
            self._remove_fragments(step)
            last = pathlib.Path(previous).name if previous else "none"
            raise WorkError(
                f"the checkpoint of step {step} could not be written to "
                f"{self._directory} ({_reason(error)}); the last good one is: "
                f"{last}. Make room and run the same command to go on from there"
            ) from error

    def restore_latest(self) -> int:
        """Restores the latest readable checkpoint.

        Returns:
            The number of updates it had seen; 0 if there is no checkpoint.

        Raises:
            DataError: there are checkpoints, and none can be used.
        """
        paths = list(reversed(self._manager.checkpoints))
        for path in paths:
            try:
                self._checkpoint.restore(path).assert_consumed()
            # TensorFlow's reader raises an IndexError where a file ends too soon.
            except (tf.errors.OpError, OSError, IndexError) as error:
                logging.warning("%s cannot be read (%s)", path, _reason(error))
            except (AssertionError, ValueError) as error:
                raise DataError(
                    f"{path} is a checkpoint of another model: "
                    f"{str(error).splitlines()[0]}"
                ) from error
            else:
                self._current = self._step()
                return self._current
        if not paths and (found := sorted(self._directory.glob("*.index"))):
            raise DataError(
                f"{self._directory} holds checkpoints ({found[0].stem}, …), but the file "
                "'checkpoint', which lists them, is missing or damaged; restore it, or "
                "move the directory away to start anew"
            )
        if paths:
            raise DataError(
                f"none of the {len(paths)} checkpoints in {self._directory} can be read; "
                "move them away to start anew"
            )
        return 0

    def _step(self) -> int:
        return int(tf.convert_to_tensor(self._optimizer.iterations.value))

    def _remove_fragments(self, step: int) -> None:
        shutil.rmtree(self._directory / f"{_NAME}-{step}_temp", ignore_errors=True)
        for path in self._directory.glob(f"{_NAME}-{step}.*"):
            path.unlink(missing_ok=True)


def _reason(error: Exception) -> str:
    """What the system said, without the names of TensorFlow's operations."""
    text = str(getattr(error, "message", error)).split("\n")[0]
    return re.sub(r"\{\{.*?\}\} ?| ?\[Op:\w+\]", "", text).split("; ")[-1]


def _by_path(variables) -> dict[str, tf.Variable]:
    named = {variable.path: variable.value for variable in variables}
    assert len(named) == len(variables), "two variables have the same path"
    return named
