r"""Converts weights from one format to another, and proves that nothing was lost.

Reads an official TensorFlow 1 checkpoint, a directory of Hugging Face's, a preset of
KerasHub's or of ours, and the checkpoints of our own runs. Every tensor is accounted for
in the printed table, and in conversion.json beside the result.

Examples:
  python -m electra_tf.convert --source=electra_small/ --config=small_plus_plus \
      --to=preset --output=small
  python -m electra_tf.convert --source=electra-base-discriminator/ --to=preset \
      --output=base
  python -m electra_tf.convert --source=runs/mine --tower=discriminator \
      --to=huggingface --output=mine-hf
"""

import dataclasses
import json
import pathlib

from absl import flags

from electra_tf import cli
from electra_tf.errors import ConfigError

_SOURCE = flags.DEFINE_string("source", None, "Directory, or prefix of a checkpoint.")
_TO = flags.DEFINE_enum(
    "to", "preset", ["preset", "huggingface", "tf1", "keras_hub"], "Format to write."
)
_OUTPUT = flags.DEFINE_string("output", None, "Directory to write.")
_TOWER = flags.DEFINE_enum(
    "tower",
    None,
    ["discriminator", "generator"],
    "Convert this one only; by default both, if both are there.",
)
_TASK = flags.DEFINE_string(
    "task", None, "Head of a fine-tuned TF1 checkpoint (task_specific/NAME)."
)
_CONFIG = flags.DEFINE_string(
    "config", None, "Preset or YAML file that the weights have to fit; says the heads."
)
_NUM_HEADS = flags.DEFINE_integer(
    "num_heads", None, "Attention heads, which no TF1 checkpoint tells.", 1
)
_VOCAB = flags.DEFINE_string(
    "vocab", None, "Vocabulary file; by default the one beside the weights."
)
_LOWERCASE = flags.DEFINE_bool(
    "lowercase", None, "Lower-case text; by default as stored beside the weights."
)
_STRIP_ACCENTS = flags.DEFINE_bool(
    "strip_accents", None, "Remove accents of lower-cased text; by default likewise."
)
_ALLOW_MISSING = flags.DEFINE_multi_string(
    "allow_missing",
    [],
    "Our name of a variable that may be missing, and is then initialised; repeatable.",
)
_OVERWRITE = flags.DEFINE_bool("overwrite", False, "Replace --output if it is there.")


def main() -> None:
    """Runs the command."""
    for flag in (_SOURCE, _OUTPUT):
        if not flag.value:
            raise ConfigError(f"--{flag.name} is missing (see --help)")
    if _NUM_HEADS.value and _CONFIG.value:
        raise ConfigError("--config says the heads already; leave --num_heads out")
    # What can be refused without TensorFlow, which takes seconds to import, comes first.
    from electra_tf.runtime.files import check_new_directory, write_atomically
    from electra_tf.runtime.tensorflow_start import import_tensorflow

    output = pathlib.Path(_OUTPUT.value)
    check_new_directory(output, overwrite=_OVERWRITE.value)
    config = _configuration()
    import_tensorflow()
    from rich.console import Console

    from electra_tf.checkpoints import conversion, reading, runs, table

    heads = reading.heads_only(_NUM_HEADS.value)
    hints = runs.run_hints(config) if config else heads
    checkpoint = reading.read_checkpoint(
        pathlib.Path(_SOURCE.value),
        hints=hints,
        allow_missing=_ALLOW_MISSING.value,
        vocab=pathlib.Path(_VOCAB.value) if _VOCAB.value else None,
        lowercase=_LOWERCASE.value,
        strip_accents=_STRIP_ACCENTS.value,
        task=_TASK.value,
    )
    if _TASK.value and "tf1" not in (checkpoint.format, _TO.value):
        raise ConfigError(
            "--task names a head of a TF1 checkpoint; none is involved here"
        )
    if _TOWER.value:
        checkpoint = conversion.only_tower(checkpoint, _TOWER.value)
    result = conversion.write_checkpoint(
        checkpoint,
        _TO.value,
        output,
        overwrite=_OVERWRITE.value,
        task=_TASK.value or "task",
    )
    console = Console(soft_wrap=True, highlight=False)
    table.print_entries(result.entries, console)
    table.print_verifications(result.verifications, console)
    report = {
        "source": str(checkpoint.path),
        "from": checkpoint.format,
        "to": _TO.value,
        "tensors": [dataclasses.asdict(entry) for entry in result.entries],
        "verified": [dataclasses.asdict(entry) for entry in result.verifications],
    }
    content = json.dumps(report, indent=2) + "\n"
    write_atomically(output / "conversion.json", content.encode("utf-8"))
    for tower, place in conversion.places(checkpoint, output).items():
        size = dataclasses.asdict(checkpoint.models[tower].size)
        shown = ", ".join(f"{name} {value}" for name, value in size.items())
        console.print(f"{tower}: {place if _TO.value != 'tf1' else output} ({shown})")


def _configuration():
    from electra_tf.config import load_config

    if _CONFIG.value:
        return load_config(_CONFIG.value, cli.SET.value)
    if cli.SET.value:
        raise ConfigError("--set changes a configuration; name it with --config")
    return None


if __name__ == "__main__":
    cli.run(main, cli.SET)
