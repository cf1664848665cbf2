"""Learning-rate schedules."""

import keras
import tensorflow as tf


@keras.saving.register_keras_serializable(package="electra_tf")
class WarmupPolynomialDecay(keras.optimizers.schedules.LearningRateSchedule):
    """Warm-up times polynomial decay, as in the original.

    `rate(t) = learning_rate · (1 - min(t, T)/T)^power · min(1, t/W)`: the two factors are
    multiplied, so the peak is `learning_rate · (1 - W/T)^power`, and the first update has
    the rate 0.

    Args:
        learning_rate: float.
        num_train_steps: int, `T`; the rate is 0 from there on.
        num_warmup_steps: int, `W`; 0 means none.
        power: float, exponent of the decay.
    """

    def __init__(
        self,
        learning_rate: float,
        num_train_steps: int,
        num_warmup_steps: int = 0,
        power: float = 1.0,
    ):
        self.learning_rate = learning_rate
        self.num_train_steps = num_train_steps
        self.num_warmup_steps = num_warmup_steps
        self.power = power

    def __call__(self, step):
        """Rate float32 of the update number `step`, which counts from 0."""
        step = tf.cast(step, tf.float32)
        total = float(self.num_train_steps)
        rate = self.learning_rate * tf.pow(
            1.0 - tf.minimum(step, total) / total, self.power
        )
        if self.num_warmup_steps:
            rate *= tf.minimum(1.0, step / float(self.num_warmup_steps))
        return rate

    def get_config(self):
        """Constructor arguments."""
        return {
            "learning_rate": self.learning_rate,
            "num_train_steps": self.num_train_steps,
            "num_warmup_steps": self.num_warmup_steps,
            "power": self.power,
        }
