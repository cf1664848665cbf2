"""Our own presets, as `save_to_preset` writes them."""

import json
import pathlib

import keras_hub
import numpy as np

from electra_tf.checkpoints.assembly import Entry
from electra_tf.checkpoints.memory import free_networks
from electra_tf.checkpoints.model import (
    Architecture,
    Model,
    Tensor,
    TokenizerSettings,
)
from electra_tf.errors import DataError
from electra_tf.modeling.backbone import ElectraBackbone
from electra_tf.modeling.masked_lm import ElectraMaskedLM
from electra_tf.modeling.presets import ElectraTokenizer
from electra_tf.modeling.question_answerer import ElectraQuestionAnswerer
from electra_tf.modeling.replaced_token_detector import ElectraReplacedTokenDetector
from electra_tf.modeling.text_classifier import ElectraTextClassifier
from electra_tf.modeling.token_classifier import ElectraTokenClassifier

_CONFIG_FILE, _TASK_FILE = "config.json", "task.json"
_TASKS: dict[Architecture, type[keras_hub.models.Task]] = {
    "replaced_token_detector": ElectraReplacedTokenDetector,
    "masked_lm": ElectraMaskedLM,
    "text_classifier": ElectraTextClassifier,
    "deep_text_classifier": ElectraTextClassifier,
    "token_classifier": ElectraTokenClassifier,
    "question_answerer": ElectraQuestionAnswerer,
    "answerability_question_answerer": ElectraQuestionAnswerer,
}


def is_preset(path: pathlib.Path) -> bool:
    """Whether a directory is a preset of ours."""
    return _registered_name(path / _CONFIG_FILE).startswith("electra_tf>")


def read_preset(
    directory: pathlib.Path,
) -> tuple[dict[str, Model], list[Entry], TokenizerSettings | None]:
    """Reads a model as "discriminator" or "generator", every tensor and the tokenizer.

    Raises:
        DataError: a task that is not known here, or files that cannot be read.
    """
    name = _registered_name(directory / _TASK_FILE)
    known = {f"electra_tf>{cls.__name__}": cls for cls in _TASKS.values()}
    if name and name not in known:
        raise DataError(f"{directory}: holds a {name}, which is not supported here")
    cls = known[name] if name else ElectraBackbone
    try:
        network = cls.from_preset(str(directory))
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise DataError(f"{directory}: cannot be loaded ({reason})") from error
    model = model_of(network)
    tower = "generator" if cls is ElectraMaskedLM else "discriminator"
    entries = [
        Entry(ours, tensor.shape, "used", f"{tower}/{ours}")
        for ours, tensor in model.tensors.items()
    ]
    return {tower: model}, entries, _read_tokenizer(directory)


@free_networks
def write_preset(
    model: Model, tokenizer: TokenizerSettings, directory: pathlib.Path
) -> None:
    """Writes a model with its head and tokenizer.

    Raises:
        ValueError: a tensor is missing or superfluous.
    """
    network = network_of(model)
    network.save_to_preset(str(directory))
    ElectraTokenizer(
        tokenizer.tokens,
        lowercase=tokenizer.lowercase,
        strip_accents=tokenizer.strip_accents,
    ).save_to_preset(str(directory))


def network_of(model: Model):
    """The Keras model with the weights of a `Model`: a task, or a backbone."""
    backbone = ElectraBackbone.from_size(model.size)
    cls = _TASKS.get(model.architecture)
    network = cls(backbone, **_head_options(model)) if cls else backbone
    variables = {our_name(v.path): v for v in network.trainable_variables}
    if variables.keys() != model.tensors.keys():
        different = sorted(variables.keys() ^ model.tensors.keys())
        raise ValueError(f"{model.architecture}: the names {different} do not match")
    for name, variable in variables.items():
        variable.assign(model.tensors[name].read())
    return network


def model_of(network) -> Model:
    """The weights of a Keras model of ours, without a copy."""
    is_backbone = isinstance(network, ElectraBackbone)
    backbone = network if is_backbone else network.backbone
    names = getattr(network, "class_names", None)
    return Model(
        architecture="encoder" if is_backbone else _architecture(network),
        size=backbone.size,
        class_names=names and tuple(names),
        tensors={
            our_name(v.path): Tensor(tuple(v.shape), lambda v=v: np.asarray(v.value))
            for v in network.trainable_variables
        },
    )


def _head_options(model: Model) -> dict:
    if model.architecture == "answerability_question_answerer":
        return {"has_answerability": True}
    if not model.architecture.endswith("classifier"):
        return {}
    options = {"num_classes": model.num_classes, "class_names": model.class_names}
    if model.architecture == "deep_text_classifier":
        options["has_hidden_layer"] = True
    return options


def _architecture(task) -> Architecture:
    if getattr(task, "has_hidden_layer", False):
        return "deep_text_classifier"
    if getattr(task, "has_answerability", False):
        return "answerability_question_answerer"
    return next(key for key, cls in _TASKS.items() if type(task) is cls)


def our_name(path: str) -> str:
    """`head/…` or `encoder/…`, wherever Keras has put the layer."""
    return path.removeprefix("masked_logits/")


def _read_tokenizer(directory):
    if not (directory / "tokenizer.json").is_file():
        return None
    tokenizer = ElectraTokenizer.from_preset(str(directory))
    return TokenizerSettings(
        tokens=tuple(tokenizer.get_vocabulary()),
        lowercase=tokenizer.lowercase,
        strip_accents=tokenizer.strip_accents,
    )


def _registered_name(path):
    """Of the class that a JSON file of Keras describes, "" if it does not."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return str(content.get("registered_name")) if isinstance(content, dict) else ""
