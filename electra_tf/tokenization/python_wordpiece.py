"""The tokenizer in plain Python, for tools and as the reference of the one in the graph.

About twenty times slower than `wordpiece`, and in need of neither TensorFlow nor a
batch. Both give the same tokens for every text.
"""

import re

from electra_tf.tokenization.normalization import basic_tokenize
from electra_tf.tokenization.vocabulary import (
    CONTINUATION,
    SPECIAL_TOKENS,
    UNKNOWN,
    Vocabulary,
)

MAX_WORD_CHARACTERS = 200


def special_tokens_in(vocabulary: Vocabulary) -> list[str]:
    """The special tokens that a vocabulary has."""
    return [token for token in SPECIAL_TOKENS if token in vocabulary.ids]


def special_tokens_pattern(vocabulary: Vocabulary) -> str:
    """Regular expression (Python's and RE2's) of the special tokens it has."""
    return "|".join(re.escape(token) for token in special_tokens_in(vocabulary))


class PythonWordPieceTokenizer:
    """Splits texts into pieces of the vocabulary as BERT does.

    Args:
        vocabulary: a `Vocabulary` with `[UNK]`.
        lowercase: bool, lower-case as Python's `str.lower` does.
        strip_accents: bool, remove accents; has no effect without `lowercase`.
        special_tokens_in_text: bool, take `[MASK]` and its like in a text for tokens;
            by default they are split as any text, which is what BERT does.

    Raises:
        DataError: the vocabulary has no `[UNK]`.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        lowercase: bool,
        strip_accents: bool,
        special_tokens_in_text: bool = False,
    ):
        vocabulary.require([UNKNOWN])
        self._ids = vocabulary.ids
        self._rules = {"lowercase": lowercase, "strip_accents": strip_accents}
        self._special = None
        if special_tokens_in_text:
            self._special = re.compile(f"({special_tokens_pattern(vocabulary)})")

    def tokenize_text(self, text: str) -> list[str]:
        """Returns the pieces of `text`, without `[CLS]` and `[SEP]`."""
        if self._special is None:
            return self._pieces(text)
        pieces = []
        for index, part in enumerate(self._special.split(text)):
            # Odd parts are what the pattern's group matched.
            pieces += [part] if index % 2 else self._pieces(part)
        return pieces

    def split_word(self, word: str) -> list[str]:
        """Splits a normalised word, always taking the longest piece that fits."""
        if len(word) > MAX_WORD_CHARACTERS:
            return [UNKNOWN]
        pieces = []
        start = 0
        while start < len(word):
            piece = self._longest_piece(word, start)
            if piece is None:
                return [UNKNOWN]
            pieces.append(piece)
            start += len(piece) - (len(CONTINUATION) if start else 0)
        return pieces

    def _pieces(self, text: str) -> list[str]:
        words = basic_tokenize(text, **self._rules)
        return [piece for word in words for piece in self.split_word(word)]

    def _longest_piece(self, word: str, start: int) -> str | None:
        prefix = CONTINUATION if start else ""
        for end in range(len(word), start, -1):
            piece = prefix + word[start:end]
            if piece in self._ids:
                return piece
        return None
