import pytest
import tensorflow as tf

from electra_tf.tokenization.python_wordpiece import PythonWordPieceTokenizer
from electra_tf.tokenization.wordpiece import WordPieceTokenizer

TEXTS = [
    "ab[MASK]ab the [MASK]",
    "[MASK]",
    "[CLS] the [SEP][PAD]",
    "[UNK] ab",
    "é [MASK]é[MASK",
    "[mask] [[MASK]]",
    "",
    "the",
]


@pytest.fixture(scope="module")
def tokenizer(small_vocabulary):
    return WordPieceTokenizer(small_vocabulary, special_tokens_in_text=True)


def test_special_tokens_become_single_ids(tokenizer, small_vocabulary):
    plain = PythonWordPieceTokenizer(
        small_vocabulary,
        lowercase=True,
        strip_accents=True,
        special_tokens_in_text=True,
    )
    expected = [
        [small_vocabulary.ids[piece] for piece in plain.tokenize_text(text)]
        for text in TEXTS
    ]
    assert expected[1] == [small_vocabulary.mask_id]
    assert tokenizer.tokenize(tf.constant(TEXTS)).to_list() == expected
    pieces = tokenizer.tokenize_with_offsets(tf.constant(TEXTS))
    assert pieces.ids.to_list() == expected


def test_offsets_count_from_the_beginning_of_the_text(tokenizer):
    pieces = tokenizer.tokenize_with_offsets(
        tf.constant(["é ab[MASK]ab", "", "[SEP]!"])
    )
    assert pieces.starts.to_list() == [[0, 3, 5, 11], [], [0, 5]]
    assert pieces.ends.to_list() == [[2, 5, 11, 13], [], [5, 6]]


def test_masks_in_a_sentence(bert_vocabulary):  # B06, A17
    tokenizer = WordPieceTokenizer(
        bert_vocabulary("uncased"), special_tokens_in_text=True
    )
    text = "i am going to [MASK] to study math"
    ids = [1045, 2572, 2183, 2000, 103, 2000, 2817, 8785]
    assert tokenizer.tokenize(tf.constant([text])).to_list() == [ids]
