"""What a run reports while it goes: `metrics.jsonl` and TensorBoard."""

import json
import math
import pathlib

import tensorflow as tf

from electra_tf.errors import WorkError
from electra_tf.runtime.files import write_atomically

METRICS_FILE = "metrics.jsonl"


class MetricsLog:
    """Appends one record for each logged step.

    Args:
        directory: the run's directory.
        first_step: int, records after this step are dropped: a run that resumes from
            an earlier checkpoint repeats them.

    Raises:
        WorkError: the file cannot be written, here or later.
    """

    def __init__(self, directory: pathlib.Path, first_step: int = 0):
        self._path = pathlib.Path(directory) / METRICS_FILE
        kept = [r for r in read_metrics(directory) if r["step"] <= first_step]
        write_atomically(self._path, "".join(map(_line, kept)).encode("utf-8"))
        self._writer = tf.summary.create_file_writer(str(directory / "tensorboard"))

    def write(self, step: int, values: dict[str, float | None]) -> None:
        """Records `values` for `step`; numbers that are not finite become null."""
        known = {n: v for n, v in values.items() if v is not None and math.isfinite(v)}
        line = _line({"step": step} | dict.fromkeys(values) | known)
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line)
        except OSError as error:
            raise WorkError(
                f"{self._path}: cannot be written ({error.strerror})"
            ) from error
        with self._writer.as_default(step=step):
            for name, value in known.items():
                tf.summary.scalar(name, value)

    def close(self) -> None:
        """Flushes TensorBoard's file."""
        self._writer.close()


def read_metrics(directory: pathlib.Path) -> list[dict]:
    """Records of a run, in order; a last line that was cut off is left out."""
    path = pathlib.Path(directory) / METRICS_FILE
    if not path.is_file():
        return []
    records = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return records


def _line(record: dict) -> str:
    return json.dumps(record) + "\n"
