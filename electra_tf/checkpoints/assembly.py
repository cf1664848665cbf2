"""From the tensors of a source to a model, with every one of them accounted for."""

import dataclasses
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal

import numpy as np

from electra_tf.checkpoints.model import Architecture, Model, Tensor, tensor_of
from electra_tf.checkpoints.variables import (
    bind_shapes,
    variable_shapes,
)
from electra_tf.errors import DataError
from electra_tf.modeling.encoder import EncoderSize

Action = Literal["used", "transposed", "reshaped", "split", "cut", "skipped", "fresh"]
_MAX_NAMES = 6


@dataclasses.dataclass(frozen=True)
class Entry:
    """What became of one tensor.

    Attributes:
        source: its name in the source, or None for a fresh one.
        shape: there.
        action: what was done.
        target: our name with its tower in front, or None if it was skipped.
        reason: why it was skipped, cut or fresh.
    """

    source: str | None
    shape: tuple[int, ...]
    action: Action
    target: str | None = None
    reason: str = ""


@dataclasses.dataclass(frozen=True)
class Hints:
    """What shapes do not tell, or what they have to agree with.

    Attributes:
        letters: letter of `variables` → number that a configuration fixes.
        num_heads: int, or None where nobody has said it.
        num_layers: int, or None to count them.
        dropout: float.
        attention_dropout: float.
        initializer_range: float.
    """

    letters: Mapping[str, int] = dataclasses.field(default_factory=dict)
    num_heads: int | None = None
    num_layers: int | None = None
    dropout: float = 0.1
    attention_dropout: float = 0.1
    initializer_range: float = 0.02


@dataclasses.dataclass(frozen=True)
class Translation:
    """Where the source keeps one of our variables.

    Attributes:
        name: in the source.
        action: how it becomes ours.
        convert: does that.
    """

    name: str
    action: Action = "used"
    convert: Callable[[Tensor], Tensor] = lambda tensor: tensor


def assemble(
    architecture: Architecture,
    source: Mapping[str, Tensor],
    translate: Callable[[str], Translation],
    *,
    label: str,
    tower: str,
    num_layers: int,
    has_projection: bool,
    hints: Hints,
    allow_missing: Collection[str] = (),
    class_names: tuple[str, ...] | None = None,
) -> tuple[Model, list[Entry]]:
    """Collects the tensors of one network.

    Args:
        architecture: which head to look for.
        source: all tensors of the source.
        translate: from our name to where the source has it.
        label: names the source in errors.
        tower: names the network in entries, for example "discriminator".
        num_layers: int, found in the source.
        has_projection: bool, likewise.
        hints: `Hints`.
        allow_missing: our names that may be missing, and are then initialised.
        class_names: of a classifier.

    Raises:
        DataError: a tensor is missing or has a wrong shape; the number of heads is not
            known.
    """
    _check_layers(hints, num_layers, label)
    expected = variable_shapes(
        architecture, num_layers=num_layers, has_projection=has_projection
    )
    found = {name: translate(name) for name in expected}
    missing = [name for name in expected if found[name].name not in source]
    refused = [found[name].name for name in missing if name not in allow_missing]
    if refused:
        raise DataError(
            f"{label}: the {tower} lacks {listed(refused)}; nothing is left at random "
            "values unless --allow_missing names it"
        )
    present = [name for name in expected if name not in missing]
    tensors = {n: found[n].convert(source[found[n].name]) for n in present}
    letters = bind_shapes(
        {name: expected[name] for name in present},
        {name: tensor.shape for name, tensor in tensors.items()},
        hints.letters,
        {name: f"{label}: {found[name].name}" for name in present},
    )
    size = _size(letters, num_layers, hints, label, tower)
    entries = []
    for name in expected:
        target = f"{tower}/{name}"
        if name in missing:
            shape = tuple(letters.get(s, 1) for s in expected[name].split())
            tensors[name] = tensor_of(_fresh(name, shape, size.initializer_range))
            entries.append(Entry(None, shape, "fresh", target, "--allow_missing"))
        else:
            source_name, shape = found[name].name, source[found[name].name].shape
            entries.append(Entry(source_name, shape, found[name].action, target))
    model = Model(
        architecture=architecture,
        size=size,
        tensors={name: tensors[name] for name in expected},
        class_names=class_names,
    )
    return model, entries


def account_for_rest(
    source: Mapping[str, Tensor],
    entries: Sequence[Entry],
    rules: Sequence[tuple[str, str]],
    label: str,
) -> list[Entry]:
    """Entries of what no network has used.

    Args:
        source: all tensors of the source.
        entries: of what was used.
        rules: (pattern of the whole name, reason to skip it).
        label: names the source in errors.

    Raises:
        DataError: a tensor is used by nobody, and no rule says why.
    """
    used = {entry.source for entry in entries}
    skipped, unknown = [], []
    for name in source:
        if name in used:
            continue
        reasons = [why for pattern, why in rules if re.fullmatch(pattern, name)]
        if reasons:
            shape = source[name].shape
            skipped.append(Entry(name, shape, "skipped", reason=reasons[0]))
        else:
            unknown.append(name)
    if unknown:
        raise DataError(
            f"{label}: {listed(unknown)} has no place in an ELECTRA model; is this a "
            "checkpoint of something else, or of a changed model?"
        )
    return skipped


def listed(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    shown = ", ".join(sorted(names)[:_MAX_NAMES])
    more = len(names) - _MAX_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def _check_layers(hints, num_layers, label):
    if hints.num_layers not in (None, num_layers):
        raise DataError(
            f"{label}: has {num_layers} layers, the configuration says "
            f"{hints.num_layers}; check model.num_layers (generator.num_layers_fraction "
            "of a generator)"
        )


def _size(letters, num_layers, hints, label, tower):
    if hints.num_heads is None:
        raise DataError(
            f"{label}: the number of attention heads of the {tower} cannot be seen in "
            "the shapes; name the configuration (--config=small, base, large or a file) "
            "or --num_heads"
        )
    if letters["H"] % hints.num_heads:
        raise DataError(
            f"{label}: {hints.num_heads} attention heads do not divide the {tower}'s "
            f"width {letters['H']}"
        )
    return EncoderSize(
        vocabulary_size=letters["V"],
        embedding_dim=letters["E"],
        hidden_dim=letters["H"],
        num_layers=num_layers,
        num_heads=hints.num_heads,
        intermediate_dim=letters["I"],
        max_sequence_length=letters["P"],
        num_segments=letters["S"],
        dropout=hints.dropout,
        attention_dropout=hints.attention_dropout,
        initializer_range=hints.initializer_range,
    )


def _fresh(name, shape, spread):
    if name.endswith("gamma"):
        return np.ones(shape, "float32")
    if name.endswith(("beta", "bias")):
        return np.zeros(shape, "float32")
    draws = np.random.default_rng(0).normal(0.0, spread, shape)
    return np.clip(draws, -2 * spread, 2 * spread).astype("float32")
