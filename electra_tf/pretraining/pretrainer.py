"""The Keras model that learns: one `train_step` for `fit` and for the command's loop."""

import keras
import tensorflow as tf

from electra_tf.config import PretrainConfig
from electra_tf.modeling.encoder import EncoderSize
from electra_tf.modeling.towers import Generator, Towers, make_towers
from electra_tf.pretraining.losses import LossTerm, all_reduce_sum, global_mean
from electra_tf.pretraining.masking import SpecialTokens
from electra_tf.pretraining.objectives import OBJECTIVES, Corruption
from electra_tf.runtime.random import (
    Draws,
    make_heldout_key,
    make_key,
    seeded_initializers,
)


@keras.saving.register_keras_serializable(package="electra_tf")
class ElectraPretrainer(keras.Model):
    """Generator and discriminator trained jointly (paper §2).

    `fit`, `evaluate` and a loop of one's own all go through `train_step` / `test_step`,
    which take a batch of `token_ids`, `segment_ids` and `padding_mask`, int32 `[B, T]`.
    All random numbers are functions of (seed, step, position in the global batch).

    Args:
        config: `PretrainConfig` with `model.vocabulary_size` set.
        special_tokens: `SpecialTokens`, ids of the vocabulary in use.
        dtype: dtype policy, for example "mixed_bfloat16".

    Example:
        >>> config = load_config("tiny", vocabulary_size=1000)
        >>> special = SpecialTokens(pad_id=0, cls_id=2, sep_id=3, mask_id=4)
        >>> pretrainer = ElectraPretrainer(config, special)
        >>> pretrainer.compile(optimizer=make_optimizer(config.training))
        >>> pretrainer.fit(batches, steps_per_epoch=100)  # doctest: +SKIP
    """

    def __init__(
        self,
        config: PretrainConfig,
        special_tokens: SpecialTokens,
        dtype=None,
        **kwargs,
    ):
        super().__init__(dtype=dtype, **kwargs)
        self.config = config
        objective = config.objective
        self.objective = OBJECTIVES[objective.name]
        self.loss_weights = {
            "generator": objective.generator_weight,
            "discriminator": objective.discriminator_weight,
        }
        self.corruption = Corruption.of(objective, special_tokens)
        with seeded_initializers(config.seed):
            self.towers = build_towers(config, self.dtype_policy)
        # Keras finds variables through attributes.
        self.discriminator = self.towers.discriminator
        self.generator = self.towers.generator
        self._running_means = {
            name: keras.metrics.Mean(name) for name in _reported(self.discriminator)
        }
        self.built = True

    @property
    def metrics(self):
        """Running means since the last `reset_metrics`."""
        return list(self._running_means.values())

    def compile(self, optimizer, **kwargs):
        """As `keras.Model.compile`, and creates the slots of the optimizer at once.

        Args:
            optimizer: `ElectraAdam`; for "mixed_float16" with `loss_scaling`.
            **kwargs: as in Keras.

        Raises:
            ValueError: float16 without loss scaling, with which gradients vanish.
        """
        is_float16 = self.dtype_policy.compute_dtype == "float16"
        if is_float16 and not getattr(optimizer, "loss_scaling", False):
            raise ValueError(
                "mixed_float16 needs an ElectraAdam with loss_scaling=True."
            )
        # Keras' own scaling stops the count of steps, on which everything here depends.
        super().compile(optimizer=optimizer, auto_scale_loss=False, **kwargs)
        # Created while the step is traced, they would take seconds of conditionals.
        self.optimizer.build(self.trainable_variables)

    def call(self, inputs, training=False):
        """Discriminator logits of the text as it is, or hidden states without one."""
        del training
        tower = self.discriminator or self.generator.encoder
        return tower(inputs["token_ids"], inputs["segment_ids"], inputs["padding_mask"])

    def train_step(self, data):
        """One update.

        Args:
            data: the batch; under a strategy, this replica's rows of it.

        Returns:
            Dict of float32 scalars: means since the last reset, over the global batch.
        """
        batch = _first(data)
        draws = self._draws(batch, make_key(self.config.seed, self._step()))
        with tf.GradientTape() as tape:
            outcome = self.objective(self.towers, batch, draws, self.corruption, True)
            shares = {name: global_mean(term) for name, term in outcome.losses.items()}
            loss = tf.add_n(
                [self.loss_weights[name] * share for name, share in shares.items()]
            )
            scaled_loss = self.optimizer.scale_loss(loss)
        variables = self.trainable_variables
        gradients = tape.gradient(scaled_loss, [v.value for v in variables])
        # Shares add up: the optimizer sums over the replicas, and only then clips.
        self.optimizer.apply(gradients, variables)
        return self._report(batch, outcome)

    def test_step(self, data):
        """Measures a batch; the same batch is always masked in the same way."""
        batch = _first(data)
        weights = 1 + tf.range(tf.size(batch["token_ids"]))
        checksum = tf.reduce_sum(tf.reshape(batch["token_ids"], [-1]) * weights)
        number = tf.bitcast(checksum, tf.uint32)
        draws = self._draws(batch, make_heldout_key(self.config.seed, number))
        outcome = self.objective(self.towers, batch, draws, self.corruption, False)
        return self._report(batch, outcome)

    def outcome(self, batch, number):
        """What the objective makes of a held-out batch.

        Args:
            batch: as in `train_step`.
            number: integer scalar tensor, decides the masks and samples.

        Returns:
            `Outcome`.
        """
        draws = Draws(make_heldout_key(self.config.seed, number))
        return self.objective(self.towers, batch, draws, self.corruption, False)

    def _step(self):
        return self.optimizer.iterations.value

    def _num_replicas(self):
        replica = tf.distribute.get_replica_context()
        return replica.num_replicas_in_sync if replica else 1

    def _draws(self, batch, key):
        replica = tf.distribute.get_replica_context()
        index = replica.replica_id_in_sync_group if replica else 0
        rows = tf.shape(batch["token_ids"])[0]
        return Draws(key, first_row=tf.cast(index, tf.int32) * rows)

    def _report(self, batch, outcome):
        tokens = tf.reduce_sum(tf.cast(batch["padding_mask"], tf.float32))
        terms = {
            **{f"{name}_loss": term for name, term in outcome.losses.items()},
            **outcome.metrics,
            "tokens_per_batch": LossTerm(tokens, 1.0 / self._num_replicas()),
        }
        names = list(terms)
        sums = all_reduce_sum(
            tf.stack([tf.stack([terms[n].total, terms[n].count]) for n in names])
        )
        values = {
            name: LossTerm(sums[index, 0], sums[index, 1])
            for index, name in enumerate(names)
        }
        means = {
            name: tf.math.divide_no_nan(term.total, term.count)
            for name, term in values.items()
        }
        total = tf.add_n(
            [self.loss_weights[n] * means[f"{n}_loss"] for n in outcome.losses]
        )
        empty = tf.cast(values["generator_loss"].count == 0.0, tf.float32)
        for name, value in {"loss": total, **means, "empty_batches": empty}.items():
            self._running_means[name].update_state(value)
        return self.running_means()

    def skipped_updates(self) -> int:
        """Updates of this run that were left out because a gradient was not finite."""
        return int(tf.convert_to_tensor(self.optimizer.skipped_updates.value))

    def running_means(self):
        """Means since the last `reset_metrics`, dict of float32 scalars."""
        return {name: mean.result() for name, mean in self._running_means.items()}

    def get_config(self):
        """Constructor arguments."""
        return {
            "config": self.config.model_dump(),
            "special_tokens": vars(self.corruption.special),
            "dtype": keras.dtype_policies.serialize(self.dtype_policy),
            "name": self.name,
        }

    @classmethod
    def from_config(cls, config):
        """Makes the model from what `get_config` returns."""
        config = dict(config)
        settings = PretrainConfig.model_validate(config.pop("config"))
        special = SpecialTokens(**config.pop("special_tokens"))
        return cls(settings, special, **config)


def build_towers(config: PretrainConfig, dtype=None) -> Towers:
    """Both towers of a configuration, or the only one of `masked_lm`.

    Raises:
        ValueError: `model.vocabulary_size` is not set.
    """
    size = discriminator_size(config)
    if config.objective.name == "masked_lm":
        towers = Towers(generator=Generator(size, dtype=dtype), discriminator=None)
        towers.build()
        return towers
    return make_towers(
        size,
        generator_size(config),
        tying=config.generator.tying,
        kind=config.generator.kind,
        dtype=dtype,
    )


def discriminator_size(config: PretrainConfig) -> EncoderSize:
    """Size of the encoder that is kept."""
    if config.model.vocabulary_size is None:
        raise ValueError("model.vocabulary_size is not set; pass vocabulary_size.")
    return EncoderSize(**config.model.model_dump())


def generator_size(config: PretrainConfig) -> EncoderSize:
    """Size of the generator.

    With embeddings of its own they are as wide as its layers, as in the original; the
    shared ones keep the discriminator's width.
    """
    width = config.generator_hidden_dim
    tied = config.generator.tying == "embeddings"
    return EncoderSize(
        **{
            **config.model.model_dump(),
            "embedding_dim": config.model.embedding_dim if tied else width,
            "hidden_dim": width,
            "num_layers": config.generator_num_layers,
            "num_heads": config.generator_num_heads,
            "intermediate_dim": 4 * width,
        }
    )


def _reported(discriminator):
    """Names of what a step reports."""
    names = (
        "loss",
        "generator_loss",
        "generator_accuracy",
        "empty_batches",
        "tokens_per_batch",
    )
    if discriminator is None:
        return names
    return (
        *names,
        "discriminator_loss",
        "discriminator_accuracy",
        "discriminator_precision",
        "discriminator_recall",
        "replaced_share",
    )


def _first(data):
    return data[0] if isinstance(data, tuple | list) else data
