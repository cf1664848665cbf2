"""What is learned, one file each; `OBJECTIVES` lists them by their configured names."""

from electra_tf.pretraining.objectives.contract import Corruption, Objective, Outcome
from electra_tf.pretraining.objectives.electric import electric
from electra_tf.pretraining.objectives.masked_lm import masked_lm
from electra_tf.pretraining.objectives.replaced_token_detection import (
    replaced_token_detection,
)

OBJECTIVES: dict[str, Objective] = {
    "replaced_token_detection": replaced_token_detection,
    "masked_lm": masked_lm,
    "electric": electric,
}

__all__ = ["OBJECTIVES", "Corruption", "Objective", "Outcome"]
