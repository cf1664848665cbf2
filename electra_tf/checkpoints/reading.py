"""Finding out what a path holds, and reading it."""

import dataclasses
import pathlib
from collections.abc import Collection, Mapping, Sequence

from electra_tf.checkpoints.assembly import Entry, Hints
from electra_tf.checkpoints.huggingface import is_huggingface, read_huggingface
from electra_tf.checkpoints.keras_hub_presets import is_keras_hub, read_keras_hub
from electra_tf.checkpoints.model import Model, TokenizerSettings
from electra_tf.checkpoints.presets import is_preset, read_preset
from electra_tf.checkpoints.runs import find_run, read_run
from electra_tf.checkpoints.tf1 import find_tf1, read_tf1
from electra_tf.checkpoints.variables import LETTERS
from electra_tf.errors import DataError
from electra_tf.tokenization.settings import load_settings
from electra_tf.tokenization.vocabulary import Vocabulary

TOWERS = ("discriminator", "generator")
# For the sake of matrix units some pad the word table to the next multiple of one.
_PADDED_TO = (8, 16, 32, 64, 128)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """What a path held.

    Attributes:
        path: it.
        format: "tf1", "huggingface", "keras_hub", "preset" or "run".
        models: "discriminator" and "generator", as far as they are there.
        entries: what became of every tensor.
        tokenizer: that belongs to them, or None.
    """

    path: pathlib.Path
    format: str
    models: Mapping[str, Model]
    entries: Sequence[Entry]
    tokenizer: TokenizerSettings | None


def heads_only(num_heads: int | None) -> dict[str, Hints]:
    """Hints where nothing but the discriminator's heads is known, or not even these."""
    return {"discriminator": Hints(num_heads=num_heads), "generator": Hints()}


def read_checkpoint(
    path: pathlib.Path,
    *,
    hints: Mapping[str, Hints] | None = None,
    allow_missing: Collection[str] = (),
    vocab: pathlib.Path | None = None,
    lowercase: bool | None = None,
    strip_accents: bool | None = None,
    task: str | None = None,
) -> Checkpoint:
    """Reads weights in any format that is known.

    Args:
        path: directory, or prefix or `.index` file of a TensorFlow checkpoint.
        hints: "discriminator" and "generator" → what shapes do not tell, or have to
            agree with; of use for the official checkpoints, which say nothing themselves.
        allow_missing: our names that may be missing.
        vocab: vocabulary file; by default what lies beside the weights.
        lowercase: bool; by default as stored beside the weights, else True.
        strip_accents: likewise.
        task: which head of a fine-tuned official checkpoint, where there are several.

    Returns:
        `Checkpoint`; rows of the word table beyond the vocabulary are cut off.

    Raises:
        DataError: nothing known, not complete, or not what the hints say.
    """
    checkpoint = _read(path, hints or heads_only(None), allow_missing, task)
    for tower, model in checkpoint.models.items():
        _check_size(model, tower, (hints or {}).get(tower, Hints()), path)
    _check_allowed(checkpoint, allow_missing)
    tokenizer = _tokenizer(checkpoint, vocab, lowercase, strip_accents)
    return _fit_vocabulary(dataclasses.replace(checkpoint, tokenizer=tokenizer))


def _read(path, hints, allow_missing, task):
    if run := find_run(path):
        models, entries = read_run(*run)
        tokenizer = _vocabulary_beside(run[0] / "vocab.txt", None, None)
        return _checkpoint(path, "run", models, entries, tokenizer)
    inner = [path / tower for tower in TOWERS if _directory_format(path / tower)]
    if inner:
        parts = [_read(part, hints, allow_missing, task) for part in inner]
        return _pair(path, [_named(part, part.path.name) for part in parts])
    kind = _directory_format(path)
    if kind == "preset":
        return _checkpoint(path, kind, *read_preset(path))
    if kind == "keras_hub":
        return _checkpoint(path, kind, *read_keras_hub(path))
    if kind == "huggingface":
        return _checkpoint(path, kind, *read_huggingface(path, allow_missing))
    if prefix := find_tf1(path):
        models, entries = read_tf1(prefix, hints, allow_missing, task)
        tokenizer = _vocabulary_beside(prefix.parent / "vocab.txt", None, None)
        return _checkpoint(path, "tf1", models, entries, tokenizer)
    if not path.exists():
        raise DataError(f"{path}: no such file or directory")
    holds = sorted(p.name for p in path.iterdir())[:5] if path.is_dir() else ["a file"]
    raise DataError(
        f"{path}: nothing that is known here (it holds "
        f"{', '.join(holds) or 'nothing'}); name a TensorFlow checkpoint (model.ckpt), a "
        "directory of Hugging Face's, a preset, or the directory of a run"
    )


def _check_size(model, tower, hints, path):
    """What was said about a source that says it itself has to be the same."""
    said = {
        "num_heads": hints.num_heads,
        "num_layers": hints.num_layers,
        **{LETTERS[letter]: number for letter, number in hints.letters.items()},
    }
    for name, number in said.items():
        found = getattr(model.size, name)
        if number is not None and number != found:
            raise DataError(
                f"{path}: the {tower} has {name}={found}, {number} was asked for"
            )


def _check_allowed(checkpoint, allow_missing):
    fresh = {e.target for e in checkpoint.entries if e.action == "fresh"}
    names = {target.split("/", 1)[1] for target in fresh}
    for name in allow_missing:
        if name not in names:
            raise DataError(
                f"{checkpoint.path}: {name}, which may be missing, is not; leave "
                "--allow_missing out"
            )


def _checkpoint(path, kind, models, entries, tokenizer):
    return Checkpoint(
        path=path, format=kind, models=models, entries=entries, tokenizer=tokenizer
    )


def _directory_format(path):
    if is_preset(path):
        return "preset"
    if is_keras_hub(path):
        return "keras_hub"
    return "huggingface" if is_huggingface(path) else None


def _named(checkpoint, tower):
    """An encoder without a head is the tower that its directory says."""
    models, entries = dict(checkpoint.models), list(checkpoint.entries)
    [(old, model)] = models.items()
    if model.architecture == "encoder" and old != tower:
        models = {tower: model}
        entries = [
            dataclasses.replace(e, target=e.target.replace(old, tower, 1))
            if e.target
            else e
            for e in entries
        ]
    return dataclasses.replace(checkpoint, models=models, entries=entries)


def _pair(path, parts):
    """Two directories, `discriminator/` and `generator/`, as one checkpoint."""
    models = {tower: model for part in parts for tower, model in part.models.items()}
    if len(models) < len(parts):
        raise DataError(
            f"{path}: both of its directories hold a {next(iter(models))}; there should "
            "be a discriminator and a generator"
        )
    tokenizers = {part.tokenizer for part in parts}
    if len(tokenizers) > 1:
        raise DataError(f"{path}: the two towers have different tokenizers")
    return Checkpoint(
        path=path,
        format=parts[0].format,
        models=models,
        entries=[entry for part in parts for entry in part.entries],
        tokenizer=tokenizers.pop(),
    )


def _tokenizer(checkpoint, vocab, lowercase, strip_accents):
    if vocab is not None:
        stored = checkpoint.tokenizer
        if stored is not None:
            lowercase = stored.lowercase if lowercase is None else lowercase
            if strip_accents is None:
                strip_accents = stored.strip_accents
        return _vocabulary_beside(vocab, lowercase, strip_accents, must_exist=True)
    if checkpoint.tokenizer is None:
        return None
    asked = {"lowercase": lowercase, "strip_accents": strip_accents}
    return dataclasses.replace(
        checkpoint.tokenizer, **{k: v for k, v in asked.items() if v is not None}
    )


def _vocabulary_beside(path, lowercase, strip_accents, *, must_exist=False):
    if not must_exist and not path.is_file():
        return None
    tokens = tuple(Vocabulary.load(path).tokens)
    stored = load_settings(path)
    if lowercase is None:
        lowercase = stored.lowercase if stored else True
    if strip_accents is None:
        strip_accents = stored.strip_accents if stored else lowercase
    return TokenizerSettings(
        tokens=tokens, lowercase=lowercase, strip_accents=strip_accents
    )


def _fit_vocabulary(checkpoint: Checkpoint) -> Checkpoint:
    if checkpoint.tokenizer is None:
        return checkpoint
    count = len(checkpoint.tokenizer.tokens)
    models, entries = dict(checkpoint.models), list(checkpoint.entries)
    for tower, model in models.items():
        rows = model.size.vocabulary_size
        if rows == count:
            continue
        if rows not in [-(-count // multiple) * multiple for multiple in _PADDED_TO]:
            raise DataError(
                f"{checkpoint.path}: the word table of the {tower} has {rows:,} rows, "
                f"the vocabulary {count:,} tokens; name the vocabulary that the model "
                "was trained with (--vocab)"
            )
        cut = ("encoder/embeddings/word_embeddings", "head/output_bias")
        models[tower] = dataclasses.replace(
            model,
            size=dataclasses.replace(model.size, vocabulary_size=count),
            tensors={
                name: tensor.first_rows(count) if name in cut else tensor
                for name, tensor in model.tensors.items()
            },
        )
        targets = {f"{tower}/{name}" for name in cut}
        reason = f"{rows - count} rows of padding beyond the vocabulary"
        entries = [
            dataclasses.replace(entry, action="cut", reason=reason)
            if entry.target in targets
            else entry
            for entry in entries
        ]
    return dataclasses.replace(checkpoint, models=models, entries=entries)
