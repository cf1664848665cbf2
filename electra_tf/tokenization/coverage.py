"""How well a vocabulary fits a text."""

import collections
import dataclasses
from collections.abc import Mapping

from electra_tf.tokenization.python_wordpiece import PythonWordPieceTokenizer
from electra_tf.tokenization.vocabulary import UNKNOWN, Vocabulary


@dataclasses.dataclass(frozen=True, kw_only=True)
class CoverageReport:
    """Counts of a text under a vocabulary; words include punctuation characters.

    Args:
        num_words: int, words in the text.
        num_pieces: int, tokens they become.
        num_unknown: int, words that become `[UNK]`.
        unknown_words: the most frequent of these with their counts.
    """

    num_words: int
    num_pieces: int
    num_unknown: int
    unknown_words: list[tuple[str, int]]

    @property
    def fertility(self) -> float:
        """Pieces a word; 1 would be a vocabulary that has every word whole."""
        return self.num_pieces / max(self.num_words, 1)

    @property
    def unknown_share(self) -> float:
        """Share of `[UNK]` among the tokens."""
        return self.num_unknown / max(self.num_pieces, 1)

    def to_dict(self) -> dict:
        """Everything as plain values for JSON."""
        return {
            **dataclasses.asdict(self),
            "fertility": self.fertility,
            "unknown_share": self.unknown_share,
        }

    def __str__(self):
        lines = [
            f"words            {self.num_words:,}",
            f"tokens           {self.num_pieces:,}",
            f"fertility        {self.fertility:.3f} tokens a word",
            f"[UNK]            {self.unknown_share:.4%} of the tokens",
        ]
        if self.unknown_words:
            words = ", ".join(f"{w} ({n:,})" for w, n in self.unknown_words)
            lines.append(f"unknown words    {words}")
        return "\n".join(lines)


def coverage_report(
    vocabulary: Vocabulary, words: Mapping[str, int], *, most_frequent: int = 10
) -> CoverageReport:
    """Measures a vocabulary on counted words.

    Args:
        vocabulary: a `Vocabulary` with `[UNK]`.
        words: word to number of occurrences, normalised as the vocabulary wants it
            (`vocabulary_learning.count_words`).
        most_frequent: int, how many unknown words to list.
    """
    # The words are normalised already.
    tokenizer = PythonWordPieceTokenizer(
        vocabulary, lowercase=False, strip_accents=False
    )
    num_pieces = 0
    unknown = collections.Counter()
    for word, count in words.items():
        pieces = tokenizer.split_word(word)
        num_pieces += count * len(pieces)
        if pieces == [UNKNOWN]:
            unknown[word] = count
    by_frequency = sorted(unknown.items(), key=lambda item: (-item[1], item[0]))
    return CoverageReport(
        num_words=sum(words.values()),
        num_pieces=num_pieces,
        num_unknown=unknown.total(),
        unknown_words=by_frequency[:most_frequent],
    )
