"""Pre-trains a generator and a discriminator.

  python -m electra_tf.pretrain
      learns from the documentation installed on this machine, in minutes
  python -m electra_tf.pretrain --config=small --corpus='texts/*.txt' --model_dir=run
      your own text; a vocabulary is learned unless you give one with --vocab
  python -m electra_tf.pretrain --config=base --data=records/ --model_dir=run
      records made by `python -m electra_tf.build_dataset`

Run the same command again to go on from the last checkpoint.
"""

from absl import flags

from electra_tf import cli

_CONFIG = flags.DEFINE_string(
    "config", "tiny", "Preset (tiny, small, base, large, ...) or a YAML file."
)
_CORPUS = flags.DEFINE_string(
    "corpus", None, "Text to learn from: a file, a directory or a glob."
)
_DATA = flags.DEFINE_string("data", None, "Directory of ready records.")
_VOCAB = flags.DEFINE_string("vocab", None, "Vocabulary file, one token a line.")
_MODEL_DIR = flags.DEFINE_string(
    "model_dir",
    None,
    "Where everything of this run is written; by default runs/CONFIG.",
)
_RESUME = flags.DEFINE_enum(
    "resume", "auto", ["auto", "never"], "Go on from the last checkpoint, or refuse to."
)
_INIT_DISCRIMINATOR = flags.DEFINE_string(
    "init_discriminator",
    None,
    "Start from these weights: a preset, a run, a TF1 or Hugging Face checkpoint.",
)
_INIT_GENERATOR = flags.DEFINE_string("init_generator", None, "Likewise.")


def main() -> None:
    """Runs the command."""
    # Imported here: --help has to answer at once.
    import pathlib

    from electra_tf.training.run import RunRequest, pretrain

    name = pathlib.Path(_CONFIG.value).stem
    pretrain(
        RunRequest(
            config=_CONFIG.value,
            overrides=tuple(cli.SET.value),
            model_dir=_MODEL_DIR.value or f"runs/{name}",
            corpus=_CORPUS.value,
            data=_DATA.value,
            vocab=_VOCAB.value,
            strategy=cli.STRATEGY.value,
            precision=cli.PRECISION.value,
            logical_cpus=cli.LOGICAL_CPUS.value,
            resume=_RESUME.value,
            seed=cli.SEED.value,
            init_discriminator=_INIT_DISCRIMINATOR.value,
            init_generator=_INIT_GENERATOR.value,
        )
    )


if __name__ == "__main__":
    cli.run(main, cli.SET, cli.SEED, cli.STRATEGY, cli.PRECISION, cli.LOGICAL_CPUS)
