"""Tells a run that learns from one that does not, and says so.

The discriminator of every new run sits on a plateau first: it calls everything original,
and its loss is the entropy of the share of replaced tokens. That is normal for a while
(docs/pretraining.md has measurements), and wrong afterwards.
"""

import dataclasses
import math
from collections.abc import Sequence

from electra_tf.config import PretrainConfig
from electra_tf.errors import WorkError

# Of the entropy of the base rate: above the first the discriminator knows nothing, below
# the second it has certainly started.
_PLATEAU, _STARTED = 0.985, 0.95
# Of ln V: above it the generator has not even learned which tokens are frequent.
_GENERATOR_CHANCE = 0.97


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something to tell about a run.

    Attributes:
        level: "info" or "warning".
        message: string, with the step and the likely cause.
    """

    level: str
    message: str


def base_rate_entropy(replaced_share: float) -> float:
    """Loss of the best discriminator that looks at no token, in nats."""
    if not 0.0 < replaced_share < 1.0:
        return 0.0
    kept = 1.0 - replaced_share
    return -(replaced_share * math.log(replaced_share) + kept * math.log(kept))


def plateau_tokens(config: PretrainConfig) -> float:
    """Tokens until which a discriminator on its plateau is no cause for concern.

    Measured for 2 layers of 128 at 7e-4 (docs/pretraining.md), where the discriminator
    starts after 1.5 to 2.5 million tokens; wider models and lower rates are given
    proportionally more. An order of magnitude, not a prediction.
    """
    width = max(config.model.hidden_dim / 128, 1.0)
    rate = max(7e-4 / config.training.learning_rate, 1.0)
    return _TINY_PLATEAU_TOKENS * width * rate


_TINY_PLATEAU_TOKENS = 4e6


class HealthMonitor:
    """Looks at the means of each logging interval.

    Args:
        config: `PretrainConfig` with `model.vocabulary_size` set.
    """

    def __init__(self, config: PretrainConfig):
        self._warmup = config.training.num_warmup_steps
        self._random_loss = math.log(config.model.vocabulary_size)
        self._patience = plateau_tokens(config)
        self._learns_generator = config.generator.kind != "uniform"
        self._started = False
        self._told: set[str] = set()
        self._skipped = 0

    def replay(self, records: Sequence[dict]) -> None:
        """Takes what an earlier part of the run logged as told."""
        for record in records:
            self.check(
                record["step"], record["tokens"], record, record["skipped_updates"]
            )

    def check(
        self, step: int, tokens: float, means: dict[str, float], skipped_updates: int
    ) -> list[Finding]:
        """Judges one interval.

        Args:
            step: int, updates so far.
            tokens: float, real tokens seen so far.
            means: of the interval, as `ElectraPretrainer.running_means` names them.
            skipped_updates: int, of the whole run.

        Returns:
            What to tell now; nothing twice.

        Raises:
            WorkError: the loss is not a number any more.
        """
        findings = [*self._numbers(step, means, skipped_updates)]
        if means["empty_batches"] > 0:
            findings.append(
                Finding(
                    "warning",
                    f"step {step}: {means['empty_batches']:.0%} of the last batches had "
                    "no token to predict, only special tokens and padding; check the data",
                )
            )
        if step > self._warmup:
            findings.extend(self._generator(step, means))
            if "discriminator_loss" in means:
                findings.extend(self._discriminator(step, tokens, means))
        return findings

    def _numbers(self, step, means, skipped_updates):
        new, self._skipped = skipped_updates - self._skipped, skipped_updates
        if not math.isfinite(means["loss"]):
            raise WorkError(
                f"step {step}: the loss is {means['loss']}; {skipped_updates} updates were "
                "left out. Likely causes: a learning rate that is too high, a damaged "
                "checkpoint, or float16 without loss scaling. The checkpoints before this "
                "step are good: lower training.learning_rate and run again"
            )
        if new:
            yield Finding(
                "warning",
                f"step {step}: {new} updates were left out because their gradients were "
                "not finite; if this goes on, lower training.learning_rate",
            )

    def _generator(self, step, means):
        if not self._learns_generator:
            return
        if means["generator_loss"] > _GENERATOR_CHANCE * self._random_loss:
            yield from self._once(
                "generator",
                f"step {step}: the generator is still at chance after warm-up (loss "
                f"{means['generator_loss']:.2f}, random {self._random_loss:.2f}); likely "
                "causes: a learning rate that is far too low or too high, or text that is "
                "mostly [UNK]",
            )

    def _discriminator(self, step, tokens, means):
        entropy = base_rate_entropy(means["replaced_share"])
        if not entropy:
            yield from self._once(
                "share",
                f"step {step}: {means['replaced_share']:.0%} of the tokens are replaced; "
                "the discriminator has nothing to tell apart",
            )
            return
        relative = means["discriminator_loss"] / entropy
        if relative < _STARTED and not self._started:
            self._started = True
            yield Finding(
                "info",
                f"step {step}: the discriminator has left its plateau after "
                f"{tokens / 1e6:.1f}M tokens",
            )
        if relative < _PLATEAU:
            return
        if self._started:
            yield from self._once(
                "collapse",
                f"step {step}: COLLAPSE: the discriminator has forgotten what it knew and "
                "calls every token the same (loss = entropy of the base rate); likely "
                "cause: a learning rate that is too high. Restart from an earlier "
                "checkpoint with a lower training.learning_rate",
            )
        elif tokens > self._patience:
            yield from self._once(
                "stuck",
                f"step {step}: COLLAPSE: after {tokens / 1e6:.1f}M tokens the "
                "discriminator still calls every token original; at this size it should "
                f"have started before {self._patience / 1e6:.0f}M. Likely causes: initial "
                "weights that are too small for the width (model.initializer_range), or "
                "a learning rate that is too high for a small model",
            )
        else:
            yield from self._once(
                "plateau",
                f"step {step}: the discriminator is on its plateau (calls every token "
                "original); this is normal until about "
                f"{self._patience / 1e6:.0f}M tokens, seen so far: {tokens / 1e6:.1f}M",
                level="info",
            )

    def _once(self, key, message, level="warning"):
        if key not in self._told:
            self._told.add(key)
            yield Finding(level, message)
