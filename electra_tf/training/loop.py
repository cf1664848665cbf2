"""The loop of a run: steps inside `strategy.run`, and when to log, save and measure."""

import dataclasses
import math
import time
from collections.abc import Callable, Sequence

import tensorflow as tf
from absl import logging

from electra_tf.config import TrainingConfig
from electra_tf.runtime.interruption import StopRequest
from electra_tf.runtime.progress import format_seconds
from electra_tf.runtime.strategies import Devices
from electra_tf.training.checkpoints import Checkpoints
from electra_tf.training.health import HealthMonitor
from electra_tf.training.metrics_log import MetricsLog


@dataclasses.dataclass
class Progress:
    """How far a run is.

    Attributes:
        step: int, updates made.
        tokens: float, real tokens seen.
        seconds: float spent on updates.
    """

    step: int
    tokens: float = 0.0
    seconds: float = 0.0

    @classmethod
    def after(cls, step: int, records: Sequence[dict]) -> "Progress":
        """Where a run was that has logged `records` and is resumed at `step`."""
        last = records[-1] if records else {}
        return cls(step, last.get("tokens", 0.0), last.get("seconds", 0.0))


class TrainingLoop:
    """Trains until the configured step, or until somebody asks it to stop.

    Args:
        pretrainer: compiled `ElectraPretrainer`, made in the scope of the strategy.
        devices: `Devices`.
        training: `TrainingConfig`.
        checkpoints: `Checkpoints`.
        metrics_log: `MetricsLog`.
        health: `HealthMonitor`.
        flops_per_step: float, operations of an update as appendix E counts them.
        evaluate: called without arguments every `evaluate_every` steps; returns
            held-out measures to log.
    """

    def __init__(
        self,
        *,
        pretrainer,
        devices: Devices,
        training: TrainingConfig,
        checkpoints: Checkpoints,
        metrics_log: MetricsLog,
        health: HealthMonitor,
        flops_per_step: float,
        evaluate: Callable[[], dict[str, float | None]],
    ):
        self._pretrainer = pretrainer
        self._devices = devices
        self._training = training
        self._checkpoints = checkpoints
        self._log = metrics_log
        self._health = health
        self._flops_per_step = flops_per_step
        self._evaluate = evaluate
        self._run_steps = make_step_function(pretrainer, devices)

    def run(
        self, batches: tf.data.Dataset, progress: Progress, stop: StopRequest
    ) -> None:
        """Trains on `batches`, which begin with the batch of step `progress.step`.

        Updates `progress`. On return the last step has a checkpoint.

        Raises:
            WorkError: the loss became NaN, or a checkpoint could not be written.
        """
        training = self._training
        strategy = self._devices.strategy
        iterator = iter(strategy.experimental_distribute_dataset(batches))
        self._pretrainer.reset_metrics()
        interval_start, interval_step = time.monotonic(), progress.step
        while progress.step < training.num_train_steps and not stop:
            count = self._steps_until_event(progress.step)
            values = self._run_steps(iterator, tf.constant(count, tf.int32))
            progress.step += count
            if progress.step - count == interval_step == 0:
                self._local_values(values)
                taken = time.monotonic() - interval_start
                logging.info("first step after %.1f s of tracing and set-up", taken)
            if self._is_due(progress.step, training.log_every) or stop:
                means = self._read(values)
                now = time.monotonic()
                steps = progress.step - interval_step
                self._report(progress, means, steps, now - interval_start)
                interval_start, interval_step = time.monotonic(), progress.step
            if self._is_due(progress.step, training.checkpoint_every):
                self._checkpoints.save(progress.step)
            # The end is measured by whoever runs the loop.
            if self._evaluates_at(progress.step):
                began = time.monotonic()
                self._log.write(progress.step, self._evaluate())
                interval_start += time.monotonic() - began
        self._checkpoints.save(progress.step)

    def _is_due(self, step: int, every: int) -> bool:
        return step % every == 0 or step == self._training.num_train_steps

    def _evaluates_at(self, step: int) -> bool:
        every = self._training.evaluate_every
        return every > 0 and step % every == 0 and step < self._training.num_train_steps

    def _steps_until_event(self, step: int) -> int:
        if step == 0:  # by itself, to tell how long tracing took
            return 1
        training = self._training
        events = [training.log_every, training.checkpoint_every]
        if training.evaluate_every:
            events.append(training.evaluate_every)
        nearest = min((step // every + 1) * every for every in events)
        return min(
            nearest - step,
            training.num_train_steps - step,
            self._devices.max_steps_per_call,
        )

    def _read(self, values) -> dict[str, float]:
        means = self._local_values(values)
        self._pretrainer.reset_metrics()
        return means

    def _local_values(self, values) -> dict[str, float]:
        """Waits for the device."""
        local = self._devices.strategy.experimental_local_results
        return {name: float(local(value)[0]) for name, value in values.items()}

    def _report(self, progress, means, steps, seconds):
        training = self._training
        tokens = means.pop("tokens_per_batch") * steps
        progress.tokens += tokens
        progress.seconds += seconds
        rate = tokens / seconds
        left = (training.num_train_steps - progress.step) * seconds / steps
        skipped = self._pretrainer.skipped_updates()
        findings = self._health.check(progress.step, progress.tokens, means, skipped)
        optimizer = self._pretrainer.optimizer
        flops_rate = self._flops_per_step * steps / seconds
        extra = {
            "model_flops_per_second": flops_rate,
            "tokens": progress.tokens,
            "seconds": progress.seconds,
            "tokens_per_second": rate,
            "learning_rate": float(tf.convert_to_tensor(optimizer.learning_rate)),
            "skipped_updates": skipped,
        }
        used = ""
        if training.peak_flops_per_second:
            peak = training.peak_flops_per_second * self._devices.num_replicas
            extra["mfu"] = flops_rate / peak
            used = f" (MFU {extra['mfu']:.1%})"
        self._log.write(progress.step, means | extra)
        logging.info(
            "step %d/%d %s %s tokens/s%s, %s left",
            progress.step,
            training.num_train_steps,
            describe(means),
            f"{rate:,.0f}",
            used,
            format_seconds(left),
        )
        for finding in findings:
            log = logging.warning if finding.level == "warning" else logging.info
            log(finding.message)


def make_step_function(pretrainer, devices: Devices):
    """A graph `(iterator, count) → running means` that makes `count` updates."""
    strategy = devices.strategy

    @tf.function(jit_compile=devices.jit_compile or None)
    def step(batch):
        return pretrainer.train_step(batch)

    def run_steps(iterator, count):
        for _ in tf.range(count):
            strategy.run(step, args=(next(iterator),))
        return strategy.run(pretrainer.running_means)

    return tf.function(run_steps)


def describe(means: dict[str, float]) -> str:
    """Losses and accuracies of an interval in one line."""
    parts = [
        f"loss {means['loss']:.2f}",
        f"generator {means['generator_loss']:.3f} ({means['generator_accuracy']:.1%})",
    ]
    if "discriminator_loss" in means:
        parts.append(
            f"discriminator {means['discriminator_loss']:.4f} "
            f"({means['discriminator_accuracy']:.1%}, majority "
            f"{max(means['replaced_share'], 1 - means['replaced_share']):.1%})"
        )
    return "  ".join(parts)


def initial_losses(vocabulary_size: int) -> dict[str, float]:
    """What untrained towers lose: a uniform guess (paper §2; A05 in the reports)."""
    return {
        "generator_loss": math.log(vocabulary_size),
        "discriminator_loss": math.log(2.0),
    }
