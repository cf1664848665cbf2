"""Case A10 of the user reports, and what a KerasHub backbone promises."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from electra_tf.modeling.backbone import ElectraBackbone
from tests.micro import batch_of


def _backbone(**kwargs):
    size = {
        "vocabulary_size": 50,
        "num_layers": 2,
        "num_heads": 2,
        "hidden_dim": 8,
        "intermediate_dim": 16,
        "embedding_dim": 4,
        "max_sequence_length": 16,
    }
    return ElectraBackbone(**{**size, **kwargs})


def test_states_of_every_token_and_no_pooler():
    states = _backbone()(batch_of([16, 9]))
    assert states.shape == (2, 16, 8)


def test_padding_does_not_change_the_real_tokens():
    backbone = _backbone()
    long = batch_of([9], 16)
    short = {name: value[:, :9] for name, value in long.items()}
    np.testing.assert_allclose(
        backbone(long)[:, :9].numpy(), backbone(short).numpy(), atol=1e-5
    )


def test_more_tokens_than_positions_are_refused():  # A10
    backbone = _backbone()
    assert backbone(batch_of([16], 16)).shape == (1, 16, 8)
    with pytest.raises(ValueError, match=r"17.*16"):
        backbone(batch_of([17], 17))


def test_heads_must_divide_the_width():
    with pytest.raises(ValueError, match="divisible"):
        _backbone(num_heads=3)


def test_it_is_rebuilt_from_its_configuration():
    backbone = _backbone(dropout=0.3, initializer_range=0.05)
    copy = ElectraBackbone.from_config(backbone.get_config())
    assert copy.size == backbone.size


def test_a_preset_gives_back_every_bit(tmp_path):
    backbone = _backbone()
    backbone.save_to_preset(tmp_path / "preset")
    copy = ElectraBackbone.from_preset(str(tmp_path / "preset"))
    for before, after in zip(backbone.weights, copy.weights, strict=True):
        np.testing.assert_array_equal(before.numpy(), after.numpy())
    batch = batch_of([16, 9])
    np.testing.assert_array_equal(backbone(batch).numpy(), copy(batch).numpy())


def test_a_keras_file_gives_back_the_outputs(tmp_path):
    backbone = _backbone()
    backbone.save(tmp_path / "backbone.keras")
    copy = keras.models.load_model(tmp_path / "backbone.keras")
    batch = batch_of([16, 9])
    np.testing.assert_array_equal(backbone(batch).numpy(), copy(batch).numpy())


def test_it_trains_with_fit_and_dropout():
    backbone = _backbone(seed=1)
    model = keras.Sequential([keras.layers.Dense(1)])
    inputs = backbone.input
    output = model(backbone(inputs)[:, 0])
    classifier = keras.Model(inputs, output)
    classifier.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse")
    batch, labels = batch_of([16] * 8), np.arange(8.0)[:, np.newaxis] / 8
    history = classifier.fit(batch, labels, epochs=30, verbose=0).history["loss"]
    assert history[-1] < history[0] / 2


def test_it_trains_on_batches_of_various_lengths():
    backbone = _backbone(seed=1)
    output = keras.layers.Dense(1)(backbone.output[:, 0])
    model = keras.Model(backbone.input, output)
    model.compile(optimizer="sgd", loss="mse")
    spec = tf.TensorSpec((None, None), tf.int32)
    names = ("token_ids", "segment_ids", "padding_mask")
    signature = (dict.fromkeys(names, spec), tf.TensorSpec((None, 1)))

    def batches(*lengths):
        return tf.data.Dataset.from_generator(
            lambda: ((batch_of([n, n], n), np.ones((2, 1))) for n in lengths),
            output_signature=signature,
        )

    history = model.fit(batches(16, 9, 5), verbose=0).history["loss"]
    assert np.isfinite(history).all()
    with pytest.raises(tf.errors.InvalidArgumentError, match="more positions"):
        model.fit(batches(17), verbose=0)
