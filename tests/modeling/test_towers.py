"""Tying, and the towers as presets (cases A08 and A16 of the user reports)."""

import numpy as np
import pytest

from electra_tf.errors import DataError
from electra_tf.modeling.masked_lm import ElectraMaskedLM
from electra_tf.modeling.presets import ElectraTokenizer, copy_weights
from electra_tf.modeling.replaced_token_detector import ElectraReplacedTokenDetector
from electra_tf.pretraining.pretrainer import ElectraPretrainer
from electra_tf.training.artifacts import save_towers
from tests.micro import SPECIAL, VOCABULARY, batch_of, micro_config


def _pretrainer(**generator):
    return ElectraPretrainer(micro_config(generator=generator), SPECIAL)


def test_tied_embeddings_are_one_block():
    tied, own = _pretrainer(), _pretrainer(tying="none")
    assert tied.generator.encoder.embeddings is tied.discriminator.encoder.embeddings
    assert own.generator.encoder.embeddings is not own.discriminator.encoder.embeddings
    assert len(own.trainable_variables) > len(tied.trainable_variables)


def test_tying_everything_leaves_one_encoder_and_two_heads():
    towers = _pretrainer(tying="all")
    assert towers.generator.encoder is towers.discriminator.encoder


@pytest.mark.parametrize("tying", ["embeddings", "none", "all"])
def test_towers_are_saved_as_models_of_their_own(tying, tmp_path):
    pretrainer = _pretrainer(tying=tying)
    save_towers(pretrainer, ElectraTokenizer(VOCABULARY), tmp_path)
    batch = batch_of([16, 9])
    inputs = [batch[n] for n in ("token_ids", "segment_ids", "padding_mask")]

    detector = ElectraReplacedTokenDetector.from_preset(str(tmp_path / "discriminator"))
    expected = pretrainer.discriminator(*inputs)
    np.testing.assert_array_equal(detector(batch).numpy(), expected.numpy())

    positions = np.array([[1, 2], [3, 4]], "int32")
    masked_lm = ElectraMaskedLM.from_preset(str(tmp_path / "generator"))
    expected = pretrainer.generator(*inputs, positions)
    actual = masked_lm({**batch, "mask_positions": positions})
    np.testing.assert_array_equal(actual.numpy(), expected.numpy())

    tokenizer = ElectraTokenizer.from_preset(str(tmp_path / "discriminator"))
    assert tokenizer.get_vocabulary() == VOCABULARY


def test_a_discriminator_does_not_fill_in_masks(tmp_path):  # A16
    save_towers(_pretrainer(), ElectraTokenizer(VOCABULARY), tmp_path)
    with pytest.raises(DataError, match="generator's preset"):
        ElectraMaskedLM.from_preset(str(tmp_path / "discriminator"))
    with pytest.raises(DataError, match="head at random"):
        ElectraReplacedTokenDetector.from_preset(str(tmp_path / "generator"))


def test_weights_of_another_size_are_refused():  # A08
    small, large = _pretrainer(), _pretrainer(hidden_dim_fraction=1.0)
    with pytest.raises(ValueError, match=r"kernel has shape \(8, 4\), .* \(8, 8\)"):
        copy_weights(small.generator.encoder, large.generator.encoder)
