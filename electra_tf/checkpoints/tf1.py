"""The official TensorFlow 1 checkpoints, `.index` and `.data`."""

import dataclasses
import functools
import pathlib
import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import tensorflow as tf

from electra_tf.checkpoints.assembly import (
    Entry,
    Hints,
    Translation,
    account_for_rest,
    assemble,
    listed,
)
from electra_tf.checkpoints.model import Model, Tensor
from electra_tf.errors import DataError

PREFIX = "model.ckpt"
_EMBEDDINGS = {
    "encoder/embeddings/word_embeddings": "embeddings/word_embeddings",
    "encoder/embeddings/position_embeddings": "embeddings/position_embeddings",
    "encoder/embeddings/segment_embeddings": "embeddings/token_type_embeddings",
    "encoder/embeddings/layer_norm/gamma": "embeddings/LayerNorm/gamma",
    "encoder/embeddings/layer_norm/beta": "embeddings/LayerNorm/beta",
}
_LAYER = {
    "query": "attention/self/query",
    "key": "attention/self/key",
    "value": "attention/self/value",
    "attention_output": "attention/output/dense",
    "attention_layer_norm": "attention/output/LayerNorm",
    "intermediate": "intermediate/dense",
    "feedforward_output": "output/dense",
    "output_layer_norm": "output/LayerNorm",
}
_HEADS = {
    "head/dense/kernel": "dense/kernel",
    "head/dense/bias": "dense/bias",
    "head/layer_norm/gamma": "LayerNorm/gamma",
    "head/layer_norm/beta": "LayerNorm/beta",
    "head/output_bias": "output_bias",
    "head/prediction/kernel": "dense_1/kernel",
    "head/prediction/bias": "dense_1/bias",
    # Of fine-tuned models.
    "head/output/kernel": "dense/kernel",
    "head/output/bias": "dense/bias",
    "head/start/kernel": "dense/kernel",
    "head/start/bias": "dense/bias",
    "head/end/kernel": "dense_1/kernel",
    "head/end/bias": "dense_1/bias",
    "head/answerable/kernel": "dense_2/kernel",
    "head/answerable/bias": "dense_2/bias",
}
_DISCRIMINATOR_HEAD = "discriminator_predictions"
_GENERATOR_HEAD = "generator_predictions"
_TASK_HEADS = "task_specific"
_TAGGING_TASKS = ("chunk",)
_PRETRAINED = ("encoder", "replaced_token_detector")
_SKIPPED = (
    (r".*/adam_[mv]", "slot of the optimizer"),
    (r"global_step|.*/global_step", "counter of the optimizer"),
    (r"generator_(ltr|rtl)/.*|cloze_predictions/.*", "two-tower generator of Electric"),
)
_OTHER_TASKS = (rf"{_TASK_HEADS}/.*", "head of another task")
_PRETRAINING = (
    (
        rf"generator/.*|{_GENERATOR_HEAD}/.*|{_DISCRIMINATOR_HEAD}/.*",
        "of pre-training, in a fine-tuned model",
    ),
)


def tf1_name(
    ours: str, *, encoder: str, head: str = "", embeddings: str | None = None
) -> str:
    """What the original calls one of our variables.

    Args:
        ours: our name.
        encoder: scope of the network, "electra" or "generator".
        head: scope of the head.
        embeddings: scope of the network whose embeddings it uses; by default its own.
    """
    if ours in _EMBEDDINGS:
        return f"{embeddings or encoder}/{_EMBEDDINGS[ours]}"
    if ours in _HEADS:
        return f"{head}/{_HEADS[ours]}"
    if projection := re.fullmatch(r"encoder/embeddings_projection/(\w+)", ours):
        return f"{encoder}/embeddings_project/{projection[1]}"
    layer, part, leaf = re.fullmatch(r"encoder/(layer_\d+)/(\w+)/(\w+)", ours).groups()
    return f"{encoder}/encoder/{layer}/{_LAYER[part]}/{leaf}"


def find_tf1(path: pathlib.Path) -> pathlib.Path | None:
    """The prefix of the checkpoint that a path means, or None if it means none.

    Args:
        path: a prefix, its `.index` file, or a directory.

    Raises:
        DataError: a directory with several checkpoints, and none is named as the latest.
    """
    if path.suffix == ".index" and path.is_file():
        return path.with_suffix("")
    if path.with_name(f"{path.name}.index").is_file():
        return path
    if not path.is_dir():
        return None
    latest = tf.train.latest_checkpoint(str(path))
    if latest:
        return pathlib.Path(latest)
    found = sorted(path.glob("*.index"), key=lambda p: (len(p.stem), p.stem))
    if len(found) > 1:
        names = ", ".join(entry.stem for entry in found)
        raise DataError(
            f"{path}: holds several checkpoints ({names}) and no file 'checkpoint' that "
            f"names the latest; give one, as {found[-1].with_suffix('')}"
        )
    return found[0].with_suffix("") if found else None


def open_tf1(prefix: pathlib.Path) -> dict[str, Tensor]:
    """The tensors of a checkpoint by name; nothing is read yet.

    Raises:
        DataError: the index cannot be read.
    """
    try:
        reader = tf.train.load_checkpoint(str(prefix))
    except (tf.errors.OpError, ValueError) as error:
        raise DataError(
            f"{prefix}.index: cannot be read as a TensorFlow checkpoint; copy it again"
        ) from error
    return {
        name: Tensor(tuple(shape), functools.partial(_read, reader, prefix, name))
        for name, shape in sorted(reader.get_variable_to_shape_map().items())
    }


def _read(reader, prefix, name):
    try:
        return reader.get_tensor(name).astype("float32", copy=False)
    except (tf.errors.OpError, IndexError) as error:
        raise DataError(
            f"{prefix}: {name} cannot be read, a data file is missing, cut short or "
            "damaged; copy it again"
        ) from error


def read_tf1(
    prefix: pathlib.Path,
    hints: Mapping[str, Hints],
    allow_missing: Collection[str] = (),
    task: str | None = None,
) -> tuple[dict[str, Model], list[Entry]]:
    """Reads the towers of a checkpoint, or a fine-tuned model as "discriminator".

    Args:
        prefix: see `find_tf1`.
        hints: "discriminator" and "generator" → `Hints`.
        allow_missing: our names that may be missing.
        task: which head of `task_specific/`, where there are several.

    Returns:
        "discriminator" and "generator", as far as they are there; what became of every
        tensor.

    Raises:
        DataError: it is no ELECTRA, or not a complete one.
    """
    source = open_tf1(prefix)
    label = str(prefix)
    if not any(name.startswith("electra/") for name in source):
        found = listed({name.split("/")[0] for name in source})
        kind = "of BERT" if any(n.startswith("bert/") for n in source) else "of ELECTRA"
        verdict = f"a checkpoint {kind}, not of ELECTRA"
        if kind == "of ELECTRA":
            verdict = "no checkpoint of ELECTRA"
        raise DataError(f"{label}: is {verdict} (its variables are in {found})")
    heads = {name.split("/")[0] for name in source}
    models: dict[str, Model] = {}
    entries: list[Entry] = []

    def add(tower, architecture, encoder, head, embeddings):
        model, used = assemble(
            architecture,
            source,
            lambda ours: Translation(
                tf1_name(ours, encoder=encoder, head=head, embeddings=embeddings)
            ),
            label=label,
            tower=tower,
            num_layers=_count_layers(source, encoder),
            has_projection=f"{encoder}/embeddings_project/kernel" in source,
            hints=_with_heads(hints, source, encoder),
            allow_missing=allow_missing,
        )
        models[tower] = model
        entries.extend(used)

    has_discriminator = _DISCRIMINATOR_HEAD in heads
    if _TASK_HEADS in heads:
        task = _only_task(source, task, label)
        scope = f"{_TASK_HEADS}/{task}"
        architecture = _task_architecture(source, scope, task, label)
        add("discriminator", architecture, "electra", scope, None)
        entries += account_for_rest(
            source, entries, (*_SKIPPED, _OTHER_TASKS, *_PRETRAINING), label
        )
        return models, entries
    if has_discriminator or _GENERATOR_HEAD not in heads:
        architecture = "replaced_token_detector" if has_discriminator else "encoder"
        add("discriminator", architecture, "electra", _DISCRIMINATOR_HEAD, None)
    if _GENERATOR_HEAD in heads:
        own_layers = any(name.startswith("generator/encoder/") for name in source)
        own_embeddings = "generator/embeddings/word_embeddings" in source
        # Tied embeddings are stored once, a network that is tied entirely as well.
        encoder = "generator" if own_layers else "electra"
        embeddings = "generator" if own_embeddings else "electra"
        add("generator", "masked_lm", encoder, _GENERATOR_HEAD, embeddings)
    entries += account_for_rest(source, entries, _SKIPPED, label)
    return models, entries


def _only_task(source, task, label):
    tasks = sorted({n.split("/")[1] for n in source if n.startswith(f"{_TASK_HEADS}/")})
    if task is None and len(tasks) > 1:
        raise DataError(
            f"{label}: has heads of several tasks ({', '.join(tasks)}); name "
            "one with --task"
        )
    if task not in (None, *tasks):
        raise DataError(
            f"{label}: has no head of the task {task}, but {', '.join(tasks)}"
        )
    return task or tasks[0]


def _task_architecture(source, scope, task, label):
    if f"{scope}/qa_hidden/kernel" in source:
        raise DataError(
            f"{label}: the head of {task} predicts start and end jointly, which is not "
            "supported here; one that predicts them independently is"
        )
    if f"{scope}/dense_2/kernel" in source:
        return "answerability_question_answerer"
    if f"{scope}/dense_1/kernel" in source:
        return "question_answerer"
    return "token_classifier" if task in _TAGGING_TASKS else "text_classifier"


def _with_heads(hints, source, encoder):
    """Of a generator of its own the official code gives one head to every 64 units."""
    if encoder == "electra":
        return hints["discriminator"]
    query = source.get(f"{encoder}/encoder/layer_0/attention/self/query/kernel")
    if hints["generator"].num_heads is not None or query is None:
        return hints["generator"]
    heads = max(1, query.shape[-1] // 64)
    return dataclasses.replace(hints["generator"], num_heads=heads)


def _count_layers(source, encoder):
    pattern = re.compile(rf"{encoder}/encoder/layer_(\d+)/")
    found = (pattern.match(name) for name in source)
    return 1 + max((int(match[1]) for match in found if match), default=-1)


def write_tf1(
    models: Mapping[str, Model], directory: pathlib.Path, task: str = "task"
) -> None:
    """Writes towers as one checkpoint with the original's names.

    What the generator shares with the discriminator is stored once, as there.

    Args:
        models: "discriminator" and "generator", or one of them.
        directory: where to write `model.ckpt` and `checkpoint`.
        task: name of a fine-tuned head, below `task_specific/`.

    Raises:
        DataError: a head that the original does not have.
    """
    named = tf1_tensors(models, task)
    names = list(named)
    prefix = str(directory / PREFIX)
    tf.raw_ops.SaveV2(
        prefix=prefix,
        tensor_names=names,
        shape_and_slices=[""] * len(names),
        tensors=[tf.constant(named[name].read()) for name in names],
    )
    (directory / "checkpoint").write_text(
        f'model_checkpoint_path: "{PREFIX}"\nall_model_checkpoint_paths: "{PREFIX}"\n',
        encoding="utf-8",
    )


def tf1_tensors(models: Mapping[str, Model], task: str = "task") -> dict[str, Tensor]:
    """The original's names of all tensors of some towers.

    Raises:
        DataError: a head that the original does not have.
    """
    discriminator, generator = models.get("discriminator"), models.get("generator")
    named: dict[str, Tensor] = {}
    if discriminator is not None:
        if discriminator.architecture == "deep_text_classifier":
            raise DataError(
                "the original's classifier of texts has no hidden layer, as this one has"
            )
        is_pretrained = discriminator.architecture in _PRETRAINED
        head = _DISCRIMINATOR_HEAD if is_pretrained else f"{_TASK_HEADS}/{task}"
        for ours, tensor in discriminator.tensors.items():
            named[tf1_name(ours, encoder="electra", head=head)] = tensor
    if generator is None:
        return named
    is_alone = discriminator is None
    shared = () if is_alone else _shared(discriminator, generator)
    encoder = "electra" if is_alone or len(shared) > len(_EMBEDDINGS) else "generator"
    for ours, tensor in generator.tensors.items():
        if ours not in shared:
            name = tf1_name(ours, encoder=encoder, head=_GENERATOR_HEAD)
            named[name] = tensor
    return named


def _shared(discriminator: Model, generator: Model) -> Sequence[str]:
    """Our names of what both towers have in common: nothing, embeddings, the encoder."""

    def equal(names):
        ours, theirs = discriminator.tensors, generator.tensors
        return all(
            name in ours
            and name in theirs
            and ours[name].shape == theirs[name].shape
            and np.array_equal(ours[name].read(), theirs[name].read())
            for name in names
        )

    if not equal(_EMBEDDINGS):
        return ()
    encoder = [name for name in discriminator.tensors if name.startswith("encoder/")]
    theirs = [name for name in generator.tensors if name.startswith("encoder/")]
    return encoder if encoder == theirs and equal(encoder) else list(_EMBEDDINGS)
