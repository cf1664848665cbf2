import pytest

from electra_tf.tokenization.coverage import coverage_report
from electra_tf.tokenization.vocabulary import Vocabulary

VOCABULARY = Vocabulary(["[UNK]", "the", "fox", "##es", "A"])


@pytest.fixture
def report():
    words = {"the": 5, "foxes": 3, "😀": 4, "glad😀": 1, "ä": 4, "A": 1}
    return coverage_report(VOCABULARY, words, most_frequent=2)


def test_counts_are_of_occurrences(report):
    assert report.num_words == 18
    assert report.num_pieces == 5 + 6 + 4 + 1 + 4 + 1
    assert report.num_unknown == 9
    assert report.fertility == pytest.approx(21 / 18)
    assert report.unknown_share == pytest.approx(9 / 21)


def test_most_frequent_unknown_words_are_listed(report):  # B09
    assert report.unknown_words == [("ä", 4), ("😀", 4)]
    assert "ä (4), 😀 (4)" in str(report)
    assert "42.8571%" in str(report)
    assert report.to_dict()["unknown_share"] == report.unknown_share


def test_no_text_at_all_is_not_an_error():
    report = coverage_report(VOCABULARY, {})
    assert (report.fertility, report.unknown_share) == (0, 0)
    assert "unknown words" not in str(report)
