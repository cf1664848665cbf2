r"""The vocabulary file: one token a line, the line number is the id.

Lines end at "\n" only. U+2028, U+0085 or a vertical tab are tokens like any other; a
reader that takes them for line ends shifts every later id.
"""

import dataclasses
import functools
import hashlib
import os
import re
from collections.abc import Iterable, Sequence

from electra_tf.errors import DataError
from electra_tf.runtime.files import write_atomically

PAD, UNKNOWN, CLS, SEP, MASK = "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"
SPECIAL_TOKENS = (PAD, UNKNOWN, CLS, SEP, MASK)
CONTINUATION = "##"

_LEARN_ONE = "python -m electra_tf.build_vocab learns one"
_SENTENCEPIECE_LINE = re.compile(r"<unk>|<s>|\u2581|[^\t]+\t-?\d+(\.\d+)?$")


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    """An ordered set of tokens; the id of a token is its position.

    Ids of special tokens are looked up, never assumed: published vocabularies have
    them in different places.

    Args:
        tokens: the tokens in the order of their ids; any iterable of strings.

    Raises:
        DataError: no token at all, an empty one, or one given twice.

    Example:
        >>> vocabulary = Vocabulary(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"])
        >>> vocabulary.mask_id, vocabulary.id_of("a"), len(vocabulary)
        (4, 5, 6)
    """

    tokens: list[str]

    def __post_init__(self):
        object.__setattr__(self, "tokens", list(self.tokens))
        _check_tokens(self.tokens, "vocabulary")

    @classmethod
    def load(
        cls, path: str | os.PathLike, require: Sequence[str] = SPECIAL_TOKENS
    ) -> "Vocabulary":
        """Reads a vocabulary file (UTF-8; CRLF line ends and a BOM are accepted).

        Blanks around a token are dropped, as the original reader does.

        Args:
            path: the file.
            require: special tokens that must be present.

        Raises:
            DataError: the file cannot be read as a vocabulary (it says why, and in
                which line), or a required token is missing.
        """
        path = os.fspath(path)
        text = _decode(_read(path), path).removeprefix("\ufeff")
        tokens = [line.strip(" \t\r") for line in text.split("\n")]
        while tokens and not tokens[-1]:
            tokens.pop()
        _check_tokens(tokens, path)
        vocabulary = cls(tokens)
        vocabulary.require(require, source=path)
        return vocabulary

    def require(self, tokens: Iterable[str], source: str = "vocabulary") -> None:
        """Checks that `tokens` are in the vocabulary.

        Raises:
            DataError: some are not; the message lists all of them.
        """
        missing = [token for token in tokens if token not in self.ids]
        if not missing:
            return
        hint = f"add it, one token a line, or use another vocabulary ({_LEARN_ONE})"
        if any(_SENTENCEPIECE_LINE.match(token) for token in self.tokens[:100]):
            hint = (
                "it looks like a SentencePiece vocabulary; a WordPiece one is needed "
                f"({_LEARN_ONE})"
            )
        raise DataError(f"{source}: has no {', '.join(missing)}; {hint}")

    @functools.cached_property
    def ids(self) -> dict[str, int]:
        """Token to id."""
        return {token: index for index, token in enumerate(self.tokens)}

    def id_of(self, token: str) -> int:
        """Returns the id of `token`.

        Raises:
            DataError: it is not in the vocabulary.
        """
        if token not in self.ids:
            raise DataError(f"{token!r} is not in the vocabulary ({len(self)} tokens)")
        return self.ids[token]

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def pad_id(self) -> int:
        """Id of `[PAD]`."""
        return self.id_of(PAD)

    @property
    def unknown_id(self) -> int:
        """Id of `[UNK]`."""
        return self.id_of(UNKNOWN)

    @property
    def cls_id(self) -> int:
        """Id of `[CLS]`."""
        return self.id_of(CLS)

    @property
    def sep_id(self) -> int:
        """Id of `[SEP]`."""
        return self.id_of(SEP)

    @property
    def mask_id(self) -> int:
        """Id of `[MASK]`."""
        return self.id_of(MASK)

    @property
    def _content(self) -> bytes:
        return "".join(f"{token}\n" for token in self.tokens).encode("utf-8")

    @functools.cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hexadecimal) of the file that `save` writes."""
        return hashlib.sha256(self._content).hexdigest()

    def save(self, path: str | os.PathLike) -> None:
        """Writes the file: UTF-8, LF line ends, no BOM, all or nothing.

        Raises:
            WorkError: it could not be written.
        """
        write_atomically(path, self._content)


def _read(path: str) -> bytes:
    if os.path.isdir(path):
        inner = os.path.join(path, "vocab.txt")
        hint = f"use {inner}" if os.path.isfile(inner) else "name the file itself"
        raise DataError(f"{path}: is a directory, not a vocabulary file; {hint}")
    try:
        with open(path, "rb") as file:
            content = file.read()
    except FileNotFoundError as error:
        raise DataError(
            f"{path}: no such vocabulary file; correct the path ({_LEARN_ONE})"
        ) from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error
    if not content.strip():
        raise DataError(f"{path}: empty; expected one token a line ({_LEARN_ONE})")
    return content


def _decode(content: bytes, path: str) -> str:
    if b"\0" in content or content.startswith(b"\x1f\x8b"):
        raise DataError(
            f"{path}: a binary file (or UTF-16); expected UTF-8 text, one token a line"
        )
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path}, line {line}: not UTF-8 (byte 0x{content[error.start]:02x}); "
            "convert the file to UTF-8"
        ) from error


def _check_tokens(tokens: Sequence[str], source: str) -> None:
    if not tokens:
        raise DataError(f"{source}: no tokens; expected one a line")
    lines = {}
    for line, token in enumerate(tokens, start=1):
        if not token:
            raise DataError(
                f"{source}, line {line}: blank; the line number is the id, so put a "
                "token there (such as [unused0]) rather than delete the line"
            )
        first = lines.setdefault(token, line)
        if first != line:
            raise DataError(
                f"{source}, line {line}: {token!r} is already in line {first}; "
                "each token needs one id, so rename one of them (such as [unused0])"
            )
