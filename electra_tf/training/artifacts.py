"""The towers of a run as presets: `discriminator/` and `generator/`."""

import pathlib
import shutil

from absl import logging

from electra_tf.errors import WorkError
from electra_tf.modeling.towers import Generator

DISCRIMINATOR, GENERATOR = "discriminator", "generator"


def save_towers(pretrainer, tokenizer, directory: pathlib.Path) -> None:
    """Saves each tower as a model of its own, with its head and tokenizer.

    What the towers share during pre-training is saved with both.

    Args:
        pretrainer: `ElectraPretrainer`.
        tokenizer: `ElectraTokenizer`.
        directory: the run's directory.

    Raises:
        WorkError: could not be written.
    """
    # KerasHub takes seconds to import, and is needed only now.
    from electra_tf.modeling.backbone import ElectraBackbone
    from electra_tf.modeling.masked_lm import ElectraMaskedLM
    from electra_tf.modeling.presets import copy_weights
    from electra_tf.modeling.replaced_token_detector import ElectraReplacedTokenDetector

    towers = {GENERATOR: (pretrainer.generator, ElectraMaskedLM)}
    if pretrainer.discriminator is not None:
        towers[DISCRIMINATOR] = (pretrainer.discriminator, ElectraReplacedTokenDetector)
    for name, (tower, task_class) in towers.items():
        if name == GENERATOR and not isinstance(tower, Generator):
            logging.info("a generator of kind %s has no preset", type(tower).__name__)
            continue
        encoder = tower.encoder
        size = _own_size(encoder)
        task = task_class(ElectraBackbone.from_size(size))
        copy_weights(encoder, task.backbone.encoder)
        copy_weights(tower.head, task.head)
        _replace(directory / name, lambda path, t=task: _save(t, tokenizer, path))


def _own_size(encoder):
    """Size with the width of the embeddings that the encoder really reads."""
    import dataclasses

    return dataclasses.replace(
        encoder.size, embedding_dim=encoder.embeddings.embedding_dim
    )


def _save(task, tokenizer, path: pathlib.Path) -> None:
    task.save_to_preset(str(path))
    tokenizer.save_to_preset(str(path))


def _replace(path: pathlib.Path, write) -> None:
    """Writes a directory beside its place and then moves it there."""
    fresh = path.with_name(f".{path.name}.partial")
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        write(fresh)
        shutil.rmtree(path, ignore_errors=True)
        fresh.rename(path)
    except OSError as error:
        shutil.rmtree(fresh, ignore_errors=True)
        raise WorkError(
            f"{path} could not be written ({error}); the checkpoints are intact: make "
            "room and run the same command again"
        ) from error
