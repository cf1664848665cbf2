"""Filling in masks with a generator's preset (cases A16 and A17 of the user reports)."""

import pytest

from electra_tf.analysis.fill_mask import MaskFiller
from electra_tf.errors import DataError, UserError
from electra_tf.modeling.presets import ElectraTokenizer
from electra_tf.pretraining.pretrainer import ElectraPretrainer
from electra_tf.training.artifacts import save_towers
from tests.micro import SPECIAL, VOCABULARY, micro_config


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Directory with both presets of untrained towers."""
    path = tmp_path_factory.mktemp("run")
    pretrainer = ElectraPretrainer(micro_config(), SPECIAL)
    save_towers(pretrainer, ElectraTokenizer(VOCABULARY), path)
    return path


@pytest.fixture(scope="module")
def fill(run):
    return MaskFiller.from_preset(run / "generator")


def test_each_mask_gets_its_likeliest_tokens(fill):  # A17
    first, second = fill("w1 [MASK] w3 [MASK] w5", top_k=3)
    for guesses in (first, second):
        assert len(guesses) == 3
        probabilities = [guess.probability for guess in guesses]
        assert probabilities == sorted(probabilities, reverse=True)
        assert all(VOCABULARY[guess.token_id] == guess.token for guess in guesses)
        # An untrained generator: a little above an even share of the vocabulary.
        assert 1 / len(VOCABULARY) < probabilities[0] < 2 / len(VOCABULARY)


def test_all_guesses_add_up_to_one(fill):
    [guesses] = fill("w1 [MASK]", top_k=len(VOCABULARY))
    assert sum(guess.probability for guess in guesses) == pytest.approx(1.0, rel=1e-5)
    assert {guess.token for guess in guesses} == set(VOCABULARY)


def test_the_context_is_read(fill):
    [one], [other] = (fill(text, top_k=1) for text in ("w1 [MASK]", "w2 [MASK]"))
    assert one[0].probability != other[0].probability


def test_a_text_without_a_mask_is_refused(fill):
    with pytest.raises(UserError, match=r"no \[MASK\] to fill in: 'w1 w2'"):
        fill("w1 w2")


def test_a_text_longer_than_the_positions_is_refused(fill):
    with pytest.raises(UserError, match=r"17 tokens with .* takes 16"):
        fill(" ".join(["[MASK]"] * 15))


def test_the_discriminator_is_refused(run):  # A16
    with pytest.raises(DataError, match="generator's preset"):
        MaskFiller.from_preset(run / "discriminator")
