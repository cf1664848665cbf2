"""A corpus that is on every machine: the documentation of Python and of our libraries.

The topics of Python's help system, and the docstrings of installed modules, which are
parsed and never imported. A few rules keep what reads as prose.
"""

import ast
import inspect
import os
import re
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path

from electra_tf.errors import DataError
from electra_tf.runtime.files import write_atomically

# Packages that the project depends on, those with the best prose first.
_PACKAGES = (
    "numpy",
    "sklearn",
    "scipy",
    "matplotlib",
    "keras",
    "keras_hub",
    "tensorflow/python",
    "tensorflow_datasets/core",
    "tensorflow_text",
    "pydantic",
    "rich",
    "absl",
    "joblib",
    "jinja2",
)
_SKIPPED_DIRECTORIES = frozenset(
    ("test", "tests", "testing", "site-packages", "idlelib", "lib2to3", "_api", "v1")
)
_MIN_DOCUMENT_CHARACTERS = 300
_MIN_PARAGRAPH_WORDS = 6
_MIN_LETTER_SHARE = 0.82

_ROLE = re.compile(r":[\w:+-]+:`~?([^`<]+?)(?:\s*<[^`]*>)?`")
_LINK = re.compile(r"`([^`<]+?)\s*<[^`>]*>`_+|\[([^\]]+)\]\([^)]*\)")
_QUOTES = re.compile(r"`+|\*\*|(?<=\w)_(?=\s)")
_FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
_NOT_PROSE = re.compile(
    r"^\s*(>>>|\.\.\. ?|\.\. |[-=~^*#+|]{3,}|:\w+|@|%|\$)|\S {3,}\S|\|\s"
)
_BULLET = re.compile(r"^\s*([-*+•]|\d+[.)])\s+")
# `name : type` of the numpy style: what it is about follows in indented lines.
_PARAMETER = re.compile(r"^[\w*, .`]+ : .*[^.]$|^\w+$")
_SENTENCE_END = re.compile(r"(?<=[a-z)\"'][.!?])\s+(?=[A-Z])")
_WORD = re.compile(r"[A-Za-z]+")


def write_corpus(path: str | os.PathLike) -> None:
    """Writes the corpus: a sentence on each line, a blank line after each document.

    The order is fixed; the content depends on the versions that are installed. Takes a
    quarter of a minute and gives about ten million characters.

    Args:
        path: file to write.

    Raises:
        DataError: hardly any documentation is installed.
        WorkError: the file could not be written.
    """
    documents = list(read_installed_documentation())
    text = "\n\n".join("\n".join(document) for document in documents) + "\n"
    if len(documents) < 2:
        raise DataError(
            "Python's documentation was not found (its modules come without sources?); "
            "name a text of your own with --corpus"
        )
    write_atomically(path, text.encode("utf-8"))


def read_installed_documentation() -> Iterator[list[str]]:
    """Yields a document, as a list of sentences, for each help topic and module.

    A paragraph that occurs in several places is in the first of them only.
    """
    seen = set()
    for texts in _texts():
        paragraphs = [p for text in texts for p in _paragraphs(text)]
        new = [p for p in dict.fromkeys(paragraphs) if p not in seen]
        seen.update(new)
        if sum(map(len, new)) >= _MIN_DOCUMENT_CHARACTERS:
            yield [sentence for p in new for sentence in _SENTENCE_END.split(p)]


def _texts() -> Iterator[list[str]]:
    """Yields the raw texts of each document."""
    yield from _help_topics()
    paths = sysconfig.get_paths()
    roots = [Path(paths["stdlib"])]
    roots += [Path(paths["purelib"], package) for package in _PACKAGES]
    for root in roots:
        for path in _modules(root):
            yield _docstrings(path)


def _help_topics() -> Iterator[list[str]]:
    path = Path(sysconfig.get_paths()["stdlib"], "pydoc_data", "topics.py")
    tree = _parse(path)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Dict):
            topics = ast.literal_eval(node)
            yield from ([topics[name]] for name in sorted(topics))


def _modules(root: Path) -> Iterator[Path]:
    for directory, subdirectories, names in os.walk(root):
        subdirectories[:] = sorted(set(subdirectories) - _SKIPPED_DIRECTORIES)
        for name in sorted(names):
            # gen_…_ops.py: generated tables of arguments, a fifth of TensorFlow's.
            if (
                name.endswith(".py")
                and not name.startswith("gen_")
                and "test" not in name
            ):
                yield Path(directory, name)


def _parse(path: Path) -> ast.Module | None:
    try:
        source = path.read_bytes()
        if b'"""' not in source:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in foreign sources
            return ast.parse(source)
    # The last two are the parser's words for code that is nested too deeply.
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _docstrings(path: Path) -> list[str]:
    tree = _parse(path)
    if tree is None:
        return []
    found, waiting = [], [tree]
    while waiting:  # in the order of the source
        node = waiting.pop()
        text = ast.get_docstring(node)
        if text:
            found.append(text)
        waiting += [child for child in reversed(node.body) if _has_docstring(child)]
    return found


def _has_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)


def _paragraphs(text: str) -> Iterator[str]:
    """Yields the paragraphs of prose, each as one line without markup."""
    text = _FENCE.sub("\n", inspect.cleandoc(text))
    for block in _blocks(text.split("\n")):
        joined = " ".join(line.strip() for line in block)
        plain = _QUOTES.sub("", _LINK.sub(r"\1\2", _ROLE.sub(r"\1", joined)))
        plain = plain.removesuffix("::").strip()
        if _is_prose(plain):
            yield plain


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Joins lines to paragraphs, at blank lines, bullets and changes of indentation."""
    block, indentation = [], None
    for line in lines:
        is_text = bool(line.strip()) and not _NOT_PROSE.search(line)
        own = len(line) - len(line.lstrip())
        is_header = is_text and _PARAMETER.match(line.strip())
        is_new = _BULLET.match(line) or (indentation is not None and own < indentation)
        if block and (not is_text or is_header or is_new):
            yield block
            block, indentation = [], None
        if is_text and not is_header:
            block.append(_BULLET.sub("", line))
            indentation = own
    if block:
        yield block


def _is_prose(text: str) -> bool:
    letters = sum(map(len, _WORD.findall(text))) + text.count(" ")
    return (
        text.isascii()
        and text.endswith((".", "!", "?", ":"))
        and text.count(" ") >= _MIN_PARAGRAPH_WORDS - 1
        and letters >= _MIN_LETTER_SHARE * len(text)
    )
