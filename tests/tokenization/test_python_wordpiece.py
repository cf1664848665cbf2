import pytest

from electra_tf.errors import DataError
from electra_tf.tokenization.python_wordpiece import PythonWordPieceTokenizer
from electra_tf.tokenization.vocabulary import Vocabulary


@pytest.fixture(scope="module")
def tokenizer(small_vocabulary):
    return PythonWordPieceTokenizer(
        small_vocabulary, lowercase=True, strip_accents=True
    )


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("the", ["the"]),
        ("abcab", ["abc", "##ab"]),
        ("abing", ["ab", "##ing"]),
        ("a" * 200, ["a"] + ["##a"] * 199),
        ("a" * 201, ["[UNK]"]),
        ("ab¤", ["[UNK]"]),
    ],
)
def test_words_are_split_greedily(tokenizer, word, pieces):
    assert tokenizer.split_word(word) == pieces


def test_special_tokens_in_text_only_when_asked_for(small_vocabulary, tokenizer):
    text = "a[MASK]b [mask]"
    parts = ["[", "m", "##a", "##s", "##k", "]"]
    assert tokenizer.tokenize_text(text) == ["a", *parts, "b", *parts]
    aware = PythonWordPieceTokenizer(
        small_vocabulary,
        lowercase=True,
        strip_accents=True,
        special_tokens_in_text=True,
    )
    assert aware.tokenize_text(text) == ["a", "[MASK]", "b", *parts]


def test_vocabulary_without_unknown_token_is_refused():
    with pytest.raises(DataError, match=r"\[UNK\]"):
        PythonWordPieceTokenizer(Vocabulary(["a"]), lowercase=True, strip_accents=True)


@pytest.mark.parametrize("name", ["uncased", "cased"])
def test_golden_strings_have_the_official_pieces(name, golden_tokens, bert_vocabulary):
    for configuration, options in golden_tokens["configurations"].items():
        if options["vocab"] != name:
            continue
        tokenizer = PythonWordPieceTokenizer(
            bert_vocabulary(name),
            lowercase=options["do_lower_case"],
            strip_accents=options["strip_accents"],
        )
        for item in golden_tokens["items"]:
            pieces = tokenizer.tokenize_text(item["text"])
            assert pieces == item["tokens"][configuration][0], item["text"]
