"""Finding out what a path holds (cases E05, E07 and E08 of the user reports)."""

import shutil

import pytest

from electra_tf.checkpoints.assembly import Hints
from electra_tf.checkpoints.conversion import write_checkpoint
from electra_tf.checkpoints.reading import read_checkpoint
from electra_tf.errors import DataError
from electra_tf.tokenization.settings import NormalizationSettings, save_settings


@pytest.mark.parametrize("to", ["preset", "huggingface", "keras_hub"])
@pytest.mark.parametrize("cased", [True, False])
def test_the_case_of_text_goes_with_the_model(official, tmp_path, to, cased):  # E08
    checkpoint = official("two_tower", lowercase=not cased)
    write_checkpoint(checkpoint, to, tmp_path / "out")
    tokenizer = read_checkpoint(tmp_path / "out").tokenizer
    assert (tokenizer.lowercase, tokenizer.strip_accents) == (not cased, not cased)


def test_settings_beside_a_vocabulary_count(official, golden, tmp_path):
    vocab = shutil.copy(golden / "model" / "vocab.txt", tmp_path / "vocab.txt")
    settings = NormalizationSettings(lowercase=True, strip_accents=False)
    save_settings(vocab, settings)
    tokenizer = official("two_tower", vocab=tmp_path / "vocab.txt").tokenizer
    assert (tokenizer.lowercase, tokenizer.strip_accents) == (True, False)


@pytest.mark.parametrize("size", [190, 201])
def test_a_vocabulary_of_another_size_is_refused(official, vocabulary_of, size):  # E07
    with pytest.raises(DataError, match=f"has 200 rows, the vocabulary {size} tokens"):
        official("two_tower", vocab=vocabulary_of(size))


def test_presets_whose_towers_do_not_belong_together_are_refused(official, tmp_path):
    write_checkpoint(official("joint"), "preset", tmp_path / "a")
    write_checkpoint(official("joint", lowercase=False), "preset", tmp_path / "b")
    mixed = tmp_path / "mixed"
    shutil.copytree(tmp_path / "a" / "discriminator", mixed / "discriminator")
    shutil.copytree(tmp_path / "b" / "generator", mixed / "generator")
    with pytest.raises(DataError, match="different tokenizers"):
        read_checkpoint(mixed)
    shutil.rmtree(mixed / "generator")
    shutil.copytree(tmp_path / "a" / "discriminator", mixed / "generator")
    with pytest.raises(DataError, match="both of its directories hold a discriminator"):
        read_checkpoint(mixed)


def test_what_is_said_about_a_source_has_to_be_so(golden):  # E04
    source = golden / "hf" / "joint_discriminator"
    hints = {"discriminator": Hints(num_heads=8)}
    with pytest.raises(DataError, match="num_heads=4, 8 was asked for"):
        read_checkpoint(source, hints=hints)
    hints = {"discriminator": Hints(num_heads=4, letters={"H": 64})}
    with pytest.raises(DataError, match="hidden_dim=32, 64 was asked for"):
        read_checkpoint(source, hints=hints)
    with pytest.raises(
        DataError, match="head/dense/bias, which may be missing, is not"
    ):
        read_checkpoint(source, allow_missing=["head/dense/bias"])


def test_unknown_things_are_refused_with_what_they_hold(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read_checkpoint(tmp_path / "nowhere")
    (tmp_path / "cat.png").touch()
    with pytest.raises(DataError, match=r"it holds cat.png\); name a TensorFlow"):
        read_checkpoint(tmp_path)
    with pytest.raises(DataError, match="it holds a file"):
        read_checkpoint(tmp_path / "cat.png")
