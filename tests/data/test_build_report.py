import pytest

from electra_tf.data.build_report import find_warnings
from electra_tf.data.manifest import SplitCounts

GOOD = {
    "documents": 10,
    "lines": 100,
    "text_tokens": 10_000,
    "examples": 100,
    "tokens": 10_300,
    "kept_text_tokens": 10_000,
    "unknown_tokens": 10,
}


def _warnings(train=None, heldout=None, **options):
    settings = {
        "max_length": 128,
        "heldout_fraction": 0.01,
        "split_long_lines": False,
        "cut_documents": 0,
        "quarantined_lines": 0,
    }
    heldout = {"documents": 1, "examples": 1} if heldout is None else heldout
    return find_warnings(
        SplitCounts(**GOOD | (train or {})),
        SplitCounts(**heldout),
        **settings | options,
    )


def test_a_good_dataset_needs_no_warning():
    assert _warnings() == []


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"train": {"tokens": 5000}}, ["only 39%", "10 documents", "1000 tokens"]),
        ({"train": {"kept_text_tokens": 7000}}, ["30% of the text", "100 tokens"]),
        ({"train": {"unknown_tokens": 600}}, ["6.0% of the tokens are [UNK]"]),
        ({"cut_documents": 3}, ["cut 3 times"]),
        ({"quarantined_lines": 7}, ["7 lines", "quarantine.jsonl"]),
        ({"heldout": {}}, ["nothing was held out"]),
        ({"heldout": {"documents": 1, "examples": 50}}, ["33% of the examples"]),
    ],
)
def test_what_is_wrong_is_told_with_its_numbers(values, words):
    (warning,) = _warnings(**values)
    for word in words:
        assert word in warning


def test_holding_nothing_out_on_purpose_is_fine():
    assert _warnings(heldout={}, heldout_fraction=0.0) == []
