"""Adam as BERT and ELECTRA use it."""

import math
import re
from collections.abc import Sequence

import keras
import numpy as np
import tensorflow as tf

from electra_tf.optimization.layerwise import layerwise_multiplier

# Searched in the whole path of a variable: its name alone says "gamma" or "kernel".
NO_DECAY = ("layer_norm", "LayerNorm", "bias")

# As in Keras' LossScaleOptimizer.
_INITIAL_SCALE, _UPDATES_PER_SCALE = 2.0**15, 2_000


@keras.saving.register_keras_serializable(package="electra_tf")
class ElectraAdam(keras.optimizers.Optimizer):
    """Adam without bias correction, with decoupled weight decay and global clipping.

    `m ← β₁m + (1-β₁)g;  v ← β₂v + (1-β₂)g²;  θ ← θ - lr · (m/(√v + ε) + decay · θ)`.

    Differs from `keras.optimizers.AdamW`: no bias correction (in the first hundred updates
    the steps are 3 to 6 times larger), ε is added to the root of the uncorrected `v`, and
    the exclusion from decay looks at the variable's *path*. Under a `tf.distribute`
    strategy the gradients are summed over the replicas first and clipped after, so that
    N replicas make the update that one would make with the whole batch.

    An update whose gradient is not finite is left out: weights and slots keep their
    values, the step counts, and `skipped_updates` counts it too, unless loss scaling
    has caused it.

    Args:
        learning_rate: float or schedule.
        weight_decay: float, decoupled and multiplied by the learning rate.
        beta_1: float.
        beta_2: float.
        epsilon: float, outside the root.
        global_clipnorm: float or None, limit of the norm over all gradients together.
        exclude_from_decay: regular expressions searched in variable paths.
        layerwise_decay: float or None, see `layerwise_multiplier`.
        num_layers: int, needed with `layerwise_decay`.
        official_depth: see `layerwise_multiplier`.
        loss_scaling: bool, for float16: multiply losses (`scale_loss`) by a factor that
            is halved when a gradient overflows and doubled after 2,000 updates without.
    """

    def __init__(
        self,
        learning_rate=5e-4,
        weight_decay: float = 0.01,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-6,
        global_clipnorm: float | None = 1.0,
        exclude_from_decay: Sequence[str] = NO_DECAY,
        layerwise_decay: float | None = None,
        num_layers: int | None = None,
        official_depth: bool = True,
        loss_scaling: bool = False,
        name: str = "electra_adam",
    ):
        # Keras' own decay and clipping stay off: both happen at the wrong moment.
        super().__init__(learning_rate=learning_rate, name=name)
        if layerwise_decay and num_layers is None:
            raise ValueError("layerwise_decay needs num_layers.")
        self.decay_rate = weight_decay
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.clip_norm = global_clipnorm
        self.exclude_from_decay = tuple(exclude_from_decay)
        self.layerwise_decay = layerwise_decay
        self.num_layers = num_layers
        self.official_depth = official_depth
        self.loss_scaling = loss_scaling

    def build(self, variables):
        """Creates the slots `m` and `v` and decides decay and rate of each variable."""
        if self.built:
            return
        super().build(variables)
        self._momentums, self._velocities = self.add_optimizer_variables(
            variables, ["momentum", "velocity"]
        )
        self.skipped_updates = self.add_variable(
            shape=(), dtype="int32", name="skipped_updates"
        )
        if self.loss_scaling:
            self.dynamic_scale = self.add_variable(
                shape=(),
                dtype="float32",
                initializer=keras.initializers.Constant(_INITIAL_SCALE),
                name="dynamic_scale",
            )
            self._updates_at_scale = self.add_variable(
                shape=(), dtype="int32", name="updates_at_scale"
            )
        self._decayed = [self.is_decayed(variable.path) for variable in variables]
        self._multipliers = [self.multiplier(variable.path) for variable in variables]

    def is_decayed(self, path: str) -> bool:
        """Whether weight decay applies to the variable at `path`."""
        return not any(re.search(pattern, path) for pattern in self.exclude_from_decay)

    def multiplier(self, path: str) -> float:
        """Factor on the learning rate of the variable at `path`."""
        if not self.layerwise_decay:
            return 1.0
        return layerwise_multiplier(
            path,
            decay=self.layerwise_decay,
            num_layers=self.num_layers,
            official_depth=self.official_depth,
        )

    def scale_loss(self, loss):
        """Multiplies a loss before its gradients are taken."""
        if not self.loss_scaling:
            return loss
        return loss * tf.cast(self.dynamic_scale.value, loss.dtype)

    def _backend_apply_gradients(self, grads, trainable_variables):
        pairs = super()._all_reduce_sum_gradients(
            zip(grads, trainable_variables, strict=True)
        )
        grads = [tf.convert_to_tensor(gradient) for gradient, _ in pairs]
        norm = tf.linalg.global_norm([tf.cast(g, tf.float32) for g in grads])
        scale = tf.ones_like(norm)
        if self.loss_scaling:
            scale /= self.dynamic_scale.value
            norm *= scale
        self._finite = tf.math.is_finite(norm)
        if self.clip_norm is not None:
            scale *= self.clip_norm / tf.maximum(norm, self.clip_norm)
        self._scale = scale
        is_fault = ~self._finite
        if self.loss_scaling:
            is_fault &= self.dynamic_scale.value <= 1.0
            self._adapt_scale()
        self.skipped_updates.assign_add(tf.cast(is_fault, tf.int32))
        self._backend_update_step(grads, trainable_variables, self.learning_rate)

    def _adapt_scale(self):
        scale, count = self.dynamic_scale.value, self._updates_at_scale.value + 1
        grows = self._finite & (count >= _UPDATES_PER_SCALE)
        factor = tf.where(self._finite, tf.where(grows, 2.0, 1.0), 0.5)
        self.dynamic_scale.assign(tf.maximum(scale * factor, 1.0))
        self._updates_at_scale.assign(tf.where(self._finite & ~grows, count, 0))

    def _all_reduce_sum_gradients(self, grads_and_vars):
        # Summed already, before clipping.
        return grads_and_vars

    def update_step(self, gradient, variable, learning_rate):
        """Updates one variable and its slots with the fused kernel of TensorFlow."""
        index = self._get_variable_index(variable)
        finite = self._finite
        rate = tf.cast(learning_rate, variable.dtype) * self._multipliers[index]
        # A rate of 0 and decay factors of 1 leave everything as it is.
        rate = tf.where(finite, rate, 0.0)
        gradient = tf.where(
            finite, tf.cast(gradient, variable.dtype) * self._scale, 0.0
        )
        if self.decay_rate and self._decayed[index]:
            variable.assign_sub(variable * (rate * self.decay_rate))
        # The kernel takes 1 - β in float32, which is 1e-5 off for β₂ = 0.999: a constant
        # factor on each slot, which the rate and ε can undo.
        m_factor, v_factor = _rounding(self.beta_1), math.sqrt(_rounding(self.beta_2))
        rate *= v_factor / m_factor
        # With both powers at 0 the kernel's bias correction is the factor 1.
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=self._momentums[index].value.handle,
            v=self._velocities[index].value.handle,
            beta1_power=0.0,
            beta2_power=0.0,
            lr=rate,
            beta1=tf.where(finite, self.beta_1, 1.0),
            beta2=tf.where(finite, self.beta_2, 1.0),
            epsilon=self.epsilon * v_factor,
            grad=gradient,
        )

    def get_config(self):
        """Constructor arguments."""
        config = super().get_config()
        return {
            "name": config["name"],
            "learning_rate": config["learning_rate"],
            "weight_decay": self.decay_rate,
            "beta_1": self.beta_1,
            "beta_2": self.beta_2,
            "epsilon": self.epsilon,
            "global_clipnorm": self.clip_norm,
            "exclude_from_decay": list(self.exclude_from_decay),
            "layerwise_decay": self.layerwise_decay,
            "num_layers": self.num_layers,
            "official_depth": self.official_depth,
            "loss_scaling": self.loss_scaling,
        }


def _rounding(beta: float) -> float:
    """What float32 makes of `1 - beta`, relative to the exact value."""
    return float(np.float32(1) - np.float32(beta)) / (1.0 - beta)
