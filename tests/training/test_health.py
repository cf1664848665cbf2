import math

import pytest

from electra_tf.config import load_config
from electra_tf.errors import WorkError
from electra_tf.training.health import (
    HealthMonitor,
    base_rate_entropy,
    plateau_tokens,
)

CONFIG = load_config("tiny", vocabulary_size=4_096)
ENTROPY = base_rate_entropy(0.13)
LATE = 100 * plateau_tokens(CONFIG)


def _means(**changes):
    means = {
        "loss": 20.0,
        "generator_loss": 5.0,
        "discriminator_loss": ENTROPY,
        "replaced_share": 0.13,
        "empty_batches": 0.0,
    }
    return {**means, **changes}


def _messages(monitor, tokens=1e5, step=10_000, skipped=0, **changes):
    found = monitor.check(step, tokens, _means(**changes), skipped)
    return [(finding.level, finding.message) for finding in found]


def test_entropy_of_the_base_rate():
    assert base_rate_entropy(0.5) == pytest.approx(math.log(2))
    # 0.15 ln(1/0.15) + 0.85 ln(1/0.85), as electra-facts has it.
    assert base_rate_entropy(0.15) == pytest.approx(0.4227, abs=1e-4)
    assert base_rate_entropy(0.0) == 0.0


def test_the_plateau_is_normal_at_first_and_said_once():
    monitor = HealthMonitor(CONFIG)
    [(level, message)] = _messages(monitor)
    assert level == "info"
    assert "normal until about" in message
    assert _messages(monitor) == []


def test_nothing_is_said_during_warm_up():
    assert _messages(HealthMonitor(CONFIG), step=1) == []


def test_a_plateau_without_end_is_a_collapse():
    [(level, message)] = _messages(HealthMonitor(CONFIG), tokens=LATE)
    assert level == "warning"
    assert "COLLAPSE" in message
    assert "step 10000" in message
    assert "learning rate" in message


def test_leaving_the_plateau_is_told_and_falling_back_is_a_collapse():
    monitor = HealthMonitor(CONFIG)
    [(level, message)] = _messages(monitor, discriminator_loss=0.9 * ENTROPY)
    assert level == "info"
    assert "left its plateau" in message
    [(level, message)] = _messages(monitor)
    assert level == "warning"
    assert "forgotten" in message


def test_larger_models_at_lower_rates_are_given_more_tokens():
    base = load_config("base", vocabulary_size=30_522)
    assert plateau_tokens(base) > 10 * plateau_tokens(CONFIG)


def test_a_generator_at_chance_is_told():
    monitor = HealthMonitor(CONFIG)
    found = _messages(
        monitor, generator_loss=math.log(4_096), discriminator_loss=0.9 * ENTROPY
    )
    assert any("generator is still at chance" in message for _, message in found)


def test_nan_ends_the_run_with_cause_and_remedy():
    with pytest.raises(WorkError, match=r"step 7: the loss is nan.*learning_rate"):
        HealthMonitor(CONFIG).check(7, 1e5, _means(loss=math.nan), 0)


def test_skipped_updates_are_told_once():
    monitor = HealthMonitor(CONFIG)
    found = _messages(monitor, skipped=2, discriminator_loss=0.9 * ENTROPY)
    assert any("2 updates were left out" in message for _, message in found)
    found = _messages(monitor, skipped=2, discriminator_loss=0.9 * ENTROPY)
    assert not any("left out" in message for _, message in found)


def test_batches_without_anything_to_predict_are_told():  # A07(b)
    found = _messages(HealthMonitor(CONFIG), empty_batches=0.5)
    assert any("50% of the last batches" in message for _, message in found)


def test_a_masked_language_model_has_no_discriminator_to_watch():
    config = load_config("tiny", ["objective.name=masked_lm"], vocabulary_size=4_096)
    means = {"loss": 5.0, "generator_loss": 5.0, "empty_batches": 0.0}
    assert HealthMonitor(config).check(10_000, LATE, means, 0) == []


def test_a_resumed_run_does_not_repeat_what_was_told():
    told = {"step": 10_000, "tokens": 1e6, "skipped_updates": 3}
    monitor = HealthMonitor(CONFIG)
    monitor.replay([told | _means(discriminator_loss=0.5 * ENTROPY)])
    assert _messages(monitor, skipped=3, discriminator_loss=0.5 * ENTROPY) == []
    # It had left the plateau before: to be back on it is a collapse.
    [(level, message)] = _messages(monitor, skipped=3)
    assert level == "warning"
    assert "forgotten" in message
