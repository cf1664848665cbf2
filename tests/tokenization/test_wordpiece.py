import subprocess
import sys
import unicodedata

import hypothesis
import hypothesis.strategies as st
import pytest
import tensorflow as tf

from electra_tf.errors import DataError
from electra_tf.tokenization.normalization import basic_tokenize
from electra_tf.tokenization.python_wordpiece import PythonWordPieceTokenizer
from electra_tf.tokenization.vocabulary import SPECIAL_TOKENS, Vocabulary
from electra_tf.tokenization.wordpiece import WordPieceTokenizer

CASES = [
    ("B06", "i am going to [MASK] to study math",
     [1045, 2572, 2183, 2000, 1031, 7308, 1033, 2000, 2817, 8785]),
    ("B07 line feed", "note\nbook", [3602, 2338]),
    ("B07 tab", "note\tbook", [3602, 2338]),
    ("B07 both", "note\r\nbook", [3602, 2338]),
    ("B08", "$100 + 5° © <b>", [1002, 2531, 1009, 1019, 7737, 1075, 1026, 1038, 1028]),
    ("B09", "😀 hello", [100, 7592]),
    ("B09 glued", "glad😀", [100]),
    ("B10", "ewww \U000fe4fa rome", [1041, 2860, 2860, 2860, 4199]),
    ("B11 composed", "caf\u00e9", [7668]),
    ("B11 decomposed", "cafe\u0301", [7668]),
    ("B13 sharp s", "Straße", [2358, 27807]),
    ("B13 final sigma", "ΟΔΟΣ", [1169, 29722, 15297]),
    ("B13 dotted i", "İstanbul", [9960]),
    ("B14 ideographs", "東京 is", [1879, 1755, 2003]),
    ("B14 kana", "バス", [1718, 30233]),
    ("B14 hangul", "한국어", [1469, 30006, 30021, 29991, 30014, 30020, 29999, 30008]),
    ("B15 too long", "a" * 201, [100]),
    ("B18 no-break space", "a\u00a0b", [1037, 1038]),
    ("B18 ideographic space", "a\u3000b", [1037, 1038]),
    ("B18 line separator", "a\u2028b", [1037, 1038]),
    ("B18 soft hyphen", "co\u00adop", [21859]),
    ("B18 zero-width space", "foo\u200bbar", [29379, 8237]),
]  # fmt: skip


def _ids(tokenizer, batch):
    return tokenizer.tokenize(tf.constant(batch, tf.string)).to_list()


@pytest.fixture(scope="module")
def uncased(bert_vocabulary):
    return WordPieceTokenizer(bert_vocabulary("uncased"))


@pytest.fixture(scope="module")
def small(small_vocabulary):
    return WordPieceTokenizer(small_vocabulary)


@pytest.mark.parametrize("name", ["uncased", "cased"])
def test_golden_strings_have_the_official_ids(name, golden_tokens, bert_vocabulary):
    items = golden_tokens["items"]
    batch = tf.constant([item["text"] for item in items])
    for configuration, options in golden_tokens["configurations"].items():
        if options["vocab"] != name:
            continue
        tokenizer = WordPieceTokenizer(
            bert_vocabulary(name), options["do_lower_case"], options["strip_accents"]
        )
        expected = [item["tokens"][configuration][1] for item in items]
        assert tokenizer.tokenize(batch).to_list() == expected
        assert tokenizer.tokenize_with_offsets(batch).ids.to_list() == expected


@pytest.mark.parametrize(("case", "text", "ids"), CASES, ids=[c[0] for c in CASES])
def test_cases_of_users(uncased, case, text, ids):
    # Alone, and among rows that take the other way.
    assert _ids(uncased, [text]) == [ids]
    assert _ids(uncased, ["x", text, "é"]) == [[1060], ids, [1041]]


def test_longest_word_that_is_split(uncased):  # B15
    (ids,) = _ids(uncased, ["a" * 200])
    assert len(ids) == 100
    assert ids[:2] == [13360, 11057]


def test_characters_count_and_not_bytes(small, small_vocabulary):  # B15
    thai = "\u0e01" * 40
    first, rest = small_vocabulary.ids["\u0e01"], small_vocabulary.ids["##\u0e01"]
    unknown = small_vocabulary.unknown_id
    assert _ids(small, [thai, thai * 5, thai * 5 + thai[0]]) == [
        [first] + [rest] * 39,
        [first] + [rest] * 199,
        [unknown],
    ]


@pytest.mark.parametrize("accents", [True, False])
def test_umlauts_survive_when_asked_for(accents):  # B12
    words = ["muller", "mochte", "müller", "möchte"]
    vocabulary = Vocabulary([*SPECIAL_TOKENS, *words])
    tokenizer = WordPieceTokenizer(vocabulary, True, not accents)
    ids = _ids(tokenizer, ["Müller mochte möchte"])
    assert ids == [[7, 6, 8] if accents else [5, 6, 6]]


def test_unknown_token_may_come_first():  # B17
    vocabulary = Vocabulary(["[UNK]", "a", "b", "c", "##d", "e", "f", "g"])
    assert _ids(WordPieceTokenizer(vocabulary), ["a bd x é"]) == [[1, 2, 4, 0, 5]]


@hypothesis.settings(
    deadline=None,
    max_examples=200,
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture],
)
@hypothesis.given(
    batch=st.lists(
        st.text(
            st.sampled_from("abthe1[]!.'# \t\x01éÄßΣ\u03c3각バ東\u0301\u0e01")
            | st.characters(exclude_categories=["Cs"]),
            max_size=15,
        ),
        max_size=6,
    )
)
def test_graph_equals_plain_python_and_offsets_name_the_source(
    small, small_vocabulary, batch
):
    plain = PythonWordPieceTokenizer(
        small_vocabulary, lowercase=True, strip_accents=True
    )
    expected = [plain.tokenize_text(text) for text in batch]
    assert [
        [small_vocabulary.tokens[i] for i in row] for row in _ids(small, batch)
    ] == expected
    pieces = small.tokenize_with_offsets(tf.constant(batch, tf.string))
    for text, row, *spans in zip(
        batch, expected, pieces.starts.to_list(), pieces.ends.to_list(), strict=True
    ):
        _check_spans(text.encode(), row, list(zip(*spans, strict=True)))


def _check_spans(text, pieces, spans):
    assert len(pieces) == len(spans)
    previous = 0
    for piece, (start, end) in zip(pieces, spans, strict=True):
        assert previous <= start < end <= len(text)
        previous = start
        source = "".join(
            basic_tokenize(text[start:end].decode(), lowercase=True, strip_accents=True)
        )
        # Alone, a sigma is not at the end of a word.
        body = piece.removeprefix("##").replace("ς", "\u03c3")
        assert piece == "[UNK]" or body in source.replace("ς", "\u03c3")


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_offsets_after_special_characters_and_double_spaces(uncased, form):  # B16
    text = unicodedata.normalize(form, "where  is π Br창n's café x").encode()
    pieces = uncased.tokenize_with_offsets(tf.constant([text]))
    spans = list(zip(pieces.starts[0].numpy(), pieces.ends[0].numpy(), strict=True))
    sources = [text[start:end].decode() for start, end in spans]
    assert sources[:3] == ["where", "is", "π"]
    assert unicodedata.normalize("NFC", sources[-2]) == "café"
    assert spans[-1] == (len(text) - 1, len(text))
    assert spans == sorted(spans)


def test_offsets_of_an_unknown_word_cover_the_word(small):  # B15
    batch = ["the " + "a" * 201 + " ab", "é " + "ä" * 201 + " ab", "a☃b the"]
    pieces = small.tokenize_with_offsets(tf.constant(batch))
    assert pieces.starts.to_list() == [[0, 4, 206], [0, 3, 406], [0, 6]]
    assert pieces.ends.to_list() == [[3, 205, 208], [2, 405, 408], [5, 9]]


@pytest.mark.parametrize("lowercase", [True, False])
def test_tokens_that_no_text_can_give_are_not_found(lowercase):
    tokens = ["a b", "don't", "[a]", "É", "##É", "東京", "a\x01", "[MASK]", "ab##"]
    vocabulary = Vocabulary(["[UNK]", *tokens, "a", "##a", "[", "]", "E", "東"])
    rules = {"lowercase": lowercase, "strip_accents": lowercase}
    plain = PythonWordPieceTokenizer(vocabulary, **rules)
    # Either way through the tokenizer.
    batch = [
        text
        for token in [*tokens, "[UNK]"]
        for text in (token, f"a{token}", f"{token} é", f"é {token}a")
    ]
    expected = [[vocabulary.ids[p] for p in plain.tokenize_text(t)] for t in batch]
    assert _ids(WordPieceTokenizer(vocabulary, **rules), batch) == expected


@pytest.mark.parametrize("lowercase", [True, False])
def test_both_ways_through_the_tokenizer_agree(lowercase, small_vocabulary):
    # All of ASCII and its neighbours, and the punctuation that the fast way takes.
    characters = [chr(c) for c in (*range(0x100), *range(0x2000, 0x2040))]
    texts = [t for c in characters for t in (f"ab{c}the", f"{c} Ab", f"{c}{c}ab{c}")]
    rules = {"lowercase": lowercase, "strip_accents": lowercase}
    plain = PythonWordPieceTokenizer(small_vocabulary, **rules)
    expected = [
        [small_vocabulary.ids[piece] for piece in plain.tokenize_text(text)]
        for text in texts
    ]
    tokenizer = WordPieceTokenizer(small_vocabulary, **rules)
    assert _ids(tokenizer, texts) == expected
    slow = [ids[:-1] for ids in _ids(tokenizer, [f"{text} \u00e4" for text in texts])]
    assert slow == expected


def test_no_text_and_empty_texts(small, small_vocabulary):
    assert _ids(small, []) == []
    the = small_vocabulary.ids["the"]
    assert _ids(small, ["", "the", " ", "\x01", "thé"]) == [[], [the], [], [], [the]]
    pieces = small.tokenize_with_offsets(tf.constant([], tf.string))
    assert [field.to_list() for field in pieces] == [[], [], []]


def test_vocabularies_that_cannot_be_used_are_refused():
    with pytest.raises(DataError, match=r"has no \[UNK\]"):
        WordPieceTokenizer(Vocabulary(["a"]))
    with pytest.raises(DataError, match="line 2: a token of over 256 bytes"):
        WordPieceTokenizer(Vocabulary(["[UNK]", "a" * 257]))


def test_worker_processes_need_not_load_kerashub():
    program = (
        "import sys, electra_tf.tokenization.wordpiece; "
        "sys.exit('keras_hub' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
