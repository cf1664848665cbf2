import gzip
import hashlib
import itertools

import hypothesis
import pytest
from hypothesis import strategies as st

from electra_tf.data import partition as partition_module
from electra_tf.data.corpus import read_span
from electra_tf.data.partition import partition
from electra_tf.errors import DataError


@pytest.fixture
def write(tmp_path):
    def write(*contents):
        paths = [tmp_path / f"{i:02}.txt" for i in range(len(contents))]
        for path, content in zip(paths, contents, strict=True):
            path.write_bytes(content)
        return paths

    return write


def _cut(paths, num_parts, layout="blank_line"):
    return partition(paths, layout=layout, text_field="text", num_parts=num_parts)


def _documents(part):
    return [document for span in part for document in read_span(span)]


BLOCKS = st.lists(
    st.sampled_from([b"a\n", b"bc d\n", b"\n", b" \n", b"x" * 30 + b"\n"])
)


@hypothesis.given(
    files=st.lists(BLOCKS, min_size=1, max_size=4), parts=st.integers(1, 9)
)
@hypothesis.settings(
    deadline=None,
    max_examples=100,
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture],
)
@pytest.mark.parametrize("layout", ["blank_line", "line", "file"])
def test_parts_together_are_the_corpus(write, layout, files, parts):
    paths = write(*(b"".join(lines) for lines in files))
    whole, _ = _cut(paths, 1, layout)
    cut, sources = _cut(paths, parts, layout)
    assert len(cut) <= parts
    assert all(cut)
    expected = _documents(whole[0]) if whole else []
    assert [d for part in cut for d in _documents(part)] == expected
    for span in (span for part in cut for span in part):
        before = span.path.read_bytes()[: span.start]
        assert span.first_line == 1 + before.count(b"\n")
    for path, source in zip(paths, sources, strict=True):
        assert source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_parts_are_about_equal(write):
    small, large = b"a line of text\n\n" * 500, b"b line of text\n\n" * 9500
    parts, _ = _cut(write(small, large), 10)
    sizes = [sum(len(line) for d in _documents(p) for line in d) for p in parts]
    assert len(parts) == 10
    assert max(sizes) - min(sizes) < 200


def test_compressed_files_are_not_cut(write, tmp_path):
    path = tmp_path / "text.txt.gz"
    path.write_bytes(gzip.compress(b"one\n\n" * 1000))
    plain = write(b"two\n\n" * 1000)
    parts, sources = _cut([*plain, path], 5)
    spans = [span for part in parts for span in part if span.path == path]
    assert [(span.start, span.end) for span in spans] == [(0, None)]
    assert sources[1].bytes == path.stat().st_size


def test_a_text_without_blank_lines_is_cut_at_lines(write, monkeypatch):
    monkeypatch.setattr(partition_module, "_SEARCH_BYTES", 50)
    parts, _ = _cut(write(b"".join(b"line %d\n" % i for i in range(1000))), 3)
    lines = list(itertools.chain(*(d for part in parts for d in _documents(part))))
    assert len(parts) == 3
    assert lines == [f"line {i}" for i in range(1000)]


def test_the_number_of_parts_follows_the_size(write, monkeypatch):
    monkeypatch.setattr(partition_module, "_BYTES_PER_PART", 1000)
    monkeypatch.setattr(partition_module, "_MAX_PARTS", 8)
    assert len(_cut(write(b"text\n\n" * 10), None)[0]) == 1
    assert len(_cut(write(b"text\n\n" * 500), None)[0]) == 3
    assert len(_cut(write(b"text\n\n" * 9999), None)[0]) == 8


def test_names_that_are_not_utf8_are_escaped(tmp_path):
    path = tmp_path / "caf\udce9.txt"
    path.write_bytes(b"text\n")
    _, sources = _cut([path], 1)
    assert sources[0].name == r"caf\udce9.txt"


def test_unreadable_files_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"none.txt: cannot be read"):
        _cut([tmp_path / "none.txt"], 1)
