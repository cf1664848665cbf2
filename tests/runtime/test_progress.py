import pytest

from electra_tf.runtime import progress


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0, "0:00"), (75, "1:15"), (4000, "1:06:40")]
)
def test_seconds_are_shown_as_on_a_clock(seconds, expected):
    assert progress.format_seconds(seconds) == expected


def test_lines_without_a_terminal(monkeypatch, caplog):
    monkeypatch.setattr(progress, "_PLAIN_INTERVAL_SECONDS", 0.0)
    caplog.set_level("INFO")
    with progress.progress("reading", 10.0, "MB") as advance:
        advance(5.0, note="half")
    assert "reading: 5 of 10 MB" in caplog.text
    assert "left half" in caplog.text
