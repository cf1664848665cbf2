"""From any format to any other, verified before it is there."""

import dataclasses
import pathlib
from collections.abc import Callable, Sequence
from typing import Literal, get_args

from electra_tf.checkpoints.assembly import Entry
from electra_tf.checkpoints.huggingface import write_huggingface
from electra_tf.checkpoints.keras_hub_presets import write_keras_hub
from electra_tf.checkpoints.presets import write_preset
from electra_tf.checkpoints.reading import Checkpoint
from electra_tf.checkpoints.tf1 import write_tf1
from electra_tf.checkpoints.verification import Verification, verify
from electra_tf.errors import DataError
from electra_tf.runtime.files import check_new_directory, replace_directory

Format = Literal["preset", "huggingface", "tf1", "keras_hub"]
FORMATS = get_args(Format)
_WRITERS = {
    "preset": write_preset,
    "huggingface": write_huggingface,
    "keras_hub": write_keras_hub,
}
# Configurations, vocabularies, and the structures of the file formats.
_MARGIN_BYTES = 16 << 20


@dataclasses.dataclass(frozen=True, kw_only=True)
class Conversion:
    """What was written.

    Attributes:
        entries: what became of every tensor of the source and of the target.
        verifications: what was compared afterwards.
    """

    entries: Sequence[Entry]
    verifications: Sequence[Verification]


def write_checkpoint(
    checkpoint: Checkpoint,
    to: Format,
    output: pathlib.Path,
    *,
    overwrite: bool = False,
    task: str = "task",
) -> Conversion:
    """Writes a checkpoint in another format and compares it with what was read.

    Two towers become `discriminator/` and `generator/` in `output`, or one checkpoint of
    the official kind; one tower becomes `output` itself.

    Args:
        checkpoint: see `read_checkpoint`.
        to: one of `FORMATS`.
        output: directory, which appears only when everything is in it and verified.
        overwrite: bool, replace a directory that is there.
        task: name of a fine-tuned head in an official checkpoint.

    Raises:
        DataError: there is no vocabulary, the directory is not empty, or the format has
            no place for the model.
        WorkError: it could not be written, or is not what was read.
    """
    check_new_directory(output, overwrite=overwrite)
    if to != "tf1" and checkpoint.tokenizer is None:
        raise DataError(
            f"{checkpoint.path}: there is no vocabulary beside the weights; name it with "
            "--vocab"
        )
    added: list[Entry] = []
    verifications: list[Verification] = []

    def write(directory: pathlib.Path) -> None:
        added.extend(_write(checkpoint, to, directory, task))
        verifications.extend(verify(checkpoint, to, directory))

    replace_directory(output, write, min_free_bytes=_bytes(checkpoint) + _MARGIN_BYTES)
    return Conversion(
        entries=[*checkpoint.entries, *added], verifications=verifications
    )


def places(checkpoint: Checkpoint, directory: pathlib.Path) -> dict[str, pathlib.Path]:
    """Where each tower is written."""
    towers = list(checkpoint.models)
    return {t: directory / t if len(towers) > 1 else directory for t in towers}


def only_tower(checkpoint: Checkpoint, tower: str) -> Checkpoint:
    """The checkpoint with one of its towers.

    Raises:
        DataError: it has no such tower; says which it has.
    """
    if tower not in checkpoint.models:
        held = " and ".join(
            f"a {name} ({model.architecture})"
            for name, model in checkpoint.models.items()
        )
        raise DataError(f"{checkpoint.path}: has no {tower}; it holds {held}")
    return dataclasses.replace(
        checkpoint,
        models={tower: checkpoint.models[tower]},
        entries=[
            entry
            if entry.target is None or entry.target.startswith(f"{tower}/")
            else Entry(entry.source, entry.shape, "skipped", reason="the other tower")
            for entry in checkpoint.entries
        ],
    )


def _write(
    checkpoint: Checkpoint, to: Format, directory: pathlib.Path, task: str
) -> Sequence[Entry]:
    if to == "tf1":
        write_tf1(checkpoint.models, directory, task)
        if checkpoint.tokenizer:
            lines = "".join(f"{token}\n" for token in checkpoint.tokenizer.tokens)
            (directory / "vocab.txt").write_text(lines, encoding="utf-8", newline="")
        return ()
    write: Callable = _WRITERS[to]
    added: list[Entry] = []
    for tower, place in places(checkpoint, directory).items():
        place.mkdir(exist_ok=True)
        added += write(checkpoint.models[tower], checkpoint.tokenizer, place) or ()
    return added


def _bytes(checkpoint):
    return sum(
        4 * _product(tensor.shape)
        for model in checkpoint.models.values()
        for tensor in model.tensors.values()
    )


def _product(shape):
    total = 1
    for size in shape:
        total *= size
    return total
