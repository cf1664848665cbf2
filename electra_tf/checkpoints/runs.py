"""Checkpoints of our own training runs, also in the middle of one."""

import pathlib
import re
from collections.abc import Mapping

from electra_tf.checkpoints.assembly import (
    Entry,
    Hints,
    Translation,
    account_for_rest,
    assemble,
)
from electra_tf.checkpoints.model import Model
from electra_tf.checkpoints.tf1 import find_tf1, open_tf1
from electra_tf.config import PretrainConfig, load_config

_STORED = re.compile(r"model/(.+)/\.ATTRIBUTES/VARIABLE_VALUE")
_SKIPPED = (
    (r"optimizer/.*", "slot or counter of the optimizer"),
    (r"_CHECKPOINTABLE_OBJECT_GRAPH|save_counter/.*", "TensorFlow's own"),
    (
        r"model/generator\.S(left_to_right|right_to_left|head)\.S.*",
        "two-tower generator",
    ),
)


def find_run(path: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path] | None:
    """The run and the prefix of its checkpoint that a path means, or None.

    Args:
        path: a run's directory (its latest checkpoint), its `checkpoints/`, or one
            checkpoint there.
    """
    for candidate in (path / "checkpoints", path):
        prefix = find_tf1(candidate)
        if prefix and (prefix.parent.parent / "config.yaml").is_file():
            return prefix.parent.parent, prefix
    return None


def read_run(
    run: pathlib.Path, prefix: pathlib.Path
) -> tuple[dict[str, Model], list[Entry]]:
    """Reads both towers of a checkpoint, with what they share.

    Raises:
        DataError: it is damaged, or does not fit the run's configuration.
    """
    config = load_config(str(run / "config.yaml"))
    source = open_tf1(prefix)
    # Ours are stored under their paths, in which TensorFlow escapes the slash.
    stored = {
        match[1].replace(".S", "/"): name
        for name in source
        if (match := _STORED.fullmatch(name))
    }
    models: dict[str, Model] = {}
    entries: list[Entry] = []
    for tower, architecture in _towers(config).items():
        model, used = assemble(
            architecture,
            source,
            lambda ours, tower=tower: Translation(_stored_name(ours, tower, stored)),
            label=str(prefix),
            tower=tower,
            num_layers=_count_layers(tower, stored),
            has_projection=_has_projection(tower, stored),
            hints=run_hints(config)[tower],
        )
        models[tower] = model
        entries += used
    entries += account_for_rest(source, entries, _SKIPPED, str(prefix))
    return models, entries


def run_hints(config: PretrainConfig) -> dict[str, Hints]:
    """What a configuration says about the sizes of both towers."""
    model = config.model
    is_alone = config.objective.name == "masked_lm" or config.generator.tying == "all"
    common = {"P": model.max_sequence_length, "S": model.num_segments}
    rates = {
        "dropout": model.dropout,
        "attention_dropout": model.attention_dropout,
        "initializer_range": model.initializer_range,
    }
    discriminator = Hints(
        letters={
            **common,
            "E": model.embedding_dim,
            "H": model.hidden_dim,
            "I": model.intermediate_dim,
        },
        num_heads=model.num_heads,
        num_layers=model.num_layers,
        **rates,
    )
    if is_alone:
        return {"discriminator": discriminator, "generator": discriminator}
    width = config.generator_hidden_dim
    is_tied = config.generator.tying == "embeddings"
    generator = Hints(
        letters={
            **common,
            "E": model.embedding_dim if is_tied else width,
            "H": width,
            "I": 4 * width,
        },
        num_heads=config.generator_num_heads,
        num_layers=config.generator_num_layers,
        **rates,
    )
    return {"discriminator": discriminator, "generator": generator}


def _towers(config: PretrainConfig) -> Mapping[str, str]:
    if config.objective.name == "masked_lm":
        return {"generator": "masked_lm"}
    if config.generator.kind != "masked_lm":
        return {"discriminator": "replaced_token_detector"}
    return {"discriminator": "replaced_token_detector", "generator": "masked_lm"}


def _stored_name(ours: str, tower: str, stored: Mapping[str, str]) -> str:
    own = f"{tower}/{ours}"
    # What the generator shares is stored with the discriminator.
    return stored.get(own) or stored.get(f"discriminator/{ours}", own)


def _count_layers(tower, stored):
    for owner in (tower, "discriminator"):
        pattern = re.compile(rf"{owner}/encoder/layer_(\d+)/")
        found = [int(m[1]) for m in map(pattern.match, stored) if m]
        if found:
            return 1 + max(found)
    return 0


def _has_projection(tower, stored):
    has_layers = any(name.startswith(f"{tower}/encoder/layer_") for name in stored)
    owner = tower if has_layers else "discriminator"
    return f"{owner}/encoder/embeddings_projection/kernel" in stored
