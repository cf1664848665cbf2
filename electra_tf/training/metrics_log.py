"""What a run reports while it goes: `metrics.jsonl` and TensorBoard."""

import json
import math
import pathlib

import tensorflow as tf

METRICS_FILE = "metrics.jsonl"


class MetricsLog:
    """Appends one record for each logged step.

    Args:
        directory: the run's directory.
        first_step: int, records from this step on are dropped: a run that resumes from
            an earlier checkpoint repeats them.
    """

    def __init__(self, directory: pathlib.Path, first_step: int = 0):
        self._path = pathlib.Path(directory) / METRICS_FILE
        kept = [r for r in read_metrics(directory) if r["step"] <= first_step]
        self._path.write_text("".join(_line(r) for r in kept), encoding="utf-8")
        self._writer = tf.summary.create_file_writer(str(directory / "tensorboard"))

    def write(self, step: int, values: dict[str, float]) -> None:
        """Records `values` for `step`; numbers that are not finite become null."""
        record = {"step": step} | {
            name: value if math.isfinite(value) else None
            for name, value in values.items()
        }
        with self._path.open("a", encoding="utf-8") as file:
            file.write(_line(record))
        with self._writer.as_default(step=step):
            for name, value in values.items():
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
