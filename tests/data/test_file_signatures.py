import gzip

import pytest

from electra_tf.data.file_signatures import binary_kind, describe_file, wide_encoding


@pytest.mark.parametrize(
    ("content", "description"),
    [
        (b"", "an empty file"),
        (gzip.compress(b"text"), "gzip-compressed data"),
        (b"PAR1\x15\x04", "a parquet file"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"),
        ("text".encode("utf-16"), "UTF-16 text"),
        ("text".encode("utf-32"), "UTF-32 text"),
        ("text".encode("utf-16-le"), "binary data (or UTF-16 text)"),
        (bytes(range(128, 256)), "binary data"),
        (b"\n <!DOCTYPE html><html>", "an HTML page"),
        (b"good day\n", "plain text"),
    ],
)
def test_files_are_described_by_their_first_bytes(tmp_path, content, description):
    path = tmp_path / "file"
    path.write_bytes(content)
    assert describe_file(path).startswith(description)


def test_a_character_cut_at_the_end_of_the_head_is_still_text(tmp_path):
    path = tmp_path / "file"
    path.write_text("a" + "é" * 4000, encoding="utf-8")
    assert describe_file(path) == "plain text"


def test_a_stray_nul_does_not_make_a_text_binary():
    assert binary_kind(b"scraped\0text of some length, with a stray byte") is None
    assert wide_encoding(b"text") is None
