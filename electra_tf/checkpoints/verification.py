"""Whether what was written is what was read."""

import dataclasses
import importlib.util
import pathlib

import numpy as np

from electra_tf.checkpoints.assembly import Hints
from electra_tf.checkpoints.memory import free_networks
from electra_tf.checkpoints.model import Model
from electra_tf.checkpoints.reading import Checkpoint, read_checkpoint
from electra_tf.errors import WorkError

# Of float32 outputs that two programs compute from the same weights.
_TOLERANCE = 1e-4
_ROWS, _MAX_LENGTH = 3, 32
_GELU_NOTE = (
    "KerasHub's encoder approximates gelu by tanh, the original and ours use erf: a model "
    "that was trained with one is slightly off in the other"
)


@dataclasses.dataclass(frozen=True)
class Verification:
    """One comparison.

    Attributes:
        what: what was compared with what.
        difference: the largest of any number; 0.0 means equal.
        note: what to know about it.
    """

    what: str
    difference: float
    note: str = ""


def verify(
    checkpoint: Checkpoint, to: str, directory: pathlib.Path
) -> list[Verification]:
    """Reads what was written and compares it, bit by bit and in what it computes.

    Both programs are run where they are installed: KerasHub always is, Hugging Face's
    needs `torch` and `transformers`.

    Args:
        checkpoint: what was read.
        to: format of what was written.
        directory: where it is.

    Raises:
        WorkError: a tensor has other bits, or an output differs where it should not.
    """
    results = _verify_bits(checkpoint, to, directory)
    for tower, model in checkpoint.models.items():
        inner, source = directory / tower, checkpoint.path / tower
        written = inner if inner.is_dir() else directory
        read = source if source.is_dir() else checkpoint.path
        for kind, path in ((checkpoint.format, read), (to, written)):
            results += _compare_outputs(tower, model, kind, path)
    return results


@free_networks
def _verify_bits(checkpoint, to, directory):
    hints = {
        tower: Hints(num_heads=model.size.num_heads)
        for tower, model in checkpoint.models.items()
    }
    again = read_checkpoint(directory, hints=_both(hints))
    return [
        _compare_bits(
            tower, model, again.models.get(tower) or again.models["discriminator"], to
        )
        for tower, model in checkpoint.models.items()
    ]


def _both(hints):
    only = next(iter(hints.values()))
    return {tower: hints.get(tower, only) for tower in ("discriminator", "generator")}


def _compare_bits(tower: str, model: Model, copy: Model, to: str) -> Verification:
    names = list(model.tensors)
    if to == "keras_hub":
        names = [name for name in names if name.startswith("encoder/")]
    if set(names) != set(copy.tensors) or model.size.num_heads != copy.size.num_heads:
        different = sorted(set(names) ^ set(copy.tensors))
        raise WorkError(f"the {tower} came back with other variables: {different}")
    for name in names:
        before, after = model.tensors[name].read(), copy.tensors[name].read()
        if before.tobytes() != after.tobytes():
            raise WorkError(
                f"{tower}/{name} came back with other bits; nothing is kept"
            )
    what = f"{tower}: {len(names)} tensors read back, equal to the bit"
    return Verification(what, 0.0)


def _compare_outputs(
    tower: str, model: Model, kind: str, path: pathlib.Path
) -> list[Verification]:
    inputs = _inputs(model)
    real = inputs["padding_mask"] > 0
    if kind == "keras_hub":
        theirs = _run_keras_hub(path, inputs)
        difference = _largest(theirs, _run(_encoder_of(model), inputs), real)
        what = f"{tower}: hidden states of KerasHub's encoder"
        return [Verification(what, difference, _GELU_NOTE)]
    if kind != "huggingface" or not _has_transformers(path):
        return []
    theirs = _run_hugging_face(path, model.architecture, inputs)
    if model.architecture == "deep_text_classifier":
        real = slice(None)  # one result a row
    difference = _largest(theirs, _run(model, inputs), real)
    if difference > _TOLERANCE:
        raise WorkError(
            f"{path}: Hugging Face's {tower} computes something else (largest difference "
            f"{difference:.2g}); nothing is kept"
        )
    what = f"{tower}: outputs of Hugging Face's modules"
    return [Verification(what, difference)]


def _inputs(model: Model) -> dict[str, np.ndarray]:
    """Token ids of rows of unequal length, in two segments."""
    length = min(_MAX_LENGTH, model.size.max_sequence_length)
    rng = np.random.default_rng(0)
    positions = np.arange(length)
    lengths = np.array([length, length // 2, max(1, length // 4)])[:_ROWS, np.newaxis]
    padding_mask = (positions < lengths).astype("int32")
    ids = rng.integers(1, model.size.vocabulary_size, padding_mask.shape)
    return {
        "token_ids": (ids * padding_mask).astype("int32"),
        "segment_ids": ((positions >= lengths // 2) * padding_mask).astype("int32"),
        "padding_mask": padding_mask,
    }


def _largest(ones, others, real) -> float:
    return float(np.abs(np.asarray(ones) - np.asarray(others))[real].max())


def _encoder_of(model: Model) -> Model:
    return dataclasses.replace(
        model,
        architecture="encoder",
        tensors={
            name: tensor
            for name, tensor in model.tensors.items()
            if name.startswith("encoder/")
        },
    )


@free_networks
def _run(model: Model, inputs) -> np.ndarray:
    from electra_tf.checkpoints.presets import network_of

    if model.architecture == "masked_lm":
        length = inputs["token_ids"].shape[1]
        every = np.tile(np.arange(length, dtype="int32"), (_ROWS, 1))
        inputs = {**inputs, "mask_positions": every}
    output = network_of(model)(inputs)
    if model.architecture == "question_answerer":
        return np.stack([output["start_logits"], output["end_logits"]], axis=-1)
    return np.asarray(output)


@free_networks
def _run_keras_hub(path: pathlib.Path, inputs) -> np.ndarray:
    import keras_hub

    backbone = keras_hub.models.ElectraBackbone.from_preset(str(path))
    return np.asarray(backbone(inputs)["sequence_output"])


def _has_transformers(path: pathlib.Path) -> bool:
    # Only safetensors: nothing here opens a pickle with anything but our own reader.
    packages = ("torch", "transformers")
    return any(path.glob("*.safetensors")) and all(
        importlib.util.find_spec(name) for name in packages
    )


@free_networks
def _run_hugging_face(path: pathlib.Path, architecture: str, inputs) -> np.ndarray:
    import torch
    import transformers

    from electra_tf.checkpoints.huggingface import CLASSES

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    cls = getattr(transformers, CLASSES[architecture])
    network = cls.from_pretrained(
        path, use_safetensors=True, local_files_only=True, dtype=torch.float32
    ).eval()
    with torch.no_grad():
        output = network(
            input_ids=torch.from_numpy(inputs["token_ids"]).long(),
            token_type_ids=torch.from_numpy(inputs["segment_ids"]).long(),
            attention_mask=torch.from_numpy(inputs["padding_mask"]).long(),
        )
    if architecture == "question_answerer":
        return torch.stack([output.start_logits, output.end_logits], dim=-1).numpy()
    return output[0].numpy()
