"""What a file looks like, for messages about files that are not what they should be."""

import codecs
import os

_SIGNATURES = (
    (b"\x1f\x8b", "gzip-compressed data"),
    (b"BZh", "bzip2-compressed data"),
    (b"\xfd7zXZ\x00", "xz-compressed data"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed data"),
    (b"PK\x03\x04", "a zip archive"),
    (b"PAR1", "a parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"\x89HDF", "an HDF5 file"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"\x7fELF", "an executable"),
    (b"version https://git-lfs", "a Git LFS pointer, not the file itself"),
)
_WIDE_ENCODINGS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_HEAD_BYTES = 4096
# Stray NUL characters do occur in scraped text; every second byte is another matter.
_MAX_NUL_SHARE = 0.05


def wide_encoding(head: bytes) -> str | None:
    """Returns "UTF-16" or "UTF-32" when the bytes begin with its byte order mark."""
    return next((name for mark, name in _WIDE_ENCODINGS if head.startswith(mark)), None)


def binary_kind(head: bytes) -> str | None:
    """Returns what the first bytes of a file are if not text, else `None`."""
    for signature, name in _SIGNATURES:
        if head.startswith(signature):
            return name
    if head.count(0) > _MAX_NUL_SHARE * len(head):
        return "binary data (or UTF-16 text)"
    return None


def describe_file(path: str | os.PathLike) -> str:
    """Returns in a few words what a file looks like, for example "a PDF document"."""
    with open(path, "rb") as file:
        head = file.read(_HEAD_BYTES)
    if not head:
        return "an empty file"
    encoding = wide_encoding(head)
    if encoding:
        return f"{encoding} text"
    return binary_kind(head) or _describe_text(head)


def _describe_text(head: bytes) -> str:
    try:
        # Incremental: the end of the head may cut a character in two.
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "binary data"
    is_page = head.lstrip().lower().startswith((b"<!doctype html", b"<html"))
    return "an HTML page" if is_page else "plain text"
