"""Measures speeds on this machine, beside a peer and the machine's limit in one run.

Results are ratios: seconds alone say as much about the machine as about the program.
Peers need `pip install 'electra_tf[bench]'`; one that is not installed is named.

Examples:
  python -m electra_tf.benchmark train_step
      one joint update of Small, 16 x 128
  python -m electra_tf.benchmark train_step --config=base --set training.batch_size=8
  python -m electra_tf.benchmark build --json=build.json
      records from text, in one process
"""

import json
import pathlib

from absl import flags

from electra_tf import cli

_CONFIG = flags.DEFINE_string(
    "config", "small", "train_step: preset or YAML file of the model."
)
_REPEATS = flags.DEFINE_integer("repeats", None, "How often each is timed.", 1)
_JSON = flags.DEFINE_string("json", None, "File to write the numbers to.")


def main(name: str) -> None:
    """Runs the command."""
    from electra_tf.runtime.tensorflow_start import import_tensorflow

    import_tensorflow()
    from electra_tf.benchmarks.table import print_result
    from electra_tf.runtime.files import write_atomically

    result = _BENCHMARKS[name]()
    print_result(result)
    if _JSON.value:
        content = json.dumps(result, indent=2) + "\n"
        write_atomically(pathlib.Path(_JSON.value), content.encode("utf-8"))


def _train_step() -> dict:
    from electra_tf.benchmarks.train_step import benchmark_train_step

    return benchmark_train_step(
        _CONFIG.value, cli.SET.value, cli.PRECISION.value, _REPEATS.value or 10
    )


def _build() -> dict:
    from electra_tf.benchmarks.example_building import benchmark_example_building

    return benchmark_example_building(_REPEATS.value or 3)


_BENCHMARKS = {"train_step": _train_step, "build": _build}


if __name__ == "__main__":
    cli.run(main, cli.SET, cli.PRECISION, names=tuple(_BENCHMARKS))
