"""Our variables of every architecture, with shapes as letters.

`V` vocabulary, `E` embeddings, `P` positions, `S` segments, `H` hidden, `I` intermediate,
`C` classes. The letters are bound by the first tensor that has them, so that sizes are
read off the shapes, and a tensor that contradicts an earlier one is found.
"""

import re
from collections.abc import Mapping

from electra_tf.checkpoints.model import Architecture
from electra_tf.errors import DataError

_EMBEDDINGS = {
    "encoder/embeddings/word_embeddings": "V E",
    "encoder/embeddings/position_embeddings": "P E",
    "encoder/embeddings/segment_embeddings": "S E",
    "encoder/embeddings/layer_norm/gamma": "E",
    "encoder/embeddings/layer_norm/beta": "E",
}
_PROJECTION = {
    "encoder/embeddings_projection/kernel": "E H",
    "encoder/embeddings_projection/bias": "H",
}
_LAYER = {
    "query/kernel": "H H",
    "query/bias": "H",
    "key/kernel": "H H",
    "key/bias": "H",
    "value/kernel": "H H",
    "value/bias": "H",
    "attention_output/kernel": "H H",
    "attention_output/bias": "H",
    "attention_layer_norm/gamma": "H",
    "attention_layer_norm/beta": "H",
    "intermediate/kernel": "H I",
    "intermediate/bias": "I",
    "feedforward_output/kernel": "I H",
    "feedforward_output/bias": "H",
    "output_layer_norm/gamma": "H",
    "output_layer_norm/beta": "H",
}
_HEADS: dict[Architecture, dict[str, str]] = {
    "encoder": {},
    "replaced_token_detector": {
        "head/dense/kernel": "H H",
        "head/dense/bias": "H",
        "head/prediction/kernel": "H 1",
        "head/prediction/bias": "1",
    },
    "masked_lm": {
        "head/dense/kernel": "H E",
        "head/dense/bias": "E",
        "head/layer_norm/gamma": "E",
        "head/layer_norm/beta": "E",
        "head/output_bias": "V",
    },
    "text_classifier": {
        "head/output/kernel": "H C",
        "head/output/bias": "C",
    },
    "deep_text_classifier": {
        "head/dense/kernel": "H H",
        "head/dense/bias": "H",
        "head/output/kernel": "H C",
        "head/output/bias": "C",
    },
    "token_classifier": {
        "head/output/kernel": "H C",
        "head/output/bias": "C",
    },
    "question_answerer": {
        "head/start/kernel": "H 1",
        "head/start/bias": "1",
        "head/end/kernel": "H 1",
        "head/end/bias": "1",
    },
    "answerability_question_answerer": {
        "head/start/kernel": "H 1",
        "head/start/bias": "1",
        "head/end/kernel": "H 1",
        "head/end/bias": "1",
        "head/answerable/kernel": "H 1",
        "head/answerable/bias": "1",
    },
}
# Letters that are attributes of `EncoderSize`.
LETTERS = {
    "V": "vocabulary_size",
    "E": "embedding_dim",
    "P": "max_sequence_length",
    "S": "num_segments",
    "H": "hidden_dim",
    "I": "intermediate_dim",
}
# What a person changes to make a letter fit.
_SETTINGS = {
    "V": "the vocabulary",
    "E": "model.embedding_dim",
    "P": "model.max_sequence_length",
    "S": "model.num_segments",
    "H": "model.hidden_dim (generator.hidden_dim_fraction of a generator)",
    "I": "model.intermediate_dim (generator.hidden_dim_fraction of a generator)",
}


def variable_shapes(
    architecture: Architecture, *, num_layers: int, has_projection: bool
) -> dict[str, str]:
    """Names of a model's variables → their shapes in letters, in order."""
    layers = {
        f"encoder/layer_{index}/{name}": letters
        for index in range(num_layers)
        for name, letters in _LAYER.items()
    }
    projection = _PROJECTION if has_projection else {}
    return {**_EMBEDDINGS, **projection, **layers, **_HEADS[architecture]}


def count_layers(names) -> int:
    """Number of transformer layers among our names."""
    found = (re.match(r"encoder/layer_(\d+)/", name) for name in names)
    return 1 + max((int(match[1]) for match in found if match), default=-1)


def bind_shapes(
    expected: Mapping[str, str],
    shapes: Mapping[str, tuple[int, ...]],
    known: Mapping[str, int],
    labels: Mapping[str, str],
) -> dict[str, int]:
    """Finds the number behind each letter.

    Args:
        expected: name → letters.
        shapes: name → shape, of every expected name.
        known: letters that a configuration has fixed.
        labels: name → what the source calls it, for errors.

    Raises:
        DataError: a shape contradicts the configuration or another tensor; names the
            variable, both shapes and the setting.
    """
    bound = dict(known)
    for name, letters in expected.items():
        symbols, shape = letters.split(), shapes[name]
        if len(symbols) == len(shape):
            for symbol, size in zip(symbols, shape, strict=True):
                if symbol != "1":
                    bound.setdefault(symbol, size)
        wanted = tuple(1 if s == "1" else bound.get(s) for s in symbols)
        if wanted != shape:
            pairs = zip(symbols, wanted, shape, strict=False)
            wrong = [s for s, size, found in pairs if size != found and s in _SETTINGS]
            remedy = f"; check {_SETTINGS[wrong[0]]}" if wrong else ""
            raise DataError(
                f"{labels[name]} has the shape {list(shape)}, {list(wanted)} was "
                f"expected{remedy}"
            )
    return bound
