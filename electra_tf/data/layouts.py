"""How a corpus file is laid out, and whether it is text at all, from its first bytes."""

import gzip
import json
import os
import zlib

from electra_tf.data.file_signatures import binary_kind, wide_encoding
from electra_tf.errors import DataError

_HEAD_BYTES = 1 << 18
_JSON_SUFFIXES = (".jsonl", ".ndjson")
# A text without any blank line: lines as long as this are taken for whole documents.
_DOCUMENT_CHARACTERS = 1000
_MIN_LINES_TO_JUDGE = 10


def is_compressed(path: str | os.PathLike) -> bool:
    """Whether the file's name says that it is compressed with gzip."""
    return os.fspath(path).endswith(".gz")


def find_layout(path: str | os.PathLike, layout: str, text_field: str) -> str:
    """Checks that a file is text and resolves the layout "auto".

    Args:
        path: the file.
        layout: as in `corpus.read_documents`.
        text_field: key of the text in the objects of JSON Lines.

    Returns:
        "blank_line", "line", "file" or "jsonl".

    Raises:
        DataError: the file cannot be read, is not UTF-8 text, or most of its lines are
            not JSON objects with the text field though they should be.
    """
    lines = _first_lines(path)
    if layout == "auto":
        layout = _guess(path, lines)
    if layout == "jsonl":
        _check_json(path, lines, text_field)
    return layout


def json_text(line: str, text_field: str) -> str:
    """Returns the text in a line of JSON.

    Raises:
        DataError: it is not JSON or has no such text; the message does not name the
            place.
    """
    try:
        content = json.loads(line)
    except (ValueError, RecursionError) as error:  # also numbers of 5,000 digits
        raise DataError(f"not JSON ({error})") from error
    if not isinstance(content, dict):
        raise DataError("expected a JSON object")
    if text_field not in content:
        found = ", ".join(content) or "nothing"
        raise DataError(f"no field {text_field!r} (found: {found})")
    text = content[text_field]
    if not isinstance(text, str):
        raise DataError(f"field {text_field!r} is not a string")
    if "\\u" in line and any("\ud800" <= c <= "\udfff" for c in text):
        raise DataError(f"field {text_field!r} has half of a surrogate pair")
    return text


def _first_lines(path: str | os.PathLike) -> list[str]:
    """The first lines, those that are not UTF-8 left out."""
    head = _head(path)
    encoding = wide_encoding(head)
    if encoding:
        raise DataError(
            f"{path}: {encoding} text; convert it: iconv -f {encoding} -t UTF-8"
        )
    kind = binary_kind(head)
    if kind:
        hint = "; compressed text must be named .gz" if "gzip" in kind else ""
        raise DataError(f"{path}: not text, it looks like {kind}{hint}")
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if len(head) >= _HEAD_BYTES:
        lines.pop()  # cut in the middle: it says nothing about the whole line
    return _decode(path, lines)


def _head(path: str | os.PathLike) -> bytes:
    try:
        with open(path, "rb") as raw:
            file = gzip.GzipFile(fileobj=raw) if is_compressed(path) else raw
            return file.read(_HEAD_BYTES)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"{path}: damaged or cut short, not readable as gzip ({error})"
        ) from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error


def _decode(path: str | os.PathLike, lines: list[bytes]) -> list[str]:
    decoded, invalid = [], 0
    for line in lines:
        try:
            decoded.append(line.decode("utf-8"))
        except UnicodeDecodeError:
            invalid += 1
    if invalid * 2 > len(lines) >= _MIN_LINES_TO_JUDGE:
        raise DataError(
            f"{path}: {invalid} of its first {len(lines)} lines are not UTF-8; convert "
            "it (for example: iconv -f LATIN1 -t UTF-8)"
        )
    return decoded


def _guess(path: str | os.PathLike, lines: list[str]) -> str:
    name = os.fspath(path).removesuffix(".gz")
    texts = [line.strip() for line in lines]
    full = [text for text in texts if text]
    if name.endswith(_JSON_SUFFIXES) or _is_json_object(full):
        return "jsonl"
    if name.endswith(".json"):
        raise DataError(
            f"{path}: JSON, but not an object on each line; write it as JSON Lines (with "
            "jq: jq -c '.[]'), or choose a --layout to read it as plain text"
        )
    if len(full) < 2 or "" in "\n".join(texts).strip("\n").split("\n"):
        return "blank_line"
    mean_length = sum(map(len, full)) / len(full)
    return "line" if mean_length >= _DOCUMENT_CHARACTERS else "blank_line"


def _is_json_object(texts: list[str]) -> bool:
    if not texts or not texts[0].startswith("{"):
        return False
    try:
        return isinstance(json.loads(texts[0]), dict)
    except (ValueError, RecursionError):
        return False


def _check_json(path: str | os.PathLike, lines: list[str], text_field: str) -> None:
    problems, count = [], 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        count += 1
        try:
            json_text(line, text_field)
        except DataError as error:
            problems.append((number, error))
    if len(problems) * 2 > count:
        number, error = problems[0]
        hint = "; set --text_field" if "no field" in str(error) else ""
        raise DataError(
            f"{path}, line {number}: {error}{hint} "
            f"({len(problems)} of its first {count} lines are unusable)"
        )
