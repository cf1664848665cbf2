import collections
import random

import pytest

from electra_tf.errors import ConfigError, DataError
from electra_tf.tokenization.coverage import coverage_report
from electra_tf.tokenization.normalization import basic_tokenize
from electra_tf.tokenization.python_wordpiece import PythonWordPieceTokenizer
from electra_tf.tokenization.vocabulary import SPECIAL_TOKENS
from electra_tf.tokenization.vocabulary_learning import (
    count_words,
    learn_from_counts,
    learn_vocabulary,
)

TEXT = "the quick brown fox, the quickest, thé lazy dog's thing is thin; 東京 " * 20


def test_words_are_counted_as_the_tokenizer_makes_them(rules, golden_tokens):
    lines = [item["text"] for item in golden_tokens["items"]] * 2
    expected = collections.Counter(
        word for line in lines for word in basic_tokenize(line, **rules)
    )
    assert count_words(lines, **rules) == expected


def test_many_distinct_words_are_counted_in_bounded_parts(monkeypatch):
    module = "electra_tf.tokenization.vocabulary_learning._MAX_DISTINCT_CHUNKS"
    expected = count_words([TEXT])
    monkeypatch.setattr(module, 3)
    assert count_words(TEXT.replace(", ", ",\n").split("\n")) == expected


def test_every_character_can_begin_and_continue_a_word():  # B30
    vocabulary = learn_vocabulary(["abc bca cab"] * 10, 300)
    characters = ["a", "b", "c", "##a", "##b", "##c"]
    assert vocabulary.tokens[:11] == [*SPECIAL_TOKENS, *characters]
    tokenizer = PythonWordPieceTokenizer(vocabulary, lowercase=True, strip_accents=True)
    assert "[UNK]" not in tokenizer.tokenize_text("aabbcc")


def test_frequent_pairs_are_merged_first():
    # "ab" occurs five times, "abc" three times, "xy" twice.
    vocabulary = learn_vocabulary(["ab ab abc abc abc xy xy"], 100)
    assert vocabulary.tokens[-3:] == ["ab", "abc", "xy"]


def test_words_of_one_character_do_not_continue_others():
    vocabulary = learn_vocabulary([TEXT], 300)
    assert {"東", "京", ",", "'", "the", "##e"} <= vocabulary.ids.keys()
    assert not {"##東", "##,", "##'"} & vocabulary.ids.keys()


def test_accents_follow_the_rules():  # B12
    assert "é" not in learn_vocabulary([TEXT], 300).ids
    assert "é" in learn_vocabulary([TEXT], 300, strip_accents=False).ids
    assert "T" in learn_vocabulary(["The The"], 300, lowercase=False).ids


def test_the_order_of_the_text_does_not_matter():
    lines = TEXT.split(" ")
    expected = learn_vocabulary(lines, 120)
    for seed in range(3):
        random.Random(seed).shuffle(lines)
        assert learn_vocabulary(lines, 120).tokens == expected.tokens


def test_size_is_an_upper_bound():
    assert len(learn_vocabulary([TEXT], 70)) == 70
    assert len(learn_vocabulary([TEXT], 5000)) < 200


def test_rare_characters_give_way_in_a_small_vocabulary():
    # No room at all for "c".
    vocabulary = learn_vocabulary(["aaa bb aaa bb aaa c"], 5 + 5, min_frequency=1)
    assert vocabulary.tokens[5:9] == ["a", "b", "##a", "##b"]
    assert "c" not in vocabulary.ids
    # Room for 45 characters, but these are worth less than the pairs of "hello".
    rare = "".join(map(chr, range(0x561, 0x580)))
    vocabulary = learn_vocabulary(["hello"] * 50_000 + [f"{rare}"] * 2, 5 + 40)
    assert "hello" in vocabulary.ids
    assert not set(rare) <= vocabulary.ids.keys()


def test_a_small_vocabulary_still_covers_the_text():
    vocabulary = learn_vocabulary(["the quick brown fox jumps over"] * 9, 5 + 50)
    assert set("thequickbrownfoxjmpsv") <= vocabulary.ids.keys()


def test_rare_pairs_and_characters_are_left_out():
    vocabulary = learn_vocabulary(["ab ab xy"], 100)
    assert vocabulary.tokens[5:] == ["a", "b", "##a", "##b", "ab"]


def test_endless_words_are_not_learned():
    vocabulary = learn_vocabulary(["\u0e01" * 150] * 5, 100)
    assert vocabulary.tokens[5:] == ["\u0e01", "##\u0e01"]


def test_a_size_without_room_is_refused():
    with pytest.raises(ConfigError, match="size 8 has no room"):
        learn_vocabulary([TEXT], 8)


@pytest.mark.parametrize("lines", [[], ["", " \t"], ["a"], ["\x00\x01"]])
def test_too_little_text_is_refused(lines):
    with pytest.raises(DataError, match="give more text"):
        learn_vocabulary(lines, 100)


def test_learned_vocabulary_covers_its_own_text():
    words = count_words([TEXT])
    report = coverage_report(learn_from_counts(words, 200), words)
    assert report.num_unknown == 0
    assert report.fertility < 1.5
