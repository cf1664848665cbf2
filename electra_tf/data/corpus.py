r"""Corpus files: finding them, and reading them as documents of lines.

A line ends at "\n" only: U+2028, U+0085 and their like are ordinary characters. What
cannot be read is handed to `on_invalid` with its place, and never dropped in silence.
"""

import dataclasses
import glob
import gzip
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal

from electra_tf.data.layouts import find_layout, is_compressed, json_text
from electra_tf.errors import DataError

Layout = Literal["blank_line", "line", "file", "jsonl", "auto"]
# What to do about a line that cannot be used: file, line number, reason, excerpt.
OnInvalid = Callable[[str, int, str, str], None]

TEXT_SUFFIXES = (".txt", ".text", ".md", ".rst", ".jsonl", ".ndjson")
# Longer documents are handed out in parts, so that memory stays bounded whatever the
# corpus; a part is a few hundred examples, so that next to nothing is lost at its end.
MAX_DOCUMENT_CHARACTERS = 1 << 18

_BLOCK_BYTES = 1 << 20
_EXCERPT_BYTES = 80


@dataclasses.dataclass(frozen=True)
class Span:
    """A stretch of a corpus file that cuts no document, unless a very long one.

    Attributes:
        path: the file.
        layout: resolved, never "auto".
        start: first byte.
        end: byte behind the last, `None` for the end of the file; compressed files are
            not cut.
        first_line: number of the first line, from 1.
    """

    path: Path
    layout: str
    start: int = 0
    end: int | None = None
    first_line: int = 1


def find_files(pattern: str | os.PathLike) -> list[Path]:
    """Finds the files of a corpus.

    Args:
        pattern: a file, a directory (searched recursively for the `TEXT_SUFFIXES`, also
            compressed with gzip), a glob (`**` for any depth), or several of these with
            commas between them.

    Returns:
        Paths, sorted, each once.

    Raises:
        DataError: a part of the pattern matches no file.
    """
    pattern = os.fspath(pattern)
    parts = [pattern] if os.path.exists(pattern) else pattern.split(",")
    found = {path for part in parts for path in _expand(part.strip())}
    return sorted(found)


def read_documents(
    path: str | os.PathLike,
    *,
    layout: Layout = "auto",
    text_field: str = "text",
    on_invalid: OnInvalid | None = None,
) -> Iterator[list[str]]:
    """Reads a file (plain or `.gz`) document by document.

    Args:
        path: the file; UTF-8, a byte order mark and CRLF line ends are accepted.
        layout: what a document is: "blank_line" (lines up to the next blank one),
            "line" (each line), "file" (the whole file), "jsonl" (one JSON object a
            line) or "auto" (by the suffix and the first lines).
        text_field: key of the text in the objects of "jsonl".
        on_invalid: called with (file, line number, reason, excerpt) for each line that
            is left out because it is not UTF-8 or not the JSON expected. The default
            is to raise.

    Yields:
        The lines of a document, stripped, none of them blank. Documents of over
        `MAX_DOCUMENT_CHARACTERS` come in parts.

    Raises:
        DataError: the file cannot be read or is no text, or a line is invalid and there
            is no `on_invalid`.
    """
    layout = find_layout(path, layout, text_field)
    yield from read_span(
        Span(Path(path), layout), text_field=text_field, on_invalid=on_invalid
    )


def read_lines(
    path: str | os.PathLike,
    *,
    layout: Layout = "auto",
    text_field: str = "text",
    on_invalid: OnInvalid | None = None,
) -> Iterator[str]:
    """Reads a file line by line, blank ones left out; see `read_documents`."""
    for document in read_documents(
        path, layout=layout, text_field=text_field, on_invalid=on_invalid
    ):
        yield from document


def read_span(
    span: Span,
    *,
    text_field: str = "text",
    on_invalid: OnInvalid | None = None,
    on_bytes: Callable[[int], None] = lambda count: None,
) -> Iterator[list[str]]:
    """Reads the documents of a stretch of a file; see `read_documents`.

    Args:
        span: the stretch.
        text_field: as in `read_documents`.
        on_invalid: as in `read_documents`.
        on_bytes: called now and then with the number of bytes of the file that were
            read since the last call.
    """
    report = on_invalid or _refuse
    blocks = _decoded_blocks(span, report, on_bytes)
    if span.layout == "jsonl":
        documents = _json_documents(span.path, blocks, text_field, report)
    else:
        documents = _text_documents(blocks, span.layout)
    return documents


def _expand(part: str) -> list[Path]:
    if os.path.isdir(part):
        return _files_below(part)
    if os.path.exists(part):
        return [Path(part)]
    matches = [Path(name) for name in glob.glob(part, recursive=True)]
    files = [path for path in matches if path.is_file()]
    if not files:
        raise DataError(
            f"corpus: no file matches {part!r} (working directory {os.getcwd()}); "
            "quote patterns and paths that contain spaces"
        )
    return files


def _files_below(directory: str) -> list[Path]:
    files = [
        path
        for path in Path(directory).rglob("*")
        if path.name.removesuffix(".gz").endswith(TEXT_SUFFIXES)
        and path.is_file()
        and not path.name.startswith(".")
    ]
    if not files:
        raise DataError(
            f"corpus: {directory} holds no text files ({', '.join(TEXT_SUFFIXES)}, also "
            f"with .gz); name them by a pattern such as '{directory}/**/*'"
        )
    return files


def _refuse(file: str, line: int, reason: str, excerpt: str) -> None:
    raise DataError(f"{file}, line {line}: {reason} in {excerpt}; correct the line")


def _decoded_blocks(
    span: Span, on_invalid: OnInvalid, on_bytes: Callable[[int], None]
) -> Iterator[tuple[int, list[str | None]]]:
    """Yields (number of the first line, lines); an invalid line is given as `None`."""
    line = span.first_line
    for block in _blocks(span, on_bytes):
        try:
            lines = block.decode("utf-8").split("\n")
        except UnicodeDecodeError:
            lines = _decode_singly(span.path, line, block.split(b"\n"), on_invalid)
        if line == 1 and lines[0]:
            lines[0] = lines[0].removeprefix("\ufeff")
        if lines[-1] == "":
            lines.pop()  # what follows the last line end is not a line
        yield line, lines
        line += len(lines)


def _decode_singly(
    path: Path, first_line: int, lines: list[bytes], on_invalid: OnInvalid
) -> list[str | None]:
    decoded = []
    for number, line in enumerate(lines, start=first_line):
        try:
            decoded.append(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            reason = f"not UTF-8: byte 0x{line[error.start]:02x} at {error.start}"
            around = line[max(0, error.start - 20) :][:_EXCERPT_BYTES]
            on_invalid(str(path), number, reason, repr(around)[1:])
            decoded.append(None)
    return decoded


def _blocks(span: Span, on_bytes: Callable[[int], None]) -> Iterator[bytes]:
    """Yields the bytes in blocks that end at line ends (the last one may not)."""
    lines = span.first_line - 1
    try:
        with open(span.path, "rb") as raw:
            compressed = is_compressed(span.path)
            file = gzip.GzipFile(fileobj=raw) if compressed else raw
            file.seek(span.start)
            position = 0 if compressed else span.start
            while span.end is None or file.tell() < span.end:
                wanted = _BLOCK_BYTES
                if span.end is not None:
                    wanted = min(wanted, span.end - file.tell())
                block = file.read(wanted)
                if not block:
                    break
                if not block.endswith(b"\n"):
                    block += file.readline()
                yield block
                lines += block.count(b"\n")
                on_bytes(raw.tell() - position)
                position = raw.tell()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"{span.path}, after line {lines}: the gzip data are damaged or cut short "
            f"({error}); copy the file again"
        ) from error
    except OSError as error:
        raise DataError(f"{span.path}: cannot be read ({error.strerror})") from error


def _text_documents(blocks: Iterable, layout: str) -> Iterator[list[str]]:
    document, size = [], 0
    for _, lines in blocks:
        for line in lines:
            if line is None:
                continue
            stripped = line.strip()
            if stripped:
                document.append(stripped)
                size += len(stripped)
                is_end = layout == "line" or size >= MAX_DOCUMENT_CHARACTERS
            else:
                is_end = layout == "blank_line"
            if is_end and document:
                yield document
                document, size = [], 0
    if document:
        yield document


def _json_documents(
    path: Path, blocks: Iterable, text_field: str, on_invalid: OnInvalid
) -> Iterator[list[str]]:
    for first_line, lines in blocks:
        for number, line in enumerate(lines, start=first_line):
            if line is None or not line.strip():
                continue
            try:
                text = json_text(line, text_field)
            except DataError as error:
                on_invalid(str(path), number, str(error), repr(line[:_EXCERPT_BYTES]))
                continue
            yield from _text_documents([(number, text.split("\n"))], "file")
