import gzip
import json
from pathlib import Path

import pytest

from electra_tf.data import corpus
from electra_tf.data.corpus import (
    Span,
    find_files,
    read_documents,
    read_lines,
    read_span,
)
from electra_tf.errors import DataError


@pytest.fixture
def read(tmp_path):
    """Reads bytes as a corpus file; returns its documents and what was left out."""

    def read(content, name="corpus.txt", **options):
        path = tmp_path / name
        path.write_bytes(content)
        invalid = []
        documents = read_documents(
            path, on_invalid=lambda *problem: invalid.append(problem), **options
        )
        return list(documents), invalid

    return read


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(corpus, "_BLOCK_BYTES", 7)


def _touch(directory, *names):
    for name in names:
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text\n")


def test_files_are_found_by_name_directory_glob_and_list(tmp_path, monkeypatch):
    names = [
        "b.txt",
        "a.txt",
        "deep/er/c.md",
        "d.jsonl.gz",
        "deep/.hidden.txt",
        "x.bin",
    ]
    _touch(tmp_path, *names)
    monkeypatch.chdir(tmp_path)

    def found(pattern):
        return [path.as_posix() for path in find_files(pattern)]

    assert found("b.txt") == ["b.txt"]
    assert found(Path("b.txt")) == ["b.txt"]
    assert found("x.bin") == ["x.bin"]
    assert found("*.txt") == ["a.txt", "b.txt"]
    assert found("**/*.md") == ["deep/er/c.md"]
    assert found("b.txt, a.txt,*.txt") == ["a.txt", "b.txt"]
    whole = ["a.txt", "b.txt", "d.jsonl.gz", "deep/er/c.md"]
    assert found(".") == whole
    assert found(str(tmp_path)) == [str(tmp_path / name) for name in whole]


def test_names_with_blanks_commas_and_brackets_are_found(tmp_path):  # B19
    _touch(tmp_path, "my texts/one file.txt", "a, b.txt", "[1].txt")
    for name in ("my texts", "my texts/*.txt", "my texts/one file.txt"):
        assert len(find_files(tmp_path / name)) == 1
    assert find_files(tmp_path / "a, b.txt") == [tmp_path / "a, b.txt"]
    assert find_files(tmp_path / "[1].txt") == [tmp_path / "[1].txt"]


def test_a_pattern_without_files_is_refused(tmp_path):  # B19
    (tmp_path / "only a directory").mkdir()
    with pytest.raises(DataError, match=r"no file matches 'no/such/\*.txt'"):
        find_files("no/such/*.txt")
    with pytest.raises(DataError, match="no file matches"):
        find_files(tmp_path / "only*")
    with pytest.raises(DataError, match="holds no text files"):
        find_files(tmp_path)
    _touch(tmp_path, "a.txt")
    with pytest.raises(DataError, match=r"no file matches 'b\.txt'"):
        find_files(f"{tmp_path}/a.txt,b.txt")


TEXT = b"one\ntwo\n\n \t\nthree\n"


@pytest.mark.parametrize(
    "content",
    [
        TEXT,
        TEXT.removesuffix(b"\n"),
        TEXT + b"\n" * 5,
        b"\n\n" + TEXT,
        TEXT.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + TEXT,
        b"\xef\xbb\xbf\n" + TEXT,
        b"  one \ntwo\n\n\nthree",
    ],
)
def test_ends_of_lines_and_files_do_not_matter(read, small_blocks, content):  # B21
    expected = [["one", "two"], ["three"]]
    assert read(content) == (expected, [])
    assert read(gzip.compress(content), "corpus.txt.gz") == (expected, [])


def test_only_line_feeds_end_a_line(read):
    text = "a\u2028b\u2029c\x85d\x0be\x0cf\rg"
    assert read(text.encode()) == ([[text]], [])
    # Blank to Python, hence to the original, is more than ASCII.
    assert read("a\n\u3000\u2028\nb\n".encode()) == ([["a"], ["b"]], [])


def test_layouts_decide_what_a_document_is(read):
    assert read(TEXT, layout="line")[0] == [["one"], ["two"], ["three"]]
    assert read(TEXT, layout="file")[0] == [["one", "two", "three"]]
    assert read(TEXT, layout="blank_line")[0] == [["one", "two"], ["three"]]


def test_empty_files_have_no_documents(read):
    for content in (b"", b"\n \n\t\n", b"\xef\xbb\xbf"):
        assert read(content) == ([], [])
        assert read(gzip.compress(content), "corpus.txt.gz") == ([], [])
        assert read(content, "corpus.jsonl") == ([], [])


def test_invalid_bytes_are_reported_with_file_and_line(  # B22
    read, tmp_path, small_blocks
):
    documents, invalid = read(b"first\ngood\xff\xfeline\n\nlast\n")
    assert documents == [["first"], ["last"]]
    path = str(tmp_path / "corpus.txt")
    reason = "not UTF-8: byte 0xff at 4"
    assert invalid == [(path, 2, reason, r"'good\xff\xfeline'")]


def test_an_invalid_line_raises_by_default(tmp_path):  # B22
    path = tmp_path / "corpus.txt"
    path.write_bytes(b"fine\nna\xefve\n")
    with pytest.raises(
        DataError, match=r"corpus.txt, line 2: not UTF-8: byte 0xef at 2"
    ):
        list(read_documents(path))


def test_excerpts_of_long_lines_show_the_byte(read):
    _, invalid = read(b"a" * 10_000 + b"\xff" + b"b" * 10_000)
    assert len(invalid[0][3]) < 120
    assert r"a\xffb" in invalid[0][3]


def test_json_lines_have_documents_with_lines(read, tmp_path):
    objects = [{"text": "one\ntwo\n\nthree"}, {"text": ""}, {"text": "four", "id": 1}]
    content = "\n\n".join(map(json.dumps, objects)).encode()
    assert read(content, "a.jsonl") == ([["one", "two", "three"], ["four"]], [])
    body = content.replace(b'"text"', b'"body"')
    assert read(body, "a.jsonl", text_field="body")[0][1] == ["four"]


def test_unusable_json_is_reported_and_the_rest_read(read, tmp_path, small_blocks):
    content = b'{"text": "one"}\n{"body": "two"}\n{"text"\n\n{"text": "five"}\n'
    documents, invalid = read(content + b'{"text": "\xff"}\n', "a.jsonl")
    assert documents == [["one"], ["five"]]
    assert [problem[1] for problem in invalid] == [2, 3, 6]
    assert "no field 'text' (found: body)" in invalid[0][2]
    assert "not JSON" in invalid[1][2]
    assert "not UTF-8" in invalid[2][2]


def test_truncated_gzip_is_refused_with_the_line(tmp_path, monkeypatch):
    monkeypatch.setattr("electra_tf.data.layouts._HEAD_BYTES", 100)
    path = tmp_path / "corpus.txt.gz"
    lines = b"".join(b"line number %d\n" % i for i in range(200_000))
    path.write_bytes(gzip.compress(lines)[:-50_000])
    with pytest.raises(
        DataError, match=r"after line \d{5,}: the gzip data are damaged"
    ):
        list(read_documents(path))
    content = bytearray(gzip.compress(lines))
    content[-6] ^= 1  # of the checksum at the end
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"after line \d{6}: .*CRC check failed"):
        list(read_documents(path))


def test_several_gzip_members_are_one_file(read):
    content = gzip.compress(b"one\ntw") + gzip.compress(b"o\n")
    assert read(content, "corpus.txt.gz")[0] == [["one", "two"]]


def test_long_documents_come_in_parts(read, monkeypatch):
    monkeypatch.setattr(corpus, "MAX_DOCUMENT_CHARACTERS", 10)
    content = b"12345\n123456\nabc\n\nshort\n"
    assert read(content)[0] == [["12345", "123456"], ["abc"], ["short"]]


def test_read_lines_leaves_blank_ones_out(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes(TEXT)
    assert list(read_lines(path)) == ["one", "two", "three"]


def test_a_span_is_read_from_where_it_begins(tmp_path, small_blocks):
    path = tmp_path / "corpus.txt"
    path.write_bytes(b"0123\n\n6789\n\xff\n\nrest")
    invalid, counts = [], []
    span = Span(path, "blank_line", start=6, end=14, first_line=3)
    documents = read_span(
        span, on_invalid=lambda *p: invalid.append(p), on_bytes=counts.append
    )
    assert list(documents) == [["6789"]]
    assert invalid[0][1] == 4
    assert sum(counts) == 8


def test_progress_counts_the_bytes_on_disk(tmp_path):
    path = tmp_path / "corpus.txt.gz"
    path.write_bytes(gzip.compress(b"a line\n" * 500_000))
    counts = []
    list(read_span(Span(path, "line"), on_bytes=counts.append))
    assert sum(counts) == path.stat().st_size
