"""Devices: which `tf.distribute` strategy a run uses, and whether XLA compiles it."""

import dataclasses
import os

from absl import logging

from electra_tf.errors import ConfigError, UserError
from electra_tf.runtime.tensorflow_start import import_tensorflow

STRATEGIES = ("auto", "cpu", "gpu", "mirrored", "tpu")
_STEPS_PER_CALL = 100


@dataclasses.dataclass(frozen=True)
class Devices:
    """What a run computes on.

    Attributes:
        strategy: `tf.distribute.Strategy`.
        jit_compile: bool, compile steps with XLA: on GPUs and TPUs; a CPU is 7 to 10
            times slower with it.
        description: string for people.
        max_steps_per_call: int, updates for which the graph is called once. On a device
            of its own that hides the host's work; a CPU gains nothing from it, and
            answers Ctrl-C after one step.
    """

    strategy: object
    jit_compile: bool
    description: str
    max_steps_per_call: int = 1

    @property
    def num_replicas(self) -> int:
        """Replicas over all workers."""
        return self.strategy.num_replicas_in_sync


def check_batch_size(batch_size: int, num_replicas: int) -> None:
    """Refuses a global batch that cannot be dealt out evenly.

    Raises:
        ConfigError: naming both numbers.
    """
    if batch_size % num_replicas:
        raise ConfigError(
            f"training.batch_size={batch_size} is not divisible by the {num_replicas} "
            f"replicas; use {batch_size - batch_size % num_replicas or num_replicas} or "
            f"{batch_size + -batch_size % num_replicas}"
        )


def make_devices(name: str = "auto", *, logical_cpus: int = 1) -> Devices:
    """Sets up the devices of this process; call it before anything else uses TensorFlow.

    Args:
        name: one of `STRATEGIES`. "auto" takes a TPU if one is configured in the
            environment, else all GPUs, else the CPU, and says what it took.
        logical_cpus: int, split the CPU into so many replicas.

    Raises:
        UserError: the devices asked for are not there; says which are.
    """
    if name not in STRATEGIES:
        raise ConfigError(
            f"--strategy={name}: should be one of {', '.join(STRATEGIES)}"
        )
    tf = import_tensorflow()
    if logical_cpus > 1:
        if name not in ("auto", "cpu", "mirrored"):
            raise ConfigError(f"--logical_cpus does not go with --strategy={name}")
        return _logical_cpus(tf, logical_cpus)
    gpus = tf.config.list_physical_devices("GPU")
    if name == "auto":
        name = "tpu" if "TPU_NAME" in os.environ else "mirrored" if gpus else "cpu"
        logging.info("strategy auto: %s (%d GPUs visible)", name, len(gpus))
    if name in ("gpu", "mirrored") and not gpus:
        raise UserError(
            f"--strategy={name}: TensorFlow sees no GPU here (devices: "
            f"{', '.join(d.name for d in tf.config.list_physical_devices())}); check the "
            "driver, or use --strategy=cpu, or --logical_cpus=N to try replicas on a CPU"
        )
    return _MAKERS[name](tf, gpus)


def _cpu(tf, _):
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    return Devices(strategy, False, f"CPU ({os.cpu_count()} cores)")


def _logical_cpus(tf, count):
    cpu = tf.config.list_physical_devices("CPU")[0]
    try:
        tf.config.set_logical_device_configuration(
            cpu, [tf.config.LogicalDeviceConfiguration()] * count
        )
    except RuntimeError as error:
        raise UserError(
            "--logical_cpus has to be set before TensorFlow is first used"
        ) from error
    names = [f"/cpu:{index}" for index in range(count)]
    strategy = tf.distribute.MirroredStrategy(names)
    return Devices(strategy, False, f"{count} replicas on one CPU")


def _gpu(tf, gpus):
    strategy = tf.distribute.OneDeviceStrategy("/gpu:0")
    return Devices(strategy, True, f"first of {len(gpus)} GPUs", _STEPS_PER_CALL)


def _mirrored(tf, gpus):
    strategy = tf.distribute.MirroredStrategy()
    return Devices(strategy, True, f"{len(gpus)} GPUs", _STEPS_PER_CALL)


def _tpu(tf, _):
    try:
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
        tf.config.experimental_connect_to_cluster(resolver)
        tf.tpu.experimental.initialize_tpu_system(resolver)
    except (ValueError, tf.errors.OpError) as error:
        raise UserError(
            "--strategy=tpu: no TPU was found; on a TPU VM set TPU_NAME=local, elsewhere "
            f"the name of the TPU ({str(error).splitlines()[0]})"
        ) from error
    strategy = tf.distribute.TPUStrategy(resolver)
    # The strategy compiles what it runs by itself.
    description = f"{strategy.num_replicas_in_sync} TPU cores"
    return Devices(strategy, False, description, _STEPS_PER_CALL)


_MAKERS = {
    "cpu": _cpu,
    "gpu": _gpu,
    "mirrored": _mirrored,
    "tpu": _tpu,
}
