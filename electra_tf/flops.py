"""Counts the compute of pre-training as the paper does (appendix E).

Examples:
  python -m electra_tf.flops
      our presets, beside the models of the paper's tables
  python -m electra_tf.flops --config=small --set training.num_train_steps=250_000
  python -m electra_tf.flops --all --format=json
"""

import dataclasses
import json
import sys

from absl import flags

from electra_tf import cli

_CONFIG = flags.DEFINE_string(
    "config", None, "Preset or YAML file to count; by default all presets."
)
_ALL = flags.DEFINE_bool(
    "all", False, "With --config: the models of the paper's tables as well."
)
_FORMAT = flags.DEFINE_enum("format", "table", ["table", "json"], "What to print.")


def main() -> None:
    """Runs the command."""
    from electra_tf.analysis.known_models import configured_model, known_models
    from electra_tf.config import load_config, preset_names

    sources = [_CONFIG.value] if _CONFIG.value else preset_names()
    models = {
        source: configured_model(load_config(source, cli.SET.value))
        for source in sources
    }
    if _ALL.value or not _CONFIG.value:
        models |= known_models()
    if _FORMAT.value == "json":
        content = {name: dataclasses.asdict(model) for name, model in models.items()}
        sys.stdout.write(json.dumps({"models": content}, indent=2) + "\n")
    else:
        _print_table(models, known_models()["electra_small"].train_flops)


def _print_table(models, unit: float) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None)
    for heading in ("", "parameters", "training", "of ELECTRA-Small", "inference"):
        table.add_column(heading, justify="left" if not heading else "right")
    for name, model in models.items():
        table.add_row(
            name,
            f"{model.parameters:,}" if model.parameters else "",
            f"{model.train_flops:.3g}",
            f"{model.train_flops / unit:.3g} x",
            f"{model.inference_flops:.3g}" if model.inference_flops else "",
        )
    console = Console()
    console.print(table)
    console.print(
        "Floating-point operations: of the whole pre-training, and of one sequence at "
        "inference (appendix E of the paper)."
    )


if __name__ == "__main__":
    cli.run(main, cli.SET)
