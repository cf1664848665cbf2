import json
import os

import keras
import numpy as np
import pytest
import tensorflow as tf

from electra_tf.errors import ConfigError, DataError
from electra_tf.modeling.backbone import ElectraBackbone
from electra_tf.tokenization.settings import NormalizationSettings, save_settings
from electra_tf.tokenization.tokenizer import ElectraTokenizer
from electra_tf.tokenization.vocabulary import SPECIAL_TOKENS, Vocabulary

TOKENS = [*SPECIAL_TOKENS, "wo", "##rd", "!", "\u2028", "É", "##É", "é"]
WORD = [5, 6]


@pytest.fixture(scope="module")
def tokenizer():
    return ElectraTokenizer(TOKENS)


@pytest.mark.parametrize(
    ("texts", "ids"),
    [
        (["Wörd word!", "wo"], [[5, 6, 5, 6, 7], [5]]),
        ([], []),
        ([["word", "wo wo"], []], [[[5, 6], [5, 5]], []]),
        ([["word"], ["!"]], [[[5, 6]], [[7]]]),
        (np.array(["word", ""]), [[5, 6], []]),
        (np.array(["word"], dtype=object), [[5, 6]]),
        (tf.constant(["word"]), [[5, 6]]),
        (tf.ragged.constant([["word"], []], dtype=tf.string), [[[5, 6]], []]),
    ],
)
def test_texts_of_any_shape_become_ragged_ids(tokenizer, texts, ids):
    for result in (tokenizer(texts), tokenizer.tokenize(texts)):
        assert isinstance(result, tf.RaggedTensor)
        assert result.dtype == tf.int32
        assert result.to_list() == ids
    assert tokenizer.tokenize_with_offsets(texts).ids.to_list() == ids


def test_a_single_text_becomes_a_vector(tokenizer):
    for text in ("Word!", tf.constant("Word!")):
        assert tokenizer(text).numpy().tolist() == [5, 6, 7]
        pieces = tokenizer.tokenize_with_offsets(text)
        assert pieces.starts.numpy().tolist() == [0, 2, 4]
        assert pieces.ends.numpy().tolist() == [2, 4, 5]


def test_a_word_of_deleted_characters_has_no_piece(tokenizer):  # B10
    words = [["wo", "\U000fe4fa", "word"]]
    assert tokenizer(words).to_list() == [[[5], [], [5, 6]]]


def test_numbers_are_refused(tokenizer):
    with pytest.raises(ValueError, match="takes strings, not int32"):
        tokenizer(tf.constant([1]))


def test_options_reach_the_tokenizer():
    cased = ElectraTokenizer(TOKENS, lowercase=False)
    assert cased(["É é"]).to_list() == [[9, 11]]
    accented = ElectraTokenizer(TOKENS, strip_accents=False)
    assert accented(["É"]).to_list() == [[11]]
    aware = ElectraTokenizer(TOKENS, special_tokens_in_text=True)
    assert aware(["word [MASK]"]).to_list() == [[5, 6, 4]]


@pytest.mark.parametrize(
    ("ids", "text"),
    [
        ([2, 5, 6, 7, 3, 0, 0], b"word !"),
        ([[5, 6], [5]], [b"word", b"wo"]),
        (np.array([[5, 6, 0], [1, 4, 0]]), [b"word", b"[UNK] [MASK]"]),
        ([[2, 3], [0, 0]], [b"", b""]),
    ],
)
def test_ids_become_text_again(tokenizer, ids, text):
    assert np.asarray(tokenizer.detokenize(ids)).tolist() == text


def test_text_of_whole_words_survives_the_round_trip(tokenizer):
    texts = ["word wo !", "", "word"]
    decoded = tokenizer.detokenize(tokenizer(texts)).numpy().tolist()
    assert decoded == [text.encode() for text in texts]


def test_tokens_and_ids_are_looked_up(tokenizer):
    assert tokenizer.get_vocabulary() == TOKENS
    assert tokenizer.vocabulary_size() == len(TOKENS)
    assert tokenizer.id_to_token(6) == "##rd"
    assert tokenizer.token_to_id("##rd") == 6
    for call in (lambda: tokenizer.id_to_token(-1), lambda: tokenizer.id_to_token(99)):
        with pytest.raises(ValueError, match="is not in"):
            call()
    with pytest.raises(ValueError, match="is not in the vocabulary"):
        tokenizer.token_to_id("none")


def test_ids_of_special_tokens_are_looked_up():  # A14
    tokenizer = ElectraTokenizer(["[UNK]", "a", "[SEP]", "[MASK]", "[PAD]", "[CLS]"])
    assert tokenizer.unk_token_id == 0
    assert tokenizer.sep_token_id == 2
    assert tokenizer.mask_token_id == 3
    assert tokenizer.pad_token_id == 4
    assert tokenizer.cls_token_id == 5
    assert sorted(tokenizer.special_token_ids) == [0, 2, 3, 4, 5]


def test_vocabulary_without_special_tokens_is_refused():  # B02
    with pytest.raises(DataError, match=r"\[PAD\], \[CLS\], \[SEP\], \[MASK\]"):
        ElectraTokenizer(["[UNK]", "a"])


def test_vocabulary_may_be_a_file_whose_settings_must_agree(tmp_path):  # B31
    path = tmp_path / "vocab.txt"
    Vocabulary(TOKENS).save(path)
    assert ElectraTokenizer(str(path))(["word"]).to_list() == [WORD]
    save_settings(path, NormalizationSettings(strip_accents=False))
    with pytest.raises(ConfigError, match="strip_accents"):
        ElectraTokenizer(path)
    assert ElectraTokenizer(path, strip_accents=False)(["É"]).to_list() == [[11]]


def test_works_in_a_data_pipeline(tokenizer):
    texts = tf.data.Dataset.from_tensor_slices(["word!", "wörd", "wo"])
    one_by_one = [ids.numpy().tolist() for ids in texts.map(tokenizer)]
    assert one_by_one == [[5, 6, 7], [5, 6], [5]]
    (batch,) = texts.batch(3).map(tokenizer)
    assert batch.to_list() == one_by_one


def test_may_be_made_while_a_graph_is_traced():
    made = []

    def tokenize(texts):
        made.append(ElectraTokenizer(TOKENS))
        return made[0](texts)

    (batch,) = tf.data.Dataset.from_tensors(["wörd"]).map(tokenize)
    assert batch.to_list() == [WORD]
    assert made[0](["word"]).to_list() == [WORD]


def test_works_in_a_function(tokenizer):
    function = tf.function(tokenizer)
    assert function(tf.constant(["wörd", "wo"])).to_list() == [[5, 6], [5]]
    spans = tf.function(tokenizer.tokenize_with_offsets)(tf.constant(["wörd"]))
    assert spans.ends.to_list() == [[3, 5]]


def test_preset_brings_back_the_same_tokenizer(tmp_path, monkeypatch):  # B04, B12
    monkeypatch.setattr(ElectraTokenizer, "backbone_cls", ElectraBackbone)
    backbone = ElectraBackbone(
        vocabulary_size=len(TOKENS),
        num_layers=1,
        num_heads=1,
        hidden_dim=4,
        intermediate_dim=4,
    )
    backbone.save_to_preset(tmp_path)
    tokenizer = ElectraTokenizer(
        TOKENS, strip_accents=False, special_tokens_in_text=True
    )
    tokenizer.save_to_preset(tmp_path)
    assert json.loads((tmp_path / "tokenizer.json").read_text())
    saved = (tmp_path / "assets/tokenizer/vocab.txt").read_bytes()
    assert saved == "".join(f"{token}\n" for token in TOKENS).encode()
    loaded = ElectraTokenizer.from_preset(str(tmp_path))
    assert loaded.get_vocabulary() == TOKENS
    texts = ["É word [MASK]", "Wo!"]
    assert loaded(texts).to_list() == tokenizer(texts).to_list()
    assert loaded.mask_token_id == 4


@keras.saving.register_keras_serializable(package="electra_tf_tests")
class _Counter(keras.Model):
    """Counts tokens: a model with a tokenizer inside."""

    def __init__(self, tokenizer, **kwargs):
        super().__init__(**kwargs)
        self.tokenizer = tokenizer

    def call(self, texts):
        return self.tokenizer(texts).row_lengths()

    def get_config(self):
        tokenizer = keras.saving.serialize_keras_object(self.tokenizer)
        return {**super().get_config(), "tokenizer": tokenizer}

    @classmethod
    def from_config(cls, config):
        tokenizer = keras.saving.deserialize_keras_object(config.pop("tokenizer"))
        return cls(tokenizer, **config)


def test_survives_a_keras_file(tmp_path):
    model = _Counter(ElectraTokenizer(TOKENS, special_tokens_in_text=True))
    model.built = True  # there is nothing to build
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert loaded.tokenizer.get_vocabulary() == TOKENS
    assert loaded(tf.constant(["word [MASK]", ""])).numpy().tolist() == [3, 0]


def test_without_vocabulary_it_says_so(tokenizer):
    copy = keras.saving.deserialize_keras_object(
        keras.saving.serialize_keras_object(tokenizer)
    )
    with pytest.raises(ValueError, match="has no vocabulary"):
        copy(["word"])
    copy.set_vocabulary(TOKENS)
    assert copy(["word"]).to_list() == [WORD]


def test_a_configuration_cannot_name_files(tokenizer):
    config = tokenizer.get_config()
    with pytest.raises(ValueError, match="cannot be a path"):
        ElectraTokenizer.from_config({**config, "vocabulary": "/etc/passwd"})


@pytest.mark.parametrize("special_tokens_in_text", [False, True])
def test_survives_a_saved_model(tmp_path, special_tokens_in_text):
    tokenizer = ElectraTokenizer(TOKENS, special_tokens_in_text=special_tokens_in_text)
    archive = keras.export.ExportArchive()
    archive.track(tokenizer)
    archive.add_endpoint(
        "serve",
        lambda texts: tokenizer(texts).to_tensor(),
        [tf.TensorSpec([None], tf.string)],
    )
    archive.write_out(str(tmp_path), verbose=False)
    loaded = tf.saved_model.load(str(tmp_path))
    texts = ["wörd [MASK]!", "wo", ""]
    ids = loaded.serve(tf.constant(texts)).numpy()
    assert ids.tolist() == tokenizer(texts).to_tensor().numpy().tolist()
    assert os.path.getsize(tmp_path / "saved_model.pb") < 5_000_000
