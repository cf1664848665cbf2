import itertools
import unicodedata

import hypothesis
import hypothesis.strategies as st
import pytest
import tensorflow as tf

from electra_tf.tokenization.normalization import basic_tokenize
from electra_tf.tokenization.pretokenization import BasicTokenizer

_TOKENIZERS = {}
# What the rules turn on: case, sigma, marks of all orders, spaces, deleted characters,
# characters that become several.
_INTERESTING = (
    "aBΣ\u03c3ςİßéǅ\u017f'.:·\u00ad\u200b\u0301\u0327\u0345\u302e\u302f\U0001d165\U0001d16d"
    "\u0f71\u3099 \t\n\r\x01\x0b\x1c\x7f\x85\xa0\u2028\u3000\ufeff\ufffd東한각バݐﬁⅣª"
)
texts = st.text(
    st.sampled_from(_INTERESTING) | st.characters(exclude_categories=["Cs"]),
    max_size=12,
)


@pytest.fixture
def split(rules):
    key = tuple(rules.values())
    if key not in _TOKENIZERS:
        _TOKENIZERS[key] = tf.function(
            BasicTokenizer(**rules),
            input_signature=[tf.TensorSpec([None], tf.string)],
        )
    return lambda batch: _words(_TOKENIZERS[key](tf.constant(batch, tf.string)))


def _words(result):
    characters = result.code_points.flat_values.numpy().tolist()
    splits = result.code_points.row_splits.numpy().tolist()
    words = [
        "".join(map(chr, characters[start:end]))
        for start, end in itertools.pairwise(splits)
    ]
    rows = result.row_splits.numpy().tolist()
    return [words[start:end] for start, end in itertools.pairwise(rows)]


def test_every_code_point_is_treated_as_officially(mode, split, code_point_cases):
    texts, expected = code_point_cases[mode]
    got = split(texts)
    assert len(got) == len(texts)
    assert [t for t, a, b in zip(texts, got, expected, strict=True) if a != b] == []


def test_golden_strings_become_the_official_words(mode, split, golden_tokens):
    items = golden_tokens["items"]
    got = split([item["text"] for item in items])
    assert got == [item["basic_tokens"][mode] for item in items]


@hypothesis.settings(
    deadline=None,
    max_examples=300,
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture],
)
@hypothesis.given(batch=st.lists(texts, min_size=1, max_size=6))
def test_graph_equals_plain_python(split, rules, batch):
    assert split(batch) == [basic_tokenize(text, **rules) for text in batch]


def test_surviving_marks_are_put_in_canonical_order(split, rules):
    # All of category Mc, with combining classes 216, 226 and 224.
    marks = [chr(c) for c in range(0x110000) if unicodedata.category(chr(c)) == "Mc"]
    marks = [mark for mark in marks if unicodedata.combining(mark)]
    batch = [f"a{x}{y}\u0301{z}" for x in marks for y in marks for z in marks[:3]]
    assert split(batch) == [basic_tokenize(text, **rules) for text in batch]


def test_no_text_and_empty_texts(split):
    assert split([]) == []
    assert split(["", " ", "a", ""]) == [[], [], ["a"], []]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"good\xff\xfeline", ["goodline"]),
        (b"\xe4", []),
        (b"a \xf0\x9f", ["a"]),
        (b"\x80b\xc3", ["b"]),
    ],
)
def test_invalid_utf8_is_deleted(text, words, split):
    assert split([text, "next"]) == [words, ["next"]]
