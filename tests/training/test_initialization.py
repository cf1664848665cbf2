"""Starting from trained weights, also with another vocabulary."""

import logging

import numpy as np
import pytest

from electra_tf.checkpoints.conversion import write_checkpoint
from electra_tf.checkpoints.reading import read_checkpoint
from electra_tf.errors import ConfigError, DataError
from electra_tf.modeling.presets import ElectraTokenizer
from electra_tf.pretraining.pretrainer import ElectraPretrainer
from electra_tf.tokenization.vocabulary import Vocabulary
from electra_tf.training.artifacts import save_towers
from electra_tf.training.initialization import initialize
from tests.micro import SPECIAL, VOCABULARY, micro_config

WORDS = "encoder/embeddings/word_embeddings"


def _pretrainer(seed, tokens=VOCABULARY, **sections):
    sections.setdefault("model", {})["vocabulary_size"] = len(tokens)
    config = micro_config(seed=seed, **sections)
    return config, ElectraPretrainer(config, SPECIAL)


def _values(layer):
    return {v.path: v.numpy() for v in layer.trainable_variables}


@pytest.fixture
def trained(tmp_path):
    """Presets of another seed; returns (directory, its pretrainer)."""
    _, pretrainer = _pretrainer(seed=7)
    save_towers(pretrainer, ElectraTokenizer(VOCABULARY), tmp_path)
    return tmp_path, pretrainer


def _initialize(pretrainer, config, trained, tokens=VOCABULARY, towers=("d", "g")):
    directory, _ = trained
    paths = {
        name: str(directory / name) if name[0] in towers else None
        for name in ("discriminator", "generator")
    }
    initialize(pretrainer, config, Vocabulary(tokens), **paths)


def test_both_towers_take_every_variable(trained):
    config, pretrainer = _pretrainer(seed=0)
    _initialize(pretrainer, config, trained)
    expected, actual = (_values(p) for p in (trained[1], pretrainer))
    for path, value in expected.items():
        np.testing.assert_array_equal(actual[path], value, path)


def test_one_tower_leaves_the_other_alone(trained):
    config, pretrainer = _pretrainer(seed=0)
    before = _values(pretrainer)
    _initialize(pretrainer, config, trained, towers=("g",))
    for path, value in _values(pretrainer).items():
        is_taken = path.startswith("generator/") or "embeddings" in path
        source = _values(trained[1]) if is_taken else before
        np.testing.assert_array_equal(value, source[path], path)


def test_embeddings_follow_their_tokens(trained, caplog):
    caplog.set_level(logging.INFO, logger="absl")
    # In another order, one token fewer, and three new ones: a word of two pieces of the
    # old vocabulary, one that it cannot spell, and a continuation.
    tokens = [*VOCABULARY[:5], *reversed(VOCABULARY[6:]), "w1,w2", "ÿ", "##w7"]
    config, pretrainer = _pretrainer(seed=0, tokens=tokens)
    before = _values(pretrainer.discriminator)
    split = [*VOCABULARY, ","]  # the comma is a token of the source in this test only
    source_config, source = _pretrainer(seed=7, tokens=split)
    directory = trained[0] / "commas"
    save_towers(source, ElectraTokenizer(split), directory)
    initialize(
        pretrainer,
        config,
        Vocabulary(tokens),
        discriminator=str(directory / "discriminator"),
        generator=str(directory / "generator"),
    )
    assert source_config.model.vocabulary_size == len(split)
    old = source.discriminator.encoder.embeddings.word_embeddings.numpy()
    new = pretrainer.discriminator.encoder.embeddings.word_embeddings.numpy()
    for token in VOCABULARY[:5] + VOCABULARY[6:]:
        np.testing.assert_array_equal(new[tokens.index(token)], old[split.index(token)])
    pieces = [split.index(piece) for piece in ("w1", ",", "w2")]
    np.testing.assert_allclose(new[-3], old[pieces].mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(new[-2], old.mean(axis=0), atol=1e-6)
    np.testing.assert_array_equal(new[-1], old[split.index("w7")])
    assert f"{len(tokens) - 3} kept, 2 from pieces, 1 from the mean" in caplog.text
    bias = source.generator.head.output_bias.numpy()
    assert pretrainer.generator.head.output_bias.numpy().shape == (len(tokens),)
    assert bias.shape == (len(split),)
    kernel = "discriminator/encoder/layer_0/query/kernel"
    assert not np.array_equal(_values(pretrainer.discriminator)[kernel], before[kernel])


def test_weights_of_another_size_are_refused(trained):  # A08
    config, pretrainer = _pretrainer(seed=0, generator={"hidden_dim_fraction": 1.0})
    with pytest.raises(DataError, match=r"has the shape .* there, .* in this run"):
        _initialize(pretrainer, config, trained)


@pytest.mark.parametrize(("layers", "where"), [(2, "the source"), (1, "this run")])
def test_other_layers_are_refused(tmp_path, layers, where):  # E09
    _, deep = _pretrainer(seed=7, model={"num_layers": 3 - layers})
    save_towers(deep, ElectraTokenizer(VOCABULARY), tmp_path)
    config, pretrainer = _pretrainer(seed=0, model={"num_layers": layers})
    with pytest.raises(DataError, match=rf"no place in {where} for encoder/layer_1"):
        _initialize(pretrainer, config, (tmp_path, deep))


def test_an_encoder_alone_leaves_the_head_at_random_values(tmp_path, caplog):
    _, source = _pretrainer(seed=7)
    save_towers(source, ElectraTokenizer(VOCABULARY), tmp_path)
    checkpoint = read_checkpoint(tmp_path)
    write_checkpoint(checkpoint, "keras_hub", tmp_path / "out")
    config, pretrainer = _pretrainer(seed=0)
    _initialize(pretrainer, config, (tmp_path / "out", source), towers=("d",))
    assert "head/dense/kernel" in caplog.text
    assert "start at random values" in caplog.text
    kernel = "encoder/layer_0/query/kernel"
    expected, actual = (_values(p.discriminator) for p in (source, pretrainer))
    path = f"discriminator/{kernel}"
    np.testing.assert_array_equal(actual[path], expected[path])


def test_the_other_tower_is_refused(trained):
    config, pretrainer = _pretrainer(seed=0)
    vocabulary = Vocabulary(VOCABULARY)
    generator = str(trained[0] / "generator")
    with pytest.raises(DataError, match="holds a masked_lm, no discriminator"):
        initialize(
            pretrainer, config, vocabulary, discriminator=generator, generator=None
        )
    config, alone = _pretrainer(seed=0, objective={"name": "masked_lm"})
    with pytest.raises(ConfigError, match="this run trains no discriminator"):
        initialize(alone, config, vocabulary, discriminator=generator, generator=None)
