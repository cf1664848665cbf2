"""Timing in turns."""

import pytest

from electra_tf.benchmarks.timing import Timing, time_side_by_side


def test_subjects_take_turns_after_warming_up():
    calls = []
    subjects = {name: lambda name=name: calls.append(name) for name in ("ours", "peer")}
    timings = time_side_by_side(subjects, repeats=3, warm_up=2)
    assert calls == ["ours"] * 2 + ["peer"] * 2 + ["ours", "peer"] * 3
    assert {name: len(timing.runs) for name, timing in timings.items()} == {
        "ours": 3,
        "peer": 3,
    }
    assert all(run >= 0 for timing in timings.values() for run in timing.runs)


def test_a_timing_is_its_median_and_extremes():
    timing = Timing((3.0, 1.0, 2.0, 9.0))
    assert timing.to_json() == {
        "seconds": 2.5,
        "fastest": 1.0,
        "slowest": 9.0,
        "runs": [3.0, 1.0, 2.0, 9.0],
    }


def test_a_failure_of_a_subject_is_not_swallowed():
    with pytest.raises(ZeroDivisionError):
        time_side_by_side({"ours": lambda: 1 / 0}, repeats=1)
