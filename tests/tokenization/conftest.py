import json
import unicodedata

import numpy as np
import pytest

from electra_tf.tokenization.normalization import is_deleted
from electra_tf.tokenization.vocabulary import SPECIAL_TOKENS, Vocabulary

# The official basic tokenizer in its three modes, as the golden files name them.
MODES = {
    "lower": {"lowercase": True, "strip_accents": True},
    "lower_keepaccents": {"lowercase": True, "strip_accents": False},
    "nolower": {"lowercase": False, "strip_accents": False},
}


@pytest.fixture(params=MODES)
def mode(request):
    return request.param


@pytest.fixture
def rules(mode):
    return MODES[mode]


@pytest.fixture(scope="session")
def golden_tokens(golden):
    content = json.loads((golden / "tokens/tokens.json").read_text(encoding="utf-8"))
    # Another Unicode version assigns characters that this one deletes.
    content["items"] = [
        item for item in content["items"] if not _has_new_character(item["text"])
    ]
    return content


def _has_new_character(text):
    return unicodedata.unidata_version != "14.0.0" and any(
        unicodedata.ucd_3_2_0.category(c) == "Cn" and not is_deleted(c) for c in text
    )


@pytest.fixture(scope="session")
def code_point_cases(golden):
    """Per mode: texts with every code point between "a" and "b", and official words."""
    kinds = np.load(golden / "tokens/code_points.npz", allow_pickle=False)
    path = golden / "tokens/code_points_other.json"
    other = json.loads(path.read_text(encoding="utf-8"))["other"]
    return {mode: _cases(kinds[mode], other[mode]) for mode in MODES}


def _cases(kinds, other):
    kept, removed, space, own_word, changed, surrogate = 0, 1, 2, 3, 4, 255
    texts, words = [], []
    for code_point in np.flatnonzero(
        (kinds != removed) & (kinds != surrogate)
    ).tolist():
        character = chr(code_point)
        texts.append(f"a{character}b")
        words.append(
            {
                kept: [f"a{character}b"],
                space: ["a", "b"],
                own_word: ["a", character, "b"],
                changed: other.get(f"{code_point:04X}"),
            }[kinds[code_point]]
        )
    # A million characters that leave nothing can do so together.
    gone = [chr(c) for c in np.flatnonzero(kinds == removed)]
    if unicodedata.unidata_version != "14.0.0":
        gone = [c for c in gone if is_deleted(c)]  # the others are newly assigned
    for start in range(0, len(gone), 64):
        texts.append(f"a{''.join(gone[start : start + 64])}b")
        words.append(["ab"])
    assert sum(map(len, texts)) - 2 * len(texts) > 1_100_000
    return texts, words


@pytest.fixture(scope="session")
def bert_vocabulary(data_directory):
    """Vocabularies of BERT by name: "uncased" and "cased"."""
    loaded = {}

    def load(name):
        if name not in loaded:
            path = data_directory / "vocab" / f"bert_{name}_vocab.txt"
            if not path.is_file():
                pytest.skip(f"no BERT vocabulary at {path}; set ELECTRA_TF_DATA")
            loaded[name] = Vocabulary.load(path)
        return loaded[name]

    return load


@pytest.fixture(scope="session")
def small_vocabulary():
    """Some pieces, and every character of a few scripts as a word and inside one."""
    characters = (
        "abcdefghijklmnopqrstuvwxyz0123456789äß\u03c3ς\u0e01\u1100\u1161\u11a8バ"
    )
    pieces = ["the", "##ing", "ab", "##ab", "abc", "[", "]", "!", ".", "'", "#", "東"]
    inside = [f"##{character}" for character in characters]
    return Vocabulary([*SPECIAL_TOKENS, *pieces, *characters, *inside])
