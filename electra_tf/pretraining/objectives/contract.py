"""What an objective gets and gives."""

import dataclasses
from collections.abc import Callable, Mapping

import tensorflow as tf

from electra_tf.config import ObjectiveConfig
from electra_tf.modeling.towers import Towers
from electra_tf.pretraining.losses import LossTerm
from electra_tf.pretraining.masking import Masked, SpecialTokens
from electra_tf.pretraining.sampling import Corrupted
from electra_tf.runtime.random import Draws


@dataclasses.dataclass(frozen=True, kw_only=True)
class Corruption:
    """How the text is masked and filled in again.

    Attributes:
        special: ids with a meaning of their own.
        mask_rate: float in (0, 1).
        mask_with_replacement: bool, draw positions as the original does.
        temperature: float > 0, of the generator's samples.
        disallow_correct: bool, never sample the original token.
    """

    special: SpecialTokens
    mask_rate: float = 0.15
    mask_with_replacement: bool = False
    temperature: float = 1.0
    disallow_correct: bool = False

    @classmethod
    def of(cls, objective: ObjectiveConfig, special: SpecialTokens) -> "Corruption":
        """As configured."""
        return cls(
            special=special,
            mask_rate=objective.mask_rate,
            mask_with_replacement=objective.mask_with_replacement,
            temperature=objective.temperature,
            disallow_correct=objective.disallow_correct,
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one batch.

    Attributes:
        losses: by the name of the tower that they train: "generator", "discriminator".
        metrics: further means to report.
        masked: what was selected.
        generator_logits: float32 `[B, N, V]` at the selected positions.
        corrupted: the discriminator's example, or None without a discriminator.
        discriminator_logits: float32 `[B, T]`, or None.
        labels: int32 `[B, T]`, what the discriminator has to say, or None.
    """

    losses: Mapping[str, LossTerm]
    metrics: Mapping[str, LossTerm]
    masked: Masked
    generator_logits: tf.Tensor
    corrupted: Corrupted | None = None
    discriminator_logits: tf.Tensor | None = None
    labels: tf.Tensor | None = None


# (towers, batch, draws, corruption, training) → Outcome
Objective = Callable[
    [Towers, Mapping[str, tf.Tensor], Draws, Corruption, bool], Outcome
]
