"""What KerasHub's `from_preset` does not check."""

import json
import pathlib

from electra_tf.errors import DataError


def require_task(cls: type, preset) -> None:
    """Refuses a local preset directory that does not hold a head of class `cls`.

    KerasHub would put a head of random values on the encoder without a word.

    Raises:
        DataError: names what the directory holds.
    """
    directory = pathlib.Path(str(preset))
    if not directory.is_dir():
        return
    task_file = directory / "task.json"
    found = "an encoder without a head"
    if task_file.is_file():
        found = json.loads(task_file.read_text(encoding="utf-8")).get("class_name")
    if found != cls.__name__:
        raise DataError(
            f"{directory} holds {found}, not {cls.__name__}: loading it so would leave "
            f"the head at random values. {cls.advice}"
        )
