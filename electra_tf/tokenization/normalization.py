"""BERT's basic tokenization in plain Python: the rules that everything else repeats.

In this order: U+0000, U+FFFD and all of category C are deleted (tab, line feed and
carriage return become spaces); ideographs are set apart; the text is split at white
space; if asked for, words are lower-cased and then lose their accents (NFD without
category Mn); every punctuation character becomes a word.

Python's `unicodedata` is the source of truth. Characters that its Unicode version does
not know count as unassigned, and are deleted.
"""

import functools
import unicodedata

_CJK_RANGES = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
_LINE_CONTROLS = "\t\n\r"
# More than most texts have; all of Unicode would take some hundred megabytes.
_CACHED_CHARACTERS = 1 << 14


def basic_tokenize(text: str, *, lowercase: bool, strip_accents: bool) -> list[str]:
    """Splits text into words and punctuation characters.

    Args:
        text: any string, lone surrogates included (they are deleted).
        lowercase: bool, lower-case as `str.lower` does.
        strip_accents: bool, remove accents; without `lowercase` it has no effect, as in
            the original.

    Returns:
        The normalised words, none of them empty.

    Example:
        >>> basic_tokenize("Héllo, 東京!", lowercase=True, strip_accents=True)
        ['hello', ',', '東', '京', '!']
    """
    words = []
    for word in _clean(text).split():
        normalized = normalize_word(
            word, lowercase=lowercase, strip_accents=strip_accents
        )
        words.extend(_split_at_punctuation(normalized))
    return words


def normalize_word(word: str, *, lowercase: bool, strip_accents: bool) -> str:
    """Lower-cases a word (or one character), then takes its accents away."""
    if not lowercase:
        return word
    word = word.lower()
    if not strip_accents or word.isascii():
        return word
    decomposed = unicodedata.normalize("NFD", word)
    return "".join(c for c in decomposed if unicodedata.category(c) != "Mn")


def is_deleted(character: str) -> bool:
    """Whether BERT drops it: category C (but for line controls) or U+FFFD."""
    if character in _LINE_CONTROLS:
        return False
    return character == "\ufffd" or unicodedata.category(character)[0] == "C"


def is_space(character: str) -> bool:
    """Whether the character separates words."""
    return character.isspace() and not is_deleted(character)


def is_cjk(character: str) -> bool:
    """Whether the character is an ideograph, which is always a word of its own."""
    code_point = ord(character)
    return any(first <= code_point <= last for first, last in _CJK_RANGES)


def is_punctuation(character: str) -> bool:
    """Whether the character is a word of its own: all ASCII symbols, and category P."""
    if character.isascii():
        return character.isprintable() and not character.isalnum() and character != " "
    return unicodedata.category(character)[0] == "P"


def _clean(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_cleaned, text))


@functools.lru_cache(_CACHED_CHARACTERS)
def _cleaned(character: str) -> str:
    if is_deleted(character):
        return ""
    if character in _LINE_CONTROLS:
        return " "
    return f" {character} " if is_cjk(character) else character


def _split_at_punctuation(word: str) -> list[str]:
    if word.isalnum():
        return [word]
    return "".join(map(_set_apart, word)).split()


@functools.lru_cache(_CACHED_CHARACTERS)
def _set_apart(character: str) -> str:
    return f" {character} " if is_punctuation(character) else character
