"""Trajectories of the official optimizer, to 5e-7 (float64 differs from them by 2e-7)."""

import contextlib
import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from electra_tf.optimization.adam import ElectraAdam
from electra_tf.optimization.layerwise import layerwise_multiplier
from electra_tf.optimization.schedules import WarmupPolynomialDecay

RUNS = (
    "pretraining_linear",
    "pretraining_no_decay_small_gradients",
    "pretraining_power_half",
    "finetuning_layerwise_0",
    "finetuning_layerwise_0.8",
)


class _Named(keras.layers.Layer):
    """Variables whose paths are the official names."""

    def __init__(self, initial):
        super().__init__(name="root")
        self.by_name = {}
        for name, value in initial.items():
            *scopes, own_name = name.split("/")
            with contextlib.ExitStack() as stack:
                for scope in scopes:
                    stack.enter_context(keras.name_scope(scope))
                self.by_name[name] = keras.Variable(value, name=own_name)


def _optimizer(options):
    steps = options["num_train_steps"]
    warmup = options.get("warmup_steps") or int(
        steps * options.get("warmup_proportion", 0)
    )
    schedule = WarmupPolynomialDecay(
        options["learning_rate"], steps, warmup, options.get("lr_decay_power", 1.0)
    )
    return ElectraAdam(
        schedule,
        weight_decay=options["weight_decay_rate"],
        beta_1=options["beta_1"],
        beta_2=options["beta_2"],
        epsilon=options["epsilon"],
        global_clipnorm=options["clip_norm"],
        layerwise_decay=options.get("layerwise_lr_decay_power") or None,
        num_layers=options.get("n_transformer_layers"),
    )


@pytest.mark.parametrize("run", RUNS)
def test_updates_follow_the_official_trajectory(run, golden):
    options = json.loads((golden / "optimizer" / "index.json").read_text())[run]
    with np.load(golden / "optimizer" / f"{run}.npz", allow_pickle=False) as data:
        arrays = dict(data)
    names = list(options["weight_decay"])
    holder = _Named({name: arrays[f"initial/{name}"] for name in names})
    variables = [holder.by_name[name] for name in names]
    optimizer = _optimizer(options)
    optimizer.build(variables)
    for name, variable in zip(names, variables, strict=True):
        # The original lists no variable as decayed when the rate is 0.
        is_decayed = options["weight_decay_rate"] > 0 and optimizer.is_decayed(name)
        assert is_decayed == options["weight_decay"][name], name
        assert variable.path.endswith(name)
        expected = options["multipliers"].get(name, 1.0)
        assert optimizer.multiplier(variable.path) == pytest.approx(expected), name
    for step in range(options["steps"]):
        np.testing.assert_allclose(
            float(optimizer.learning_rate), arrays["learning_rate"][step], atol=1e-9
        )
        gradients = [tf.constant(arrays[f"gradient/{n}"][step]) for n in names]
        optimizer.apply(gradients, variables)
        for name, variable in zip(names, variables, strict=True):
            np.testing.assert_allclose(
                variable.numpy(), arrays[f"value/{name}"][step], atol=5e-7, err_msg=name
            )


def test_schedules_are_the_official_ones(golden):
    for case in json.loads((golden / "optimizer" / "schedules.json").read_text()):
        schedule = WarmupPolynomialDecay(
            case["learning_rate"],
            case["num_train_steps"],
            case.get("warmup_steps")
            or int(case["num_train_steps"] * case.get("warmup_proportion", 0)),
            case["lr_decay_power"],
        )
        rates = [float(schedule(step)) for step in case["steps"]]
        # float32 rounds 1 - step/steps to 6e-8, which shows where little is left of it.
        tolerance = 1e-7 * case["learning_rate"]
        np.testing.assert_allclose(rates, case["values"], rtol=2e-6, atol=tolerance)


def test_layerwise_rates_and_decay_are_the_official_ones(golden):
    cases = json.loads((golden / "optimizer" / "multipliers.json").read_text())
    layers = {"small": 12, "base": 12, "large": 24}
    optimizer = ElectraAdam()
    for case, variables in cases.items():
        size, decay = case.rsplit("_", 1)
        for name, expected in variables.items():
            multiplier = layerwise_multiplier(
                name, decay=float(decay), num_layers=layers[size]
            )
            assert multiplier == pytest.approx(expected["multiplier"], rel=1e-6), name
            assert optimizer.is_decayed(name) == expected["weight_decay"], name


def test_intended_depth_gives_the_last_layer_one_power():
    path = "encoder/layer_11/query/kernel"
    intended = layerwise_multiplier(
        path, decay=0.8, num_layers=12, official_depth=False
    )
    assert intended == pytest.approx(0.8)
    assert layerwise_multiplier(path, decay=0.8, num_layers=12) == pytest.approx(0.64)


def test_an_update_that_is_not_finite_changes_nothing_and_is_counted():
    variable = keras.Variable(np.ones(3, "float32"), name="kernel")
    optimizer = ElectraAdam(0.1)
    optimizer.apply([tf.constant([1.0, 2.0, 3.0])], [variable])
    before = [v.numpy().copy() for v in (variable, *optimizer.variables)]
    optimizer.apply([tf.constant([1.0, np.nan, 3.0])], [variable])
    after = [v.numpy() for v in (variable, *optimizer.variables)]
    changed = {
        v.path.split("/")[-1]
        for v, old, new in zip(
            (variable, *optimizer.variables), before, after, strict=True
        )
        if not np.array_equal(old, new)
    }
    assert changed == {"iteration", "skipped_updates"}
    optimizer.apply([tf.constant([1.0, 2.0, 3.0])], [variable])
    assert np.isfinite(variable.numpy()).all()
    assert not np.array_equal(variable.numpy(), before[0])


def test_optimizer_comes_back_from_its_configuration():
    optimizer = ElectraAdam(
        WarmupPolynomialDecay(1e-3, 100, 10), layerwise_decay=0.8, num_layers=2
    )
    again = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert again.get_config() == optimizer.get_config()


def test_the_scale_of_losses_follows_overflow_and_cancels_out():
    variables = [keras.Variable(np.ones(3, "float32"), name="kernel") for _ in "ab"]
    plain, scaled = ElectraAdam(0.1), ElectraAdam(0.1, loss_scaling=True)
    plain.build(variables[:1])
    scaled.build(variables[1:])
    gradient = tf.constant([1.0, 2.0, 3.0])
    assert float(plain.scale_loss(2.0)) == 2.0
    for _ in range(2):
        plain.apply([gradient], variables[:1])
        scaled.apply([scaled.scale_loss(gradient)], variables[1:])
    np.testing.assert_allclose(*(v.numpy() for v in variables), rtol=1e-6)
    # An overflow halves the scale; it is no fault, but it is a step.
    scaled.apply([gradient * np.inf], variables[1:])
    assert float(scaled.dynamic_scale) == 2.0**14
    assert int(scaled.iterations) == 3
    assert int(scaled.skipped_updates) == 0
    for _ in range(15):
        scaled.apply([gradient * np.inf], variables[1:])
    # At a scale of 1 it is the gradients that are at fault.
    assert float(scaled.dynamic_scale) == 1.0
    assert int(scaled.skipped_updates) == 1
    np.testing.assert_allclose(*(v.numpy() for v in variables), rtol=1e-6)


def test_the_scale_of_losses_grows_again():
    variable = keras.Variable(np.ones(3, "float32"), name="kernel")
    optimizer = ElectraAdam(0.1, loss_scaling=True)
    optimizer.build([variable])
    optimizer._updates_at_scale.assign(1_998)
    for expected in (2.0**15, 2.0**16, 2.0**16):
        optimizer.apply([tf.ones(3)], [variable])
        assert float(optimizer.dynamic_scale) == expected
