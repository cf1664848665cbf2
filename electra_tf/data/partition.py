"""Cuts a corpus into parts of about equal size, each the work of one shard.

The cuts depend on the contents of the files alone, never on who does the work.
"""

import bisect
import hashlib
import itertools
import os
from collections.abc import Sequence
from pathlib import Path

from electra_tf.data.corpus import MAX_DOCUMENT_CHARACTERS, Span
from electra_tf.data.layouts import find_layout, is_compressed
from electra_tf.data.manifest import Source
from electra_tf.errors import DataError

# A second or two of work: small corpora stay in one process, large ones balance well.
_BYTES_PER_PART = 16 << 20
_MAX_PARTS = 1024
# Usual for English text; only balance depends on it.
_COMPRESSION_RATIO = 3
# How far to look for a document boundary before cutting at any line: only documents
# that are read in parts anyway are cut.
_SEARCH_BYTES = MAX_DOCUMENT_CHARACTERS
_BLOCK_BYTES = 1 << 20


def partition(
    files: Sequence[Path], *, layout: str, text_field: str, num_parts: int | None = None
) -> tuple[list[list[Span]], list[Source]]:
    """Cuts files into parts at document boundaries, very long documents at line ends.

    Args:
        files: the corpus.
        layout: as in `corpus.read_documents`.
        text_field: likewise.
        num_parts: how many parts are wanted; small or compressed files may give fewer.
            By default one for every 16 MB of text.

    Returns:
        The parts, each a list of `Span`s, none empty; and one `Source` a file.

    Raises:
        DataError: a file cannot be read or is not text.
    """
    layouts = [find_layout(path, layout, text_field) for path in files]
    weights = [_text_bytes(path) for path in files]
    total = sum(weights)
    if num_parts is None:
        num_parts = min(_MAX_PARTS, max(1, -(-total // _BYTES_PER_PART)))
    # Where in the whole text each part should begin.
    starts = [-(-total * part // num_parts) for part in range(num_parts)]
    parts = [[] for _ in range(num_parts)]
    sources, position = [], 0
    for path, resolved, weight in zip(files, layouts, weights, strict=True):
        # The part that the file begins in, and those that begin inside the file.
        first = bisect.bisect_right(starts, position) - 1
        end = bisect.bisect_left(starts, position + weight)
        is_whole = resolved == "file" and weight < MAX_DOCUMENT_CHARACTERS
        inner = [] if is_whole or is_compressed(path) else starts[first + 1 : end]
        try:
            spans, digest = _spans(path, resolved, [s - position for s in inner])
            size = os.stat(path).st_size
        except OSError as error:
            raise DataError(f"{path}: cannot be read ({error.strerror})") from error
        for part, span in enumerate(spans, start=first):
            if span.end is None or span.end > span.start:
                parts[part].append(span)
        # Names that are not UTF-8 cannot be written to dataset.json.
        name = path.name.encode("utf-8", "backslashreplace").decode("utf-8")
        sources.append(Source(name=name, bytes=size, sha256=digest, layout=resolved))
        position += weight
    return [part for part in parts if part], sources


def _text_bytes(path: Path) -> int:
    size = os.stat(path).st_size
    return size * _COMPRESSION_RATIO if is_compressed(path) else size


def _spans(path: Path, layout: str, wanted: list[int]) -> tuple[list[Span], str]:
    with open(path, "rb") as file:
        cuts = [_next_boundary(file, offset, layout) for offset in wanted]
        file.seek(0)
        digest = hashlib.sha256()
        spans, line = [], 1
        for start, end in itertools.pairwise([0, *cuts, None]):
            spans.append(Span(path, layout, start, end, line))
            line += _consume(file, start, end, digest)
    return spans, digest.hexdigest()


def _next_boundary(file, offset: int, layout: str) -> int:
    """The first byte at or after `offset` at which a document may begin."""
    # From one byte earlier, so that a line that begins at `offset` is not skipped.
    file.seek(offset - 1)
    file.readline()
    if layout != "blank_line":
        return file.tell()
    earliest = file.tell()
    while file.tell() < offset + _SEARCH_BYTES:
        line = file.readline()
        if not line:
            return file.tell()
        if not line.strip():
            return file.tell()
    return earliest


def _consume(file, start: int, end: int | None, digest) -> int:
    """Feeds a stretch to `digest` and counts its line ends."""
    line_ends = 0
    position = start
    while end is None or position < end:
        size = _BLOCK_BYTES if end is None else min(_BLOCK_BYTES, end - position)
        block = file.read(size)
        if not block:
            break
        digest.update(block)
        line_ends += block.count(b"\n")
        position += len(block)
    return line_ends
