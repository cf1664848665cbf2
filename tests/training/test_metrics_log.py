import json
import math

import pytest

from electra_tf.errors import WorkError
from electra_tf.training.metrics_log import METRICS_FILE, MetricsLog, read_metrics


def test_records_are_lines_of_json(tmp_path):
    log = MetricsLog(tmp_path)
    log.write(5, {"loss": 2.0})
    log.write(10, {"loss": math.nan, "heldout_discriminator_auc": None})
    log.close()
    lines = (tmp_path / METRICS_FILE).read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"step": 5, "loss": 2.0},
        {"step": 10, "loss": None, "heldout_discriminator_auc": None},
    ]
    assert list((tmp_path / "tensorboard").iterdir())


def test_a_resumed_run_does_not_repeat_records(tmp_path):
    log = MetricsLog(tmp_path)
    for step in (5, 10, 15):
        log.write(step, {"loss": 1.0})
    log.close()
    MetricsLog(tmp_path, first_step=10).close()
    assert [record["step"] for record in read_metrics(tmp_path)] == [5, 10]


def test_a_line_that_was_cut_off_is_left_out(tmp_path):
    (tmp_path / METRICS_FILE).write_text('{"step": 5}\n{"step": 1')
    assert read_metrics(tmp_path) == [{"step": 5}]


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    log = MetricsLog(tmp_path)
    (tmp_path / METRICS_FILE).unlink()
    (tmp_path / METRICS_FILE).mkdir()
    with pytest.raises(WorkError, match=r"metrics\.jsonl: cannot be written"):
        log.write(5, {"loss": 1.0})
    log.close()
