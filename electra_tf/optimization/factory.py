"""The optimizer of a pre-training run."""

from electra_tf.config import TrainingConfig
from electra_tf.optimization.adam import ElectraAdam
from electra_tf.optimization.schedules import WarmupPolynomialDecay


def make_optimizer(
    training: TrainingConfig, *, loss_scaling: bool = False
) -> ElectraAdam:
    """Adam as in BERT with warm-up and decay, as configured; see `ElectraAdam`."""
    schedule = WarmupPolynomialDecay(
        training.learning_rate,
        num_train_steps=training.num_train_steps,
        num_warmup_steps=training.num_warmup_steps,
        power=training.decay_power,
    )
    return ElectraAdam(
        schedule,
        weight_decay=training.weight_decay,
        beta_1=training.beta_1,
        beta_2=training.beta_2,
        epsilon=training.epsilon,
        global_clipnorm=training.global_clipnorm,
        loss_scaling=loss_scaling,
    )
