import gzip
import json

import pytest

from electra_tf.data.layouts import find_layout, json_text
from electra_tf.errors import DataError

LONG = "word " * 300


@pytest.fixture
def write(tmp_path):
    def write(content, name="corpus.txt"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.mark.parametrize(
    ("content", "name", "layout"),
    [
        ("one\ntwo\n\nthree\n", "a.txt", "blank_line"),
        ("one\ntwo\nthree\n", "a.txt", "blank_line"),
        ("", "a.txt", "blank_line"),
        (f"{LONG}\n{LONG}\n{LONG}\n", "a.txt", "line"),
        (f"{LONG}\n\n{LONG}\n", "a.txt", "blank_line"),
        (f"{LONG}\n", "a.txt", "blank_line"),
        (f"\n\n{LONG}\n{LONG}\n\n", "a.txt", "line"),
        ('{"text": "a"}\n', "a.jsonl", "jsonl"),
        ('{"text": "a"}\n', "a.ndjson", "jsonl"),
        ('\n{"text": "a"}\n{"text": "b"}\n', "a.txt", "jsonl"),
        ('\ufeff{"text": "a"}\n', "a.txt", "jsonl"),
        ('{"quoted", she said.\n', "a.txt", "blank_line"),
        ('{ "text": "a" }\n', "a.json", "jsonl"),
    ],
)
def test_the_layout_is_guessed_from_name_and_first_lines(write, content, name, layout):
    assert find_layout(write(content, name), "auto", "text") == layout
    compressed = write(gzip.compress(content.encode()), f"{name}.gz")
    assert find_layout(compressed, "auto", "text") == layout


def test_a_layout_that_was_asked_for_is_kept(write):
    path = write('{"text": "a"}\n', "a.jsonl")
    assert find_layout(path, "file", "text") == "file"
    assert find_layout(write(f"{LONG}\n{LONG}\n"), "blank_line", "text") == "blank_line"


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("text\n".encode("utf-16"), "a.txt", "UTF-16 text; convert it: iconv"),
        ("text\n".encode("utf-32"), "a.txt", "UTF-32 text; convert it: iconv"),
        ("text\n".encode("utf-16-le"), "a.txt", "binary data (or UTF-16"),
        (bytes(range(256)) * 100, "a.txt", "not UTF-8"),
        (b"\x00\x01\x02" * 100, "a.txt", "not text, it looks like binary"),
        (b"%PDF-1.7\n", "a.txt", "not text, it looks like a PDF"),
        (gzip.compress(b"a\n"), "a.txt", "compressed text must be named .gz"),
        (b"plain\n", "a.txt.gz", "not readable as gzip"),
        (gzip.compress(b"some text" * 99)[:-9], "a.txt.gz", "damaged or cut short"),
        ("Stra\xdfe\n".encode("latin1") * 20, "a.txt", "iconv -f LATIN1"),
        (b'[\n{"text": "a"}\n]\n', "a.json", "write it as JSON Lines"),
        (b'{\n"text": "a"\n}\n', "a.json", "write it as JSON Lines"),
        (None, "none.txt", "cannot be read (No such file"),
    ],
)
def test_what_is_not_text_is_refused(write, tmp_path, content, name, message):
    path = tmp_path / name
    if content is not None:
        write(content, name)
    with pytest.raises(DataError) as caught:
        find_layout(path, "auto", "text")
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_a_few_invalid_lines_do_not_condemn_a_file(write):
    assert find_layout(write(b"a\n" * 11 + b"\xff\n" * 9), "auto", "text") == (
        "blank_line"
    )


def test_json_without_the_field_is_refused_with_what_it_has(write):
    path = write('{"body": "a", "id": 1}\n' * 5, "a.jsonl")
    with pytest.raises(DataError, match="line 1: no field 'text'") as caught:
        find_layout(path, "auto", "text")
    assert "found: body, id" in str(caught.value)
    assert "--text_field" in str(caught.value)
    assert find_layout(path, "auto", "body") == "jsonl"


def test_a_few_unusable_objects_do_not_condemn_a_file(write):
    content = '{"text": "a"}\n' * 5 + '{"body": "b"}\nnot json\n'
    assert find_layout(write(content, "a.jsonl"), "auto", "text") == "jsonl"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("no json", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"text": ' + "1" * 5000 + "}", "not JSON"),
        ('"text"', "expected a JSON object"),
        ("{}", "no field 'text' (found: nothing)"),
        ('{"text": null}', "is not a string"),
        ('{"text": "\\ud800 alone"}', "half of a surrogate pair"),
    ],
)
def test_unusable_json_is_refused_with_the_reason(line, reason):
    with pytest.raises(DataError) as caught:
        json_text(line, "text")
    assert reason in str(caught.value)


def test_escapes_of_json_are_resolved():
    text = "a\n\u2028 \U0001f600 \x00"
    assert json_text(json.dumps({"text": text}), "text") == text
