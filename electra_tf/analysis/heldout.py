"""Held-out measures of saved towers, the same that a run reports at its end."""

import dataclasses
import pathlib

from electra_tf.config import PretrainConfig, load_config
from electra_tf.data.manifest import check_dataset, open_dataset
from electra_tf.errors import ConfigError, DataError
from electra_tf.modeling.towers import Discriminator, Generator, Towers
from electra_tf.pretraining.evaluation import Heldout, HeldoutEvaluator
from electra_tf.pretraining.masking import SpecialTokens
from electra_tf.pretraining.objectives import OBJECTIVES, Corruption
from electra_tf.runtime.random import Draws, make_heldout_key
from electra_tf.tokenization.vocabulary import Vocabulary

_GENERATOR, _DISCRIMINATOR = "generator", "discriminator"


@dataclasses.dataclass(frozen=True, kw_only=True)
class SavedTowers:
    """Where the towers of a run are.

    Attributes:
        run: directory that holds them.
        generator: preset directory.
        discriminator: preset directory, or None: a masked language model alone.
    """

    run: pathlib.Path
    generator: pathlib.Path
    discriminator: pathlib.Path | None


def find_towers(path: str) -> SavedTowers:
    """Finds the presets of a run.

    Args:
        path: directory of a run, or one of the presets in it.

    Raises:
        DataError: there is no generator; says what there is.
    """
    given = pathlib.Path(path)
    if not given.is_dir():
        raise DataError(f"--model={path}: no such directory")
    run = given if (given / _GENERATOR).is_dir() else given.parent
    generator, discriminator = run / _GENERATOR, run / _DISCRIMINATOR
    if not (generator / "config.json").is_file():
        found = ", ".join(sorted(entry.name for entry in given.iterdir())[:5])
        raise DataError(
            f"--model={path}: holds no {_GENERATOR}/ preset, and without a generator "
            "there is nothing to fill in masks or to replace tokens (found: "
            f"{found or 'nothing'}); name the directory of a finished run whose "
            "generator.kind is masked_lm: other kinds have no preset, and are measured "
            "at the end of their run only"
        )
    has_discriminator = (discriminator / "config.json").is_file()
    return SavedTowers(
        run=run,
        generator=generator,
        discriminator=discriminator if has_discriminator else None,
    )


def measure_towers(
    saved: SavedTowers,
    data: str,
    *,
    mask_rate: float | None = None,
    batch_size: int | None = None,
    num_batches: int | None = None,
    seed: int | None = None,
) -> tuple[Heldout, Vocabulary]:
    """Measures saved towers on the held-out split of a dataset.

    What is left at None is as in the run's own `config.yaml`, so that the numbers at its
    end come out again; without such a file as in the preset "base".

    Args:
        saved: see `find_towers`.
        data: directory of records.
        mask_rate: float in (0, 1).
        batch_size: int, sequences.
        num_batches: int, at most.
        seed: int, decides masks and samples.

    Returns:
        The measures, and the vocabulary of the records.

    Raises:
        UserError: models and records do not fit together.
    """
    manifest = open_dataset(data)
    vocabulary = Vocabulary.load(saved.generator / "assets" / "tokenizer" / "vocab.txt")
    check_dataset(data, manifest, vocabulary_fingerprint=vocabulary.fingerprint)
    towers = _load(saved, manifest.max_length)
    objective = OBJECTIVES[
        "replaced_token_detection" if towers.discriminator else "masked_lm"
    ]
    config = _config(saved)
    corruption = Corruption.of(config.objective, SpecialTokens.of(vocabulary))
    if mask_rate is not None:
        corruption = dataclasses.replace(corruption, mask_rate=mask_rate)
    seed = config.seed if seed is None else seed

    def outcome(batch, number):
        draws = Draws(make_heldout_key(seed, number))
        return objective(towers, batch, draws, corruption, False)

    from electra_tf.data.pipeline import heldout_batches

    training = config.training
    batches = heldout_batches(
        pathlib.Path(data), manifest, batch_size=batch_size or training.batch_size
    ).take(num_batches or training.num_evaluation_batches)
    evaluator = HeldoutEvaluator(outcome, corruption.special)
    return evaluator.evaluate(batches), vocabulary


def _config(saved: SavedTowers) -> PretrainConfig:
    path = saved.run / "config.yaml"
    return load_config(str(path) if path.is_file() else "base")


def _load(saved: SavedTowers, max_length: int) -> Towers:
    from electra_tf.modeling.masked_lm import ElectraMaskedLM
    from electra_tf.modeling.presets import copy_weights
    from electra_tf.modeling.replaced_token_detector import ElectraReplacedTokenDetector

    kinds = [(saved.generator, ElectraMaskedLM, Generator)]
    if saved.discriminator:
        kinds.append((saved.discriminator, ElectraReplacedTokenDetector, Discriminator))
    towers = []
    for path, task_class, tower_class in kinds:
        task = task_class.from_preset(str(path))
        size = task.backbone.size
        if size.max_sequence_length < max_length:
            raise ConfigError(
                f"{path} takes {size.max_sequence_length} tokens, the records have "
                f"{max_length}; build shorter ones with build_dataset --max_length"
            )
        tower = tower_class(size)
        tower.build()
        copy_weights(task.backbone.encoder, tower.encoder)
        copy_weights(task.head, tower.head)
        towers.append(tower)
    return Towers(towers[0], towers[1] if len(towers) > 1 else None)
