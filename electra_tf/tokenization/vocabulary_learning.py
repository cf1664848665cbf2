"""Learning a WordPiece vocabulary from text.

Words are counted after this project's own normalisation, so that the vocabulary fits the
tokenizer exactly; merging the pairs that occur most often is the work of the Hugging
Face `tokenizers` library.
"""

import collections
import re
from collections.abc import Iterable, Iterator, Mapping

from electra_tf.errors import ConfigError, DataError
from electra_tf.tokenization.normalization import (
    basic_tokenize,
    is_cjk,
    is_punctuation,
)
from electra_tf.tokenization.vocabulary import (
    CONTINUATION,
    SPECIAL_TOKENS,
    Vocabulary,
)

# `str.split` takes these for white space, where BERT deletes them.
_DELETED_SPACES = re.compile("[\x0b\x0c\x1c-\x1f\x85]")
# No word of a language is longer, and the tokenizer's operation has a limit of 256 bytes
# a piece.
_MAX_CHARACTERS = 50
_CHARACTER_COVERAGE = 0.9995
_MAX_DISTINCT_CHUNKS = 1 << 20
_REPEATS_AT_ONCE = 1 << 12


def count_words(
    lines: Iterable[str], *, lowercase: bool = True, strip_accents: bool = True
) -> collections.Counter[str]:
    """Counts the words and punctuation characters of a text, normalised as BERT does.

    Args:
        lines: the text; white space between lines need not be there.
        lowercase: bool, as in the tokenizer.
        strip_accents: bool, as in the tokenizer.

    Returns:
        Word to number of occurrences.
    """
    words = collections.Counter()
    # A chunk between white space is normalised once, however often it occurs.
    chunks = collections.Counter()

    def normalize_chunks():
        for chunk, count in chunks.items():
            for word in basic_tokenize(
                chunk, lowercase=lowercase, strip_accents=strip_accents
            ):
                words[word] += count
        chunks.clear()

    for line in lines:
        chunks.update(_DELETED_SPACES.sub("", line).split())
        if len(chunks) > _MAX_DISTINCT_CHUNKS:
            normalize_chunks()
    normalize_chunks()
    return words


def learn_vocabulary(
    lines: Iterable[str],
    size: int,
    lowercase: bool = True,
    strip_accents: bool = True,
    min_frequency: int = 2,
) -> Vocabulary:
    """Learns a vocabulary from lines of text; see `learn_from_counts`."""
    words = count_words(lines, lowercase=lowercase, strip_accents=strip_accents)
    return learn_from_counts(words, size, min_frequency=min_frequency)


def learn_from_counts(
    words: Mapping[str, int], size: int, *, min_frequency: int = 2
) -> Vocabulary:
    """Learns a vocabulary from counted words; the same counts give the same result.

    First come the special tokens, then the alphabet: the characters that occur at least
    `min_frequency` times. Each is there as a beginning (`c`) and as a continuation
    (`##c`), so that no word made of them is unknown; punctuation and ideographs, which
    are always words of their own, as `c` only. Rare characters are left out where the
    alphabet would take more than half of the vocabulary, but 99.95 % of the text stay
    covered as long as there is room. Then come longer pieces, the most frequent first.

    Args:
        words: word to number of occurrences, as `count_words` returns.
        size: int, number of tokens wanted.
        min_frequency: int, how often a character or a pair of pieces has to occur.

    Returns:
        At most `size` tokens: fewer when the text has no more pieces to offer.

    Raises:
        ConfigError: `size` leaves no room for an alphabet.
        DataError: there is no text.
    """
    room = size - len(SPECIAL_TOKENS)
    if room < 4:
        raise ConfigError(
            f"a vocabulary of size {size} has no room for an alphabet beside the "
            f"{len(SPECIAL_TOKENS)} special tokens; ask for more, such as 30522"
        )
    alphabet = _alphabet(words, room, min_frequency)
    if not alphabet:
        raise DataError(
            f"no character occurs {min_frequency} times or more: nothing to learn a "
            "vocabulary from; give more text"
        )
    # Pieces known beforehand get fixed ids, on which the order of equally frequent
    # pairs depends.
    known = [*SPECIAL_TOKENS, *alphabet]
    learned = _learn_pieces(_usable(words, alphabet), size, min_frequency, known)
    pieces = sorted(learned.keys() - set(known), key=learned.get)
    return Vocabulary(known + pieces)


def _alphabet(words: Mapping[str, int], room: int, min_frequency: int) -> list[str]:
    """Characters as pieces, at most `room` of them, `c` and `##c` counted apart."""
    counts = collections.Counter()
    for word, count in words.items():
        for character in word:
            counts[character] += count
    enough = _CHARACTER_COVERAGE * counts.total()
    covered = 0
    beginnings, inside = [], []
    by_frequency = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    for character, count in by_frequency:
        is_word = is_cjk(character) or is_punctuation(character)
        size = len(beginnings) + len(inside) + (1 if is_word else 2)
        is_affordable = size <= room // 2 or (size <= room and covered < enough)
        if count < min_frequency or not is_affordable:
            break
        covered += count
        beginnings.append(character)
        if not is_word:
            inside.append(CONTINUATION + character)
    return sorted(beginnings) + sorted(inside)


def _usable(words: Mapping[str, int], alphabet: list[str]) -> dict[str, int]:
    """Words that can be put together from the alphabet."""
    characters = set(alphabet)
    return {
        word: count
        for word, count in words.items()
        if len(word) <= _MAX_CHARACTERS and characters.issuperset(word)
    }


def _learn_pieces(
    words: Mapping[str, int], size: int, min_frequency: int, known: list[str]
) -> dict[str, int]:
    # Imported here: only learning needs it.
    import tokenizers

    model = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    model.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    trainer = tokenizers.trainers.WordPieceTrainer(
        vocab_size=size,
        min_frequency=min_frequency,
        continuing_subword_prefix=CONTINUATION,
        special_tokens=known,
        show_progress=False,
    )
    model.train_from_iterator(_repeated(words), trainer)
    return model.get_vocab()


def _repeated(words: Mapping[str, int]) -> Iterator[str]:
    """Yields each word as often as it occurs: the library counts words itself."""
    for word, count in words.items():
        for start in range(0, count, _REPEATS_AT_ONCE):
            yield f"{word} " * min(count - start, _REPEATS_AT_ONCE)
