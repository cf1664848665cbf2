"""One joint update: ours, the limit of the matrix products, Hugging Face's in PyTorch."""

import dataclasses
import time
from collections.abc import Sequence

import keras
import numpy as np
import tensorflow as tf

from electra_tf.analysis.step_flops import joint_step_flops
from electra_tf.benchmarks import machine, peers
from electra_tf.benchmarks.timing import time_side_by_side
from electra_tf.config import PretrainConfig, load_config
from electra_tf.errors import ConfigError
from electra_tf.optimization.factory import make_optimizer
from electra_tf.pretraining.masking import SpecialTokens
from electra_tf.pretraining.pretrainer import ElectraPretrainer
from electra_tf.runtime.precision import dtype_policy

# BERT's vocabulary, so that sizes are those of the paper.
_VOCABULARY_SIZE = 30_522
_SPECIAL = SpecialTokens(pad_id=0, cls_id=101, sep_id=102, mask_id=103)
_DEFAULTS = ("training.batch_size=16", "data.max_length=128")
_PEER = "Hugging Face, eager"


def benchmark_train_step(
    config: str = "small",
    overrides: Sequence[str] = (),
    precision: str = "float32",
    repeats: int = 10,
) -> dict:
    """Times the update with random tokens, no padding, dropout on.

    Args:
        config: preset or file.
        overrides: "section.key=value" strings; 16 sequences of 128 tokens by default.
        precision: one of `PRECISIONS`.
        repeats: int, timed updates of each subject.

    Returns:
        What `--json` writes. `matmul_utilization` is the share of the measured rate of
        matrix products that the products of the update reach; a ratio above 1 says how
        many times faster than that peer ours is.

    Raises:
        ConfigError: an objective or a generator that peer and count know nothing of.
    """
    settings = load_config(
        config, (*_DEFAULTS, *overrides), vocabulary_size=_VOCABULARY_SIZE
    )
    _check_objective(settings)
    batch = _random_batch(settings)
    step = _OurStep(settings, precision, batch)
    compute_dtype = keras.DTypePolicy(dtype_policy(precision)).compute_dtype
    subjects = {"ours": step, "matmul": machine.matmul(compute_dtype)}
    absent = _why_no_peer(precision)
    if not absent:
        subjects[_PEER] = peers.hugging_face_step(settings, _SPECIAL, batch)
    timings = time_side_by_side(subjects, repeats, warm_up=2)
    ours, matmul = timings["ours"], timings["matmul"]
    flops = joint_step_flops(settings)
    matmul_rate = machine.MATMUL_FLOPS / matmul.seconds
    return {
        "benchmark": "train_step",
        "machine": machine.describe_machine(),
        "config": config,
        "precision": precision,
        "batch_size": settings.training.batch_size,
        "max_length": settings.data.max_length,
        "first_step": dataclasses.asdict(step.first),
        "step": ours.to_json(),
        "tokens_per_second": batch["token_ids"].size / ours.seconds,
        "model_flops": flops,
        "model_flops_per_second": flops / ours.seconds,
        "matmul_flops_per_second": matmul_rate,
        "matmul_utilization": flops / ours.seconds / matmul_rate,
        "peers": {_PEER: {"missing": absent} if absent else timings[_PEER].to_json()},
        "ratios": {} if absent else {_PEER: timings[_PEER].seconds / ours.seconds},
    }


def _check_objective(config: PretrainConfig) -> None:
    """Operations are counted, and the peer is built, for the paper's own method."""
    for name, value, needed in (
        ("objective.name", config.objective.name, "replaced_token_detection"),
        ("generator.kind", config.generator.kind, "masked_lm"),
        ("generator.tying", config.generator.tying, "embeddings"),
    ):
        if value != needed:
            raise ConfigError(f"{name}={value}: this benchmark measures {needed} only")


def _why_no_peer(precision: str) -> str:
    absent = peers.missing_packages(("torch", "transformers"))
    if absent:
        return f"pip install {' '.join(absent)}"
    return "" if precision == "float32" else "measured in float32 only"


@dataclasses.dataclass
class FirstStep:
    """Where the time before the first update goes, in seconds."""

    build: float = 0.0
    trace: float = 0.0
    first_run: float = 0.0


class _OurStep:
    """The update as a function of nothing, compiled as the command does."""

    def __init__(self, config: PretrainConfig, precision: str, batch):
        start = time.perf_counter()
        pretrainer = ElectraPretrainer(config, _SPECIAL, dtype=dtype_policy(precision))
        loss_scaling = precision == "float16"
        pretrainer.compile(make_optimizer(config.training, loss_scaling=loss_scaling))
        built = time.perf_counter()
        function = tf.function(pretrainer.train_step)
        self._batch = {name: tf.constant(value) for name, value in batch.items()}
        self._step = function.get_concrete_function(self._batch)
        traced = time.perf_counter()
        self()
        ran = time.perf_counter()
        self.first = FirstStep(built - start, traced - built, ran - traced)

    def __call__(self):
        return self._step(self._batch)["loss"].numpy()


def _random_batch(config: PretrainConfig) -> dict[str, np.ndarray]:
    shape = (config.training.batch_size, config.data.max_length)
    generator = np.random.default_rng(0)
    token_ids = generator.integers(1_000, _VOCABULARY_SIZE, shape, dtype=np.int32)
    token_ids[:, 0], token_ids[:, -1] = _SPECIAL.cls_id, _SPECIAL.sep_id
    return {
        "token_ids": token_ids,
        "segment_ids": np.zeros(shape, np.int32),
        "padding_mask": np.ones(shape, np.int32),
    }
