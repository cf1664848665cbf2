"""What this machine can do at most, measured in the same run as everything else."""

import importlib.metadata
import os
import pathlib
import platform
from collections.abc import Callable

import tensorflow as tf

# Large enough that neither starting the product nor moving its operands counts.
_SIDE = 2048
MATMUL_FLOPS = 2 * _SIDE**3


def matmul(dtype: str = "float32") -> Callable[[], object]:
    """A function that multiplies two square matrices, `MATMUL_FLOPS` operations.

    Args:
        dtype: of the matrices.
    """
    generator = tf.random.Generator.from_seed(0)
    left, right = (tf.cast(generator.normal([_SIDE, _SIDE]), dtype) for _ in "ab")
    product = tf.function(lambda: tf.reduce_sum(tf.matmul(left, right)))
    return lambda: product().numpy()


def describe_machine() -> dict[str, str | int]:
    """Processor, cores and versions, as they belong beside any measurement."""
    versions = {
        name: importlib.metadata.version(name) for name in ("tensorflow", "keras")
    }
    return {
        "processor": _processor(),
        "cores": _cores(),
        "python": platform.python_version(),
        **versions,
    }


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processor() -> str:
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
