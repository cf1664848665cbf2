"""The towers of a run as presets: `discriminator/` and `generator/`."""

import dataclasses
import pathlib

from absl import logging

from electra_tf.modeling.towers import Generator
from electra_tf.runtime.files import replace_directory

# Configuration, vocabulary and HDF5's own structures.
_MARGIN_BYTES = 4 << 20
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
        replace_directory(
            directory / name,
            lambda path, task=task: _save(task, tokenizer, path),
            min_free_bytes=4 * task.count_params() + _MARGIN_BYTES,
        )


def _own_size(encoder):
    """Size with the width of the embeddings that the encoder really reads."""
    return dataclasses.replace(
        encoder.size, embedding_dim=encoder.embeddings.embedding_dim
    )


def _save(task, tokenizer, path: pathlib.Path) -> None:
    task.save_to_preset(str(path))
    tokenizer.save_to_preset(str(path))
