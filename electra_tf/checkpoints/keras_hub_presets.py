"""KerasHub's own `ElectraBackbone` presets: an encoder and a tokenizer."""

import json
import pathlib
import re

import keras_hub
import numpy as np

from electra_tf.checkpoints.assembly import (
    Entry,
    Hints,
    Translation,
    account_for_rest,
    assemble,
)
from electra_tf.checkpoints.memory import free_networks
from electra_tf.checkpoints.model import Model, Tensor, TokenizerSettings
from electra_tf.errors import DataError

_EMBEDDINGS = {
    "encoder/embeddings/word_embeddings": "token_embedding/embeddings",
    "encoder/embeddings/position_embeddings": "position_embedding/embeddings",
    "encoder/embeddings/segment_embeddings": "segment_embedding/embeddings",
    "encoder/embeddings/layer_norm/gamma": "embeddings_layer_norm/gamma",
    "encoder/embeddings/layer_norm/beta": "embeddings_layer_norm/beta",
    "encoder/embeddings_projection/kernel": "embeddings_projection/kernel",
    "encoder/embeddings_projection/bias": "embeddings_projection/bias",
}
_LAYER = {
    "query": "self_attention_layer/query",
    "key": "self_attention_layer/key",
    "value": "self_attention_layer/value",
    "attention_output": "self_attention_layer/attention_output",
    "attention_layer_norm": "self_attention_layer_norm",
    "intermediate": "feedforward_intermediate_dense",
    "feedforward_output": "feedforward_output_dense",
    "output_layer_norm": "feedforward_layer_norm",
}
_BY_HEADS = ("query", "key", "value")
POOLER = ("pooled_dense/kernel", "pooled_dense/bias")
_SKIPPED = ((r"pooled_dense/.*", "KerasHub's pooler, which ELECTRA does not have"),)


def is_keras_hub(path: pathlib.Path) -> bool:
    """Whether a directory is a preset of KerasHub's `ElectraBackbone`."""
    try:
        content = json.loads((path / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    name = content.get("registered_name") if isinstance(content, dict) else None
    return name == "keras_hub>ElectraBackbone"


def read_keras_hub(
    directory: pathlib.Path,
) -> tuple[dict[str, Model], list[Entry], TokenizerSettings | None]:
    """Reads the encoder as "discriminator", every tensor, and the tokenizer.

    Raises:
        DataError: files are missing or damaged.
    """
    try:
        backbone = keras_hub.models.ElectraBackbone.from_preset(str(directory))
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise DataError(f"{directory}: cannot be loaded ({reason})") from error
    width = backbone.hidden_dim
    source = {
        v.path: Tensor(tuple(v.shape), lambda v=v: np.asarray(v.value))
        for v in backbone.weights
    }
    label = str(directory)
    model, entries = assemble(
        "encoder",
        source,
        lambda ours: _translate(ours, width),
        label=label,
        tower="discriminator",
        num_layers=backbone.num_layers,
        has_projection="embeddings_projection/kernel" in source,
        hints=Hints(
            num_heads=backbone.num_heads,
            dropout=backbone.dropout,
            attention_dropout=backbone.dropout,
        ),
    )
    entries += account_for_rest(source, entries, _SKIPPED, label)
    return {"discriminator": model}, entries, _read_tokenizer(directory)


@free_networks
def write_keras_hub(
    model: Model, tokenizer: TokenizerSettings, directory: pathlib.Path
) -> list[Entry]:
    """Writes the encoder of a model.

    Returns:
        What KerasHub's pooler was filled with, and the tensors of a head, which has no
        place there.
    """
    backbone = keras_hub_backbone(model)
    backbone.save_to_preset(str(directory))
    converted = keras_hub.models.ElectraTokenizer(
        list(tokenizer.tokens),
        lowercase=tokenizer.lowercase,
        strip_accents=tokenizer.lowercase and tokenizer.strip_accents,
    )
    converted.save_to_preset(str(directory))
    width = model.size.hidden_dim
    zero = "KerasHub's own pooler: set to zero"
    return [
        *(
            Entry(name, tensor.shape, "skipped", reason="KerasHub has no such head")
            for name, tensor in model.tensors.items()
            if not name.startswith("encoder/")
        ),
        Entry(None, (width, width), "fresh", POOLER[0], zero),
        Entry(None, (width,), "fresh", POOLER[1], zero),
    ]


def keras_hub_backbone(model: Model) -> keras_hub.models.ElectraBackbone:
    """KerasHub's backbone with the encoder of a model."""
    size = model.size
    backbone = keras_hub.models.ElectraBackbone(
        vocab_size=size.vocabulary_size,
        num_layers=size.num_layers,
        num_heads=size.num_heads,
        hidden_dim=size.hidden_dim,
        embedding_dim=size.embedding_dim,
        intermediate_dim=size.intermediate_dim,
        dropout=size.dropout,
        max_sequence_length=size.max_sequence_length,
        num_segments=size.num_segments,
    )
    names = {
        _translate(ours, size.hidden_dim).name: ours
        for ours in model.tensors
        if ours.startswith("encoder/")
    }
    for variable in backbone.weights:
        if variable.path in POOLER:
            variable.assign(np.zeros(variable.shape, "float32"))
        else:
            tensor = model.tensors[names.pop(variable.path)]
            variable.assign(tensor.read().reshape(variable.shape))
    if names:
        raise ValueError(f"KerasHub's backbone lacks {sorted(names)}")
    return backbone


def _translate(ours: str, width: int) -> Translation:
    """Where KerasHub keeps one of our variables; it splits heads into an axis."""
    if ours in _EMBEDDINGS:
        return Translation(_EMBEDDINGS[ours])
    match = re.fullmatch(r"encoder/layer_(\d+)/(\w+)/(\w+)", ours)
    index, part, leaf = match.groups()
    name = f"transformer_layer_{index}/{_LAYER[part]}/{leaf}"
    if part in (*_BY_HEADS, "attention_output"):
        if leaf == "kernel":
            return Translation(name, "reshaped", lambda t: t.reshaped(width, width))
        if part in _BY_HEADS:
            return Translation(name, "reshaped", lambda t: t.reshaped(width))
    return Translation(name)


def _read_tokenizer(directory):
    if not (directory / "tokenizer.json").is_file():
        return None
    tokenizer = keras_hub.models.ElectraTokenizer.from_preset(str(directory))
    return TokenizerSettings(
        tokens=tuple(tokenizer.get_vocabulary()),
        lowercase=tokenizer.lowercase,
        strip_accents=tokenizer.strip_accents,
    )
