"""Cases A03, A05, A07(b) and A12 of the user reports; `fit` and the graph's contracts."""

import math

import keras
import numpy as np
import pytest
import tensorflow as tf

from electra_tf.config import load_config
from electra_tf.optimization.factory import make_optimizer
from electra_tf.pretraining.pretrainer import ElectraPretrainer
from tests.micro import SPECIAL, batch_of, micro_config


def _pretrainer(**sections):
    config = micro_config(**sections)
    pretrainer = ElectraPretrainer(config, SPECIAL)
    pretrainer.compile(optimizer=make_optimizer(config.training))
    return pretrainer


def _step(pretrainer, batch):
    pretrainer.reset_metrics()
    values = pretrainer.train_step({k: tf.constant(v) for k, v in batch.items()})
    return {name: float(value) for name, value in values.items()}


def test_both_losses_are_trained_and_reported():  # A03
    pretrainer = _pretrainer()
    before = {v.path: v.numpy() for v in pretrainer.trainable_variables}
    for _ in range(2):  # the rate of the first update is 0
        values = _step(pretrainer, batch_of([16, 12, 9, 16]))
    expected = values["generator_loss"] + 50.0 * values["discriminator_loss"]
    assert values["loss"] == pytest.approx(expected, rel=1e-5)
    for head in ("generator/head", "discriminator/head"):
        moved = [
            np.abs(v.numpy() - before[v.path]).max()
            for v in pretrainer.trainable_variables
            if head in v.path
        ]
        assert moved
        assert min(moved) > 0.0, head


def test_first_losses_are_those_of_a_uniform_guess():  # A05
    config = load_config("small", ["model.num_layers=2"], vocabulary_size=30_522)
    pretrainer = ElectraPretrainer(config, SPECIAL)
    rng = np.random.default_rng(0)
    batch = batch_of([128] * 4, 128)
    batch["token_ids"] = np.where(
        batch["token_ids"] > 4, rng.integers(5, 30_522, (4, 128)), batch["token_ids"]
    ).astype("int32")
    values = pretrainer.test_step({k: tf.constant(v) for k, v in batch.items()})
    assert float(values["generator_loss"]) == pytest.approx(math.log(30_522), abs=0.3)
    assert float(values["discriminator_loss"]) == pytest.approx(math.log(2), abs=0.08)
    assert float(values["loss"]) == pytest.approx(45, abs=4)


def test_a_row_without_candidates_does_not_change_the_loss():  # A12
    alone = batch_of([16])
    with_empty = {
        name: np.concatenate([value, batch_of([2])[name]])
        for name, value in alone.items()
    }
    losses = [
        _step(_pretrainer(), batch)["generator_loss"] for batch in (alone, with_empty)
    ]
    assert math.isfinite(losses[1])
    assert losses[1] == pytest.approx(losses[0], rel=1e-6)


def test_a_batch_without_any_candidate_is_counted():  # A07(b)
    values = _step(_pretrainer(), batch_of([2, 2, 2]))
    assert values["empty_batches"] == 1.0
    assert values["generator_loss"] == 0.0
    assert math.isfinite(values["loss"])


@pytest.mark.parametrize(
    "sections",
    [
        {},
        {"generator": {"tying": "all"}},
        {"generator": {"tying": "none"}},
        {"generator": {"kind": "uniform"}},
        {"generator": {"kind": "two_tower"}},
        {"objective": {"name": "masked_lm"}},
        {"objective": {"name": "electric"}, "generator": {"kind": "two_tower"}},
        {"objective": {"disallow_correct": True, "mask_with_replacement": True}},
        {"model": {"dropout": 0.1, "attention_dropout": 0.1}},
    ],
)
def test_every_objective_learns_with_fit(sections):
    changes = {"training": {"learning_rate": 1e-2}, **sections}
    pretrainer = _pretrainer(**changes)
    batches = tf.data.Dataset.from_tensors(batch_of([16, 12, 9, 16])).repeat()
    history = pretrainer.fit(batches, steps_per_epoch=15, epochs=2, verbose=0).history
    assert history["loss"][1] < history["loss"][0]
    measured = pretrainer.evaluate(batches, steps=2, verbose=0, return_dict=True)
    assert math.isfinite(measured["loss"])


def test_equal_seeds_make_equal_runs():
    runs = [_pretrainer(model={"dropout": 0.1}, seed=seed) for seed in (1, 1, 2)]
    for pretrainer in runs:
        for _ in range(3):
            _step(pretrainer, batch_of([16, 12]))
    first, again, other = ([v.numpy() for v in p.trainable_variables] for p in runs)
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    assert any((a != b).any() for a, b in zip(first, other, strict=True))


def test_it_is_rebuilt_from_its_configuration():
    pretrainer = _pretrainer(objective={"mask_rate": 0.3})
    restored = ElectraPretrainer.from_config(pretrainer.get_config())
    assert restored.config == pretrainer.config
    assert restored.corruption == pretrainer.corruption


def test_mixed_precision_keeps_losses_and_variables_in_float32():
    pretrainer = ElectraPretrainer(micro_config(), SPECIAL, dtype="mixed_bfloat16")
    pretrainer.compile(optimizer=make_optimizer(pretrainer.config.training))
    values = pretrainer.train_step(
        {k: tf.constant(v) for k, v in batch_of([16, 12]).items()}
    )
    assert {value.dtype for value in values.values()} == {tf.float32}
    assert {v.dtype for v in pretrainer.trainable_variables} == {"float32"}


def test_the_vocabulary_size_is_needed():
    config = micro_config(model={"vocabulary_size": None})
    with pytest.raises(ValueError, match="vocabulary_size"):
        ElectraPretrainer(config, SPECIAL)


def test_calling_it_scores_the_text():
    logits = _pretrainer()(batch_of([16, 12]))
    assert logits.shape == (2, 16)
    assert keras.ops.all(keras.ops.isfinite(logits))


def test_float16_counts_every_step(tmp_path):
    config = micro_config()
    pretrainer = ElectraPretrainer(config, SPECIAL, dtype="mixed_float16")
    with pytest.raises(ValueError, match="loss_scaling=True"):
        pretrainer.compile(make_optimizer(config.training))
    pretrainer.compile(make_optimizer(config.training, loss_scaling=True))
    before = [v.numpy() for v in pretrainer.trainable_variables]
    for _ in range(8):
        values = _step(pretrainer, batch_of([16, 12, 9, 16]))
    assert int(pretrainer.optimizer.iterations) == 8
    assert all(math.isfinite(value) for value in values.values())
    assert float(pretrainer.optimizer.dynamic_scale) >= 2.0**10
    after = [v.numpy() for v in pretrainer.trainable_variables]
    assert all(np.isfinite(value).all() for value in after)
    moved = [np.abs(b - a).max() > 0 for a, b in zip(before, after, strict=True)]
    assert np.mean(moved) > 0.9
