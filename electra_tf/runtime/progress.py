"""Progress of long work: a live bar on a terminal, plain lines elsewhere."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from absl import logging

_PLAIN_INTERVAL_SECONDS = 5.0

# Called with the amount done so far, and optionally a short note.
Advance = Callable[..., None]


@contextlib.contextmanager
def progress(title: str, total: float, unit: str) -> Iterator[Advance]:
    """Shows how far a piece of work is, at which rate, and how long it will take.

    Args:
        title: string.
        total: amount of work, in `unit`.
        unit: string, for example "MB".

    Yields:
        A function `advance(done, note="")`.
    """
    if sys.stderr.isatty():
        with _bar(title, total, unit) as advance:
            yield advance
    else:
        yield _Lines(title, total, unit)


@contextlib.contextmanager
def _bar(title, total, unit):
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(f"{title} ({unit})", total=total, note="")
        yield lambda done, note="": bars.update(task, completed=done, note=note)


class _Lines:
    def __init__(self, title, total, unit):
        self._title, self._total, self._unit = title, total, unit
        self._start = self._last = time.monotonic()

    def __call__(self, done: float, note: str = "") -> None:
        now = time.monotonic()
        if now - self._last < _PLAIN_INTERVAL_SECONDS or done <= 0:
            return
        self._last = now
        elapsed = now - self._start
        logging.info(
            "%s: %.3g of %.3g %s, %.3g %s/s, %s left %s",
            self._title,
            done,
            self._total,
            self._unit,
            done / elapsed,
            self._unit,
            format_seconds(elapsed * max(self._total - done, 0) / done),
            note,
        )


def format_seconds(seconds: float) -> str:
    """`75` as "1:15", `4000` as "1:06:40"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
