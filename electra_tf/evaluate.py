r"""Measures saved models on held-out text.

Prints the generator's accuracy beside that of the commonest token, the discriminator's
accuracy beside that of calling every token original, its AUC over ordinary tokens, and
sentences coloured by suspicion; writes all numbers, by frequency of the tokens as well,
to `evaluation.json`.

Examples:
  python -m electra_tf.evaluate --model=runs/tiny
  python -m electra_tf.evaluate --model=runs/small --data=records --mask_rate=0.25 \
      --output=small-25.json
"""

import json
import pathlib

from absl import flags, logging

from electra_tf import cli
from electra_tf.errors import ConfigError, DataError

_MODEL = flags.DEFINE_string(
    "model", None, "Directory of a run, or generator/ or discriminator/ in it."
)
_DATA = flags.DEFINE_string(
    "data", None, "Directory of records; by default those that the run made itself."
)
_MASK_RATE = flags.DEFINE_float(
    "mask_rate", None, "Share of tokens to mask; by default the run's.", 0.0, 1.0
)
_BATCH_SIZE = flags.DEFINE_integer(
    "batch_size", None, "Sequences at a time; by default the run's.", 1
)
_NUM_BATCHES = flags.DEFINE_integer(
    "num_batches", None, "At most so many batches; by default the run's.", 1
)
_OUTPUT = flags.DEFINE_string(
    "output", None, "JSON file to write; by default evaluation.json in the run."
)


def main() -> None:
    """Runs the command."""
    if not _MODEL.value:
        raise ConfigError("--model is missing: name the directory of a run")
    if _MASK_RATE.value in (0.0, 1.0):
        raise ConfigError("--mask_rate must be above 0 and below 1")

    from electra_tf.runtime.files import check_writable, write_atomically
    from electra_tf.runtime.tensorflow_start import import_tensorflow

    if _OUTPUT.value:
        check_writable(_OUTPUT.value)
    import_tensorflow()
    from electra_tf.analysis.heldout import find_towers, measure_towers
    from electra_tf.pretraining.heldout_summary import print_summary

    saved = find_towers(_MODEL.value)
    heldout, vocabulary = measure_towers(
        saved,
        _DATA.value or _own_records(saved.run),
        mask_rate=_MASK_RATE.value,
        batch_size=_BATCH_SIZE.value,
        num_batches=_NUM_BATCHES.value,
        seed=cli.SEED.value,
    )
    print_summary(heldout, vocabulary.tokens)
    content = {"heldout": heldout.measures, "heldout_by_frequency": heldout.bands}
    output = pathlib.Path(_OUTPUT.value or saved.run / "evaluation.json")
    write_atomically(output, (json.dumps(content, indent=2) + "\n").encode("utf-8"))
    logging.info("written: %s", output)


def _own_records(run: pathlib.Path) -> str:
    """Records of the last phase of the run."""
    from electra_tf.config import load_config
    from electra_tf.training.preparation import records_directory

    configuration = run / "config.yaml"
    if configuration.is_file():
        found = records_directory(run, load_config(str(configuration)).data.max_length)
        if found.is_dir():
            return str(found)
    raise DataError(
        f"{run} has no records of its own; name a directory made by build_dataset with "
        "--data"
    )


if __name__ == "__main__":
    cli.run(main, cli.SEED)
