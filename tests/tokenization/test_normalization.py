import pytest

from electra_tf.tokenization.normalization import (
    basic_tokenize,
    is_deleted,
    is_punctuation,
    is_space,
)


def test_every_code_point_is_treated_as_officially(mode, rules, code_point_cases):
    texts, expected = code_point_cases[mode]
    wrong = [
        text
        for text, words in zip(texts, expected, strict=True)
        if basic_tokenize(text, **rules) != words
    ]
    assert wrong == []


def test_golden_strings_become_the_official_words(mode, rules, golden_tokens):
    for item in golden_tokens["items"]:
        words = basic_tokenize(item["text"], **rules)
        assert words == item["basic_tokens"][mode], item["text"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \t\r\n", []),
        ("ΟΔΟΣ ΟΔΟΣ.", ["οδος", "οδος", "."]),
        ("ΣΑ ΑΣΑ ΑΣ", ["\u03c3\u03b1", "\u03b1\u03c3\u03b1", "\u03b1ς"]),
        ("note\nbook\tis\r\nred", ["note", "book", "is", "red"]),
        ("a\x0bb\x1cc\x85d", ["abcd"]),
        ("a\u2028b\xa0c\u3000d", ["a", "b", "c", "d"]),
        ("\ud800a", ["a"]),
        ("東京is", ["東", "京", "is"]),
    ],
)
def test_words_worked_out_by_hand(text, words):
    assert basic_tokenize(text, lowercase=True, strip_accents=True) == words


def test_accents_are_stripped_from_lower_cased_text_only():
    for strip_accents in (False, True):
        words = basic_tokenize("É", lowercase=False, strip_accents=strip_accents)
        assert words == ["É"]
    assert basic_tokenize("É", lowercase=True, strip_accents=False) == ["é"]
    assert basic_tokenize("É", lowercase=True, strip_accents=True) == ["e"]


def test_classes_of_characters():
    assert [is_deleted(c) for c in "\0\ufffd\u200b\ue000\ta"] == [True] * 4 + [
        False
    ] * 2
    assert [is_space(c) for c in " \t\xa0\u2028\x0b\x85a"] == [True] * 4 + [False] * 3
    assert [is_punctuation(c) for c in "$^`~¿—a1 ©"] == [True] * 6 + [False] * 4
