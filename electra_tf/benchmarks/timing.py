"""Timing several things side by side, so that what disturbs one disturbs all."""

import dataclasses
import statistics
import time
from collections.abc import Callable, Mapping


@dataclasses.dataclass(frozen=True)
class Timing:
    """Seconds of one piece of work, measured several times.

    Attributes:
        runs: seconds of each repeat, in order.
    """

    runs: tuple[float, ...]

    @property
    def seconds(self) -> float:
        """The median."""
        return statistics.median(self.runs)

    def to_json(self) -> dict:
        """Median, extremes and all repeats."""
        return {
            "seconds": self.seconds,
            "fastest": min(self.runs),
            "slowest": max(self.runs),
            "runs": list(self.runs),
        }


def time_side_by_side(
    subjects: Mapping[str, Callable[[], object]], repeats: int, warm_up: int = 1
) -> dict[str, Timing]:
    """Times each subject `repeats` times, in turns.

    A machine that slows down for a while then slows down every subject, and the ratios
    stay what they are.

    Args:
        subjects: name to a function that returns when its work is done.
        repeats: int, how often each is timed.
        warm_up: int, runs of each that are not timed.

    Returns:
        Name to `Timing`.
    """
    for subject in subjects.values():
        for _ in range(warm_up):
            subject()
    runs = {name: [] for name in subjects}
    for _ in range(repeats):
        for name, subject in subjects.items():
            start = time.perf_counter()
            subject()
            runs[name].append(time.perf_counter() - start)
    return {name: Timing(tuple(values)) for name, values in runs.items()}
