"""Presets: what KerasHub has to know of ours, and what it does not check."""

import json
import pathlib

import keras

from electra_tf.errors import DataError
from electra_tf.modeling.backbone import ElectraBackbone
from electra_tf.tokenization.tokenizer import ElectraTokenizer

# `ElectraTokenizer.from_preset` takes the presets of this backbone.
ElectraTokenizer.backbone_cls = ElectraBackbone


class TrainedHead:
    """A task whose head is a part of the preset: put before KerasHub's class.

    KerasHub would put a head of random values on an encoder without a word.
    """

    advice = ""

    @classmethod
    def from_preset(cls, preset, load_weights=True, **kwargs):
        """Loads encoder and head.

        Raises:
            DataError: the directory has no head of this class; names what it holds.
        """
        directory = pathlib.Path(str(preset))
        if load_weights and directory.is_dir():
            _require_task(cls, directory)
        return super().from_preset(preset, load_weights=load_weights, **kwargs)


def _require_task(cls, directory):
    task_file = directory / "task.json"
    found = "an encoder without a head"
    if task_file.is_file():
        found = json.loads(task_file.read_text(encoding="utf-8")).get("class_name")
    if found != cls.__name__:
        raise DataError(
            f"{directory} holds {found}, not {cls.__name__}: loading it so would leave "
            f"the head at random values. {cls.advice}"
        )


def copy_weights(source: keras.layers.Layer, target: keras.layers.Layer) -> None:
    """Gives `target` the values of `source`, a layer of the same structure.

    Raises:
        ValueError: names the first variable whose shape differs.
    """
    pairs = zip(source.trainable_variables, target.trainable_variables, strict=True)
    for old, new in pairs:
        if old.shape != new.shape:
            raise ValueError(
                f"{old.path} has shape {old.shape}, {new.path} {new.shape}"
            )
        new.assign(old.value)
