"""What became of every tensor, as a table that fits on a screen."""

import collections
import re
from collections.abc import Sequence

from rich.console import Console

from electra_tf.checkpoints.assembly import Entry
from electra_tf.checkpoints.verification import Verification

_LAYER = re.compile(r"(layers?[._/]?)(\d+)")


def print_entries(entries: Sequence[Entry], console: Console) -> None:
    """Prints what became of the tensors.

    Those that differ only by their layer share a line, and so do all that were left out
    for the same reason.
    """
    groups = collections.defaultdict(list)
    for entry in entries:
        if entry.action == "skipped":
            groups["skipped", entry.reason].append(entry)
        else:
            names = (_pattern(entry.source), _pattern(entry.target))
            groups[(*names, entry.shape, entry.action, entry.reason)].append(entry)
    rows = [_row(members) for members in groups.values()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        padded = [cell.ljust(n) for cell, n in zip(row, widths, strict=True)]
        console.print("  ".join(padded).rstrip())
    counts = collections.Counter(entry.action for entry in entries)
    summary = ", ".join(f"{count} {action}" for action, count in counts.items())
    console.print(f"{len(entries)} tensors: {summary}")


def _row(members: Sequence[Entry]) -> tuple[str, str, str, str]:
    first, count = members[0], len(members)
    what = f"{first.action} x {count}" if count > 1 else first.action
    if first.action == "skipped":
        others = f" and {count - 1} more" if count > 1 else ""
        return f"{first.source}{others}", "", what, first.reason
    reason = f" ({first.reason})" if first.reason else ""
    shape = " x ".join(map(str, first.shape)) or "scalar"
    return (
        _pattern(first.source) or "-",
        shape,
        what,
        f"{_pattern(first.target)}{reason}",
    )


def print_verifications(results: Sequence[Verification], console: Console) -> None:
    """Prints what was compared and the largest difference."""
    for result in results:
        off = f": at most {result.difference:.2g} off" if result.difference else ""
        console.print(f"verified: {result.what}{off}")
        if result.note:
            console.print(f"  {result.note}")


def _pattern(name: str | None) -> str | None:
    return name and _LAYER.sub(r"\1*", name)
