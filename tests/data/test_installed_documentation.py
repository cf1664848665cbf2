import pytest

from electra_tf.data import installed_documentation
from electra_tf.data.corpus import read_documents
from electra_tf.data.installed_documentation import (
    read_installed_documentation,
    write_corpus,
)
from electra_tf.errors import DataError

SENTENCE = "This is a sentence of plain prose that is long enough to be kept."
PROSE = " ".join([SENTENCE] * 6)


@pytest.fixture
def installation(tmp_path, monkeypatch):
    """An installation in which modules can be put."""
    paths = {name: str(tmp_path / name) for name in ("stdlib", "purelib")}
    monkeypatch.setattr("sysconfig.get_paths", lambda: paths)

    def put(name, source):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source.encode() if isinstance(source, str) else source)

    return put


def _module(text, rest=""):
    return f'r"""{text}"""\n{rest}'


def _documents():
    return list(read_installed_documentation())


def test_topics_and_docstrings_become_documents(installation):
    installation(
        "stdlib/pydoc_data/topics.py",
        f'topics = {{"b": """Two. {PROSE}""", "a": """One. {PROSE}"""}}\n',
    )
    nested = (
        f'class A:\n    """Third {PROSE}"""\n    def f():\n        """{PROSE} 4."""\n'
    )
    installation("purelib/numpy/core.py", _module(f"Second: {PROSE}", nested))
    documents = _documents()
    assert [document[0].split()[0] for document in documents] == [
        "One.",
        "Two.",
        "Second:",
    ]
    assert documents[0][1:] == [SENTENCE] * 6
    assert any(line.startswith("Third") for line in documents[2])


def test_repeated_paragraphs_and_short_documents_are_left_out(installation):
    installation("stdlib/a.py", _module(PROSE))
    installation("stdlib/b.py", _module(PROSE))
    installation("stdlib/c.py", _module(SENTENCE))
    assert _documents() == [[SENTENCE] * 6]


@pytest.mark.parametrize(
    "name",
    ["stdlib/test/a.py", "stdlib/test_a.py", "stdlib/gen_a.py", "purelib/no/a.py"],
)
def test_tests_and_generated_modules_are_left_out(installation, name):
    installation(name, _module(PROSE))
    assert _documents() == []


def test_modules_that_cannot_be_parsed_are_left_out(installation):
    installation("stdlib/a.py", 'def broken(:\n    """text"""')
    installation("stdlib/b.py", b'"""\xff\xfe"""')
    installation("stdlib/c.py", b'"""text\0"""')
    installation("stdlib/d.py", '"""text"""\n' + "-" * 100_000 + "1")
    installation("stdlib/e.py", _module(PROSE))
    assert len(_documents()) == 1


def test_modules_are_never_run(installation, tmp_path):
    written = tmp_path / "written"
    installation("stdlib/a.py", _module(PROSE, f"open({str(written)!r}, 'w')\n"))
    assert len(_documents()) == 1
    assert not written.exists()


def test_markup_and_what_is_no_prose_go(installation):
    text = f"""Returns the :func:`~os.path` of ``x`` as `the docs <http://a.b>`_ say it.

    >>> examples(of, code)

    ```
    A fenced block of code, which would read as prose but for the fence.
    ```
    - {PROSE}

    x : int
        It is described in a sentence of its own here.

    =====  =====
    tables are not prose at all, and go away as they should.
    short one.
    no full stop at the end of this paragraph, which is otherwise long
    """
    installation("stdlib/a.py", _module(text))
    ((first, *others),) = _documents()
    assert first == "Returns the os.path of x as the docs say it."
    assert others[:6] == [SENTENCE] * 6
    assert "It is described in a sentence of its own here." in others
    assert "fenced" not in " ".join(others)
    assert "examples(of" not in " ".join(others)


def test_the_corpus_reads_as_it_was_written(installation, tmp_path):
    installation("stdlib/a.py", _module(f"First. {PROSE}"))
    installation("stdlib/b.py", _module(f"Second. {PROSE}"))
    path = tmp_path / "new/corpus.txt"
    write_corpus(path)
    assert list(read_documents(path)) == _documents()


def test_an_installation_without_sources_is_refused(installation, tmp_path):
    with pytest.raises(DataError, match=r"not found.*--corpus"):
        write_corpus(tmp_path / "corpus.txt")
    assert not (tmp_path / "corpus.txt").exists()


def test_the_standard_library_has_prose(monkeypatch):
    monkeypatch.setattr(installation := installed_documentation, "_PACKAGES", ())
    monkeypatch.setattr(installation, "_modules", lambda root: iter(()))
    documents = _documents()
    assert len(documents) > 50  # help topics
    assert sum(len(line) for document in documents for line in document) > 150_000


@pytest.mark.slow
def test_the_whole_corpus_is_large_and_the_same_twice(tmp_path):
    for name in ("a.txt", "b.txt"):
        write_corpus(tmp_path / name)
    content = (tmp_path / "a.txt").read_bytes()
    assert content == (tmp_path / "b.txt").read_bytes()
    assert len(content) > 5_000_000
    assert content.isascii()
    documents = list(read_documents(tmp_path / "a.txt"))
    assert len(documents) > 2000
    assert documents == _documents()
