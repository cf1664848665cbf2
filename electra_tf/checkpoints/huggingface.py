"""Hugging Face's directories: `config.json`, safetensors, the tokenizer's files."""

import json
import pathlib
import re
from collections.abc import Collection, Mapping

import numpy as np
import safetensors
import safetensors.numpy

from electra_tf.checkpoints.assembly import (
    Entry,
    Hints,
    Translation,
    account_for_rest,
    assemble,
)
from electra_tf.checkpoints.model import (
    Architecture,
    Model,
    Tensor,
    TokenizerSettings,
)
from electra_tf.checkpoints.torch_files import open_torch_file
from electra_tf.errors import DataError

CONFIG_FILE, WEIGHTS_FILE = "config.json", "model.safetensors"
_INDEX_FILE = "model.safetensors.index.json"
_TORCH_FILE = "pytorch_model.bin"
_TOKENIZER_FILE, _VOCABULARY_FILE = "tokenizer_config.json", "vocab.txt"
CLASSES: dict[Architecture, str] = {
    "encoder": "ElectraModel",
    "replaced_token_detector": "ElectraForPreTraining",
    "masked_lm": "ElectraForMaskedLM",
    "deep_text_classifier": "ElectraForSequenceClassification",
    "token_classifier": "ElectraForTokenClassification",
    "question_answerer": "ElectraForQuestionAnswering",
}
_LAYER = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "attention_output": "attention.output.dense",
    "attention_layer_norm": "attention.output.LayerNorm",
    "intermediate": "intermediate.dense",
    "feedforward_output": "output.dense",
    "output_layer_norm": "output.LayerNorm",
}
_EMBEDDINGS = {
    "encoder/embeddings/word_embeddings": "embeddings.word_embeddings.weight",
    "encoder/embeddings/position_embeddings": "embeddings.position_embeddings.weight",
    "encoder/embeddings/segment_embeddings": "embeddings.token_type_embeddings.weight",
    "encoder/embeddings/layer_norm/gamma": "embeddings.LayerNorm.weight",
    "encoder/embeddings/layer_norm/beta": "embeddings.LayerNorm.bias",
    "encoder/embeddings_projection/kernel": "embeddings_project.weight",
    "encoder/embeddings_projection/bias": "embeddings_project.bias",
}
_HEADS: dict[Architecture, dict[str, str]] = {
    "encoder": {},
    "replaced_token_detector": {
        "head/dense/kernel": "discriminator_predictions.dense.weight",
        "head/dense/bias": "discriminator_predictions.dense.bias",
        "head/prediction/kernel": "discriminator_predictions.dense_prediction.weight",
        "head/prediction/bias": "discriminator_predictions.dense_prediction.bias",
    },
    "masked_lm": {
        "head/dense/kernel": "generator_predictions.dense.weight",
        "head/dense/bias": "generator_predictions.dense.bias",
        "head/layer_norm/gamma": "generator_predictions.LayerNorm.weight",
        "head/layer_norm/beta": "generator_predictions.LayerNorm.bias",
        "head/output_bias": "generator_lm_head.bias",
    },
    "deep_text_classifier": {
        "head/dense/kernel": "classifier.dense.weight",
        "head/dense/bias": "classifier.dense.bias",
        "head/output/kernel": "classifier.out_proj.weight",
        "head/output/bias": "classifier.out_proj.bias",
    },
    "token_classifier": {
        "head/output/kernel": "classifier.weight",
        "head/output/bias": "classifier.bias",
    },
    "question_answerer": {},
}
# Start and end are two rows of one tensor there.
_ANSWERS = re.compile(r"head/(start|end)/(kernel|bias)")
_LEAVES = {"kernel": "weight", "gamma": "weight", "beta": "bias", "bias": "bias"}
_OUTPUT_TABLE = "generator_lm_head.weight"
_SKIPPED = (
    (r"(electra\.)?embeddings\.position_ids", "a buffer, not a weight"),
    (re.escape(_OUTPUT_TABLE), "the word table again: the output is tied to it"),
)
# (key, value that our arithmetic has, what else means the same)
_ARITHMETIC = (
    ("hidden_act", "gelu", ()),
    ("layer_norm_eps", 1e-12, ()),
    ("position_embedding_type", "absolute", (None,)),
    ("is_decoder", False, (None,)),
    ("add_cross_attention", False, (None,)),
)


def is_huggingface(path: pathlib.Path) -> bool:
    """Whether a directory looks like one of Hugging Face's."""
    config = path / CONFIG_FILE
    return config.is_file() and "model_type" in _read_json(config)


def read_huggingface(
    directory: pathlib.Path, allow_missing: Collection[str] = ()
) -> tuple[dict[str, Model], list[Entry], TokenizerSettings | None]:
    """Reads a model.

    Args:
        directory: with `config.json` and weights.
        allow_missing: our names that may be missing.

    Returns:
        The model as "discriminator" or "generator"; what became of every tensor; the
        tokenizer if it is there.

    Raises:
        DataError: another kind of model, another arithmetic, damaged or missing files.
    """
    config = _read_json(directory / CONFIG_FILE)
    architecture = _architecture(directory, config)
    source = _open_weights(directory)
    label = str(directory)
    tower = "generator" if architecture == "masked_lm" else "discriminator"
    prefix = "electra." if any(name.startswith("electra.") for name in source) else ""
    model, entries = assemble(
        architecture,
        source,
        lambda ours: huggingface_name(ours, architecture, prefix),
        label=label,
        tower=tower,
        num_layers=_count_layers(source),
        has_projection=f"{prefix}embeddings_project.weight" in source,
        hints=_hints(config),
        allow_missing=allow_missing,
        class_names=_class_names(config) if "class" in architecture else None,
    )
    _check_tied(source, model, label)
    entries += account_for_rest(source, entries, _SKIPPED, label)
    return {tower: model}, entries, read_tokenizer(directory)


def huggingface_name(
    ours: str, architecture: Architecture, prefix: str = "electra."
) -> Translation:
    """Where Hugging Face keeps one of our variables; kernels are transposed there."""
    if answer := _ANSWERS.fullmatch(ours):
        row = ("start", "end").index(answer[1])
        name = f"qa_outputs.{_LEAVES[answer[2]]}"
        return Translation(name, "split", lambda tensor: _row(tensor, row))
    if ours in _EMBEDDINGS:
        name = prefix + _EMBEDDINGS[ours]
    elif ours in _HEADS[architecture]:
        name = _HEADS[architecture][ours]
    else:
        match = re.fullmatch(r"encoder/layer_(\d+)/(\w+)/(\w+)", ours)
        index, part, leaf = match.groups()
        name = f"{prefix}encoder.layer.{index}.{_LAYER[part]}.{_LEAVES[leaf]}"
    if ours.endswith("/kernel"):
        return Translation(name, "transposed", Tensor.transposed)
    return Translation(name)


def _row(tensor: Tensor, row: int) -> Tensor:
    """A row `[1, H]` as a kernel `[H, 1]`, or a bias of `[2]` as one of `[1]`."""
    if len(tensor.shape) == 2:
        shape = (tensor.shape[1], 1)
        return Tensor(shape, lambda: tensor.read()[row].reshape(shape))
    return Tensor((1,), lambda: tensor.read()[row : row + 1])


def write_huggingface(
    model: Model, tokenizer: TokenizerSettings, directory: pathlib.Path
) -> None:
    """Writes a model that `from_pretrained` loads with no missing and no unexpected key.

    Args:
        model: `Model`.
        tokenizer: `TokenizerSettings`.
        directory: exists.
    """
    if model.architecture not in CLASSES:
        raise DataError(
            f"Hugging Face's ELECTRA has no head like this {model.architecture}: its "
            "classifier of texts has a hidden layer, its question answerer no answerability"
        )
    config = _config(model, tokenizer)
    prefix = "" if model.architecture == "encoder" else "electra."
    arrays = {}
    for ours, tensor in model.tensors.items():
        place = huggingface_name(ours, model.architecture, prefix)
        if place.action == "split":
            row = tensor.read().reshape(1, -1) if "kernel" in ours else tensor.read()
            arrays.setdefault(place.name, []).append(row)
        else:
            arrays[place.name] = np.ascontiguousarray(place.convert(tensor).read())
    arrays = {
        name: np.concatenate(value) if isinstance(value, list) else value
        for name, value in arrays.items()
    }
    safetensors.numpy.save_file(
        arrays, directory / WEIGHTS_FILE, metadata={"format": "pt"}
    )
    _write_json(directory / CONFIG_FILE, config)
    lines = "".join(f"{token}\n" for token in tokenizer.tokens)
    (directory / _VOCABULARY_FILE).write_text(lines, encoding="utf-8", newline="")
    _write_json(
        directory / _TOKENIZER_FILE,
        {
            "tokenizer_class": "ElectraTokenizer",
            "do_lower_case": tokenizer.lowercase,
            "strip_accents": tokenizer.strip_accents,
            "tokenize_chinese_chars": True,
            "model_max_length": model.size.max_sequence_length,
        },
    )


def read_tokenizer(directory: pathlib.Path) -> TokenizerSettings | None:
    """The tokenizer beside a model, None without `vocab.txt`."""
    path = directory / _VOCABULARY_FILE
    if not path.is_file():
        return None
    from electra_tf.tokenization.vocabulary import Vocabulary

    settings_path = directory / _TOKENIZER_FILE
    settings = _read_json(settings_path) if settings_path.is_file() else {}
    lowercase = settings.get("do_lower_case", True)
    strip_accents = settings.get("strip_accents")
    return TokenizerSettings(
        tokens=tuple(Vocabulary.load(path).tokens),
        lowercase=lowercase,
        # Unset, it follows the other, as in BERT.
        strip_accents=lowercase if strip_accents is None else strip_accents,
    )


def _config(model: Model, tokenizer: TokenizerSettings) -> dict:
    size = model.size
    return {
        "model_type": "electra",
        "architectures": [CLASSES[model.architecture]],
        "vocab_size": size.vocabulary_size,
        "embedding_size": size.embedding_dim,
        "hidden_size": size.hidden_dim,
        "num_hidden_layers": size.num_layers,
        "num_attention_heads": size.num_heads,
        "intermediate_size": size.intermediate_dim,
        "max_position_embeddings": size.max_sequence_length,
        "type_vocab_size": size.num_segments,
        "hidden_dropout_prob": size.dropout,
        "attention_probs_dropout_prob": size.attention_dropout,
        "initializer_range": size.initializer_range,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
        "pad_token_id": tokenizer.tokens.index("[PAD]"),
        "tie_word_embeddings": True,
        "dtype": "float32",
        **_labels(model),
    }


def _labels(model: Model) -> dict:
    if not model.architecture.endswith("classifier"):
        return {}
    names = model.class_names or [f"LABEL_{i}" for i in range(model.num_classes)]
    return {
        "id2label": {str(index): name for index, name in enumerate(names)},
        "label2id": {name: index for index, name in enumerate(names)},
    }


def _class_names(config: Mapping) -> tuple[str, ...] | None:
    """Names that somebody has given to the classes."""
    stored = config.get("id2label")
    if not isinstance(stored, dict):
        return None
    names = tuple(str(stored[key]) for key in sorted(stored, key=int))
    is_default = names == tuple(f"LABEL_{index}" for index in range(len(names)))
    return None if is_default else names


def _architecture(directory: pathlib.Path, config: Mapping) -> Architecture:
    path = directory / CONFIG_FILE
    if config.get("model_type") != "electra":
        raise DataError(
            f"{path}: model_type is {config.get('model_type')!r}, not 'electra'"
        )
    for key, ours, same in _ARITHMETIC:
        if key in config and config[key] != ours and config[key] not in same:
            raise DataError(
                f"{path}: {key} is {config[key]!r}; the official arithmetic, and ours, "
                f"is {ours!r}: the model would compute something else here"
            )
    named = config.get("architectures") or ["ElectraModel"]
    known = {name: architecture for architecture, name in CLASSES.items()}
    if named[0] not in known:
        raise DataError(
            f"{path}: architecture {named[0]} is not supported; these are: "
            f"{', '.join(known)}"
        )
    return known[named[0]]


def _hints(config: Mapping) -> Hints:
    letters = {
        letter: config[key]
        for letter, key in (
            ("V", "vocab_size"),
            ("E", "embedding_size"),
            ("H", "hidden_size"),
            ("I", "intermediate_size"),
            ("P", "max_position_embeddings"),
            ("S", "type_vocab_size"),
        )
        if key in config
    }
    return Hints(
        letters=letters,
        num_heads=config.get("num_attention_heads"),
        num_layers=config.get("num_hidden_layers"),
        dropout=config.get("hidden_dropout_prob", 0.1),
        attention_dropout=config.get("attention_probs_dropout_prob", 0.1),
        initializer_range=config.get("initializer_range", 0.02),
    )


def _check_tied(source, model, label):
    if model.architecture != "masked_lm" or _OUTPUT_TABLE not in source:
        return
    table = model.tensors["encoder/embeddings/word_embeddings"]
    if not np.array_equal(source[_OUTPUT_TABLE].read(), table.read()):
        raise DataError(
            f"{label}: {_OUTPUT_TABLE} differs from the word embeddings; an output "
            "table of its own has no place in ELECTRA"
        )


def _count_layers(source):
    found = (re.search(r"encoder\.layer\.(\d+)\.", name) for name in source)
    return 1 + max((int(match[1]) for match in found if match), default=-1)


def _open_weights(directory: pathlib.Path) -> dict[str, Tensor]:
    if (directory / WEIGHTS_FILE).is_file():
        return _open_safetensors(directory / WEIGHTS_FILE)
    index = directory / _INDEX_FILE
    if index.is_file():
        return _open_shards(directory, _read_json(index))
    if (directory / _TORCH_FILE).is_file():
        return open_torch_file(directory / _TORCH_FILE)
    raise DataError(
        f"{directory}: has no weights ({WEIGHTS_FILE}, {_INDEX_FILE} or {_TORCH_FILE})"
    )


def _open_shards(directory, index):
    places = index.get("weight_map")
    if not isinstance(places, dict):
        raise DataError(f"{directory / _INDEX_FILE}: has no weight_map")
    tensors: dict[str, Tensor] = {}
    for file in sorted(set(places.values())):
        path = directory / file
        if pathlib.Path(file).name != file or not path.is_file():
            raise DataError(
                f"{path}: missing, although {_INDEX_FILE} lists it; copy it again"
            )
        tensors |= _open_safetensors(path)
    lost = sorted(set(places) - set(tensors))
    if lost:
        raise DataError(f"{directory}: {lost[0]} is in {_INDEX_FILE}, but in no file")
    return tensors


def _open_safetensors(path: pathlib.Path) -> dict[str, Tensor]:
    try:
        file = safetensors.safe_open(path, "numpy")
        shapes = {name: file.get_slice(name).get_shape() for name in file.keys()}  # noqa: SIM118
    except (OSError, safetensors.SafetensorError) as error:
        raise DataError(
            f"{path}: cannot be read as safetensors, it is cut short or damaged "
            f"({str(error).splitlines()[0]}); copy it again"
        ) from error
    return {
        name: Tensor(tuple(shape), lambda n=name: _float32(file.get_tensor(n)))
        for name, shape in shapes.items()
    }


def _float32(array: np.ndarray) -> np.ndarray:
    return array.astype("float32", copy=False)


def _read_json(path: pathlib.Path) -> dict:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read as JSON ({error})") from error
    if not isinstance(content, dict):
        raise DataError(f"{path}: should hold an object")
    return content


def _write_json(path: pathlib.Path, content: Mapping) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
