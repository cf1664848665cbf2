"""Starting from weights that somebody has trained already, with any vocabulary."""

import collections
import pathlib

import numpy as np
from absl import logging

from electra_tf.checkpoints.assembly import Hints, listed
from electra_tf.checkpoints.model import Model, TokenizerSettings
from electra_tf.checkpoints.reading import Checkpoint, read_checkpoint
from electra_tf.checkpoints.runs import run_hints
from electra_tf.checkpoints.variables import variable_shapes
from electra_tf.config import PretrainConfig
from electra_tf.errors import ConfigError, DataError
from electra_tf.tokenization.python_wordpiece import PythonWordPieceTokenizer
from electra_tf.tokenization.vocabulary import CONTINUATION, UNKNOWN, Vocabulary

_EMBEDDINGS = set(variable_shapes("encoder", num_layers=0, has_projection=False))
_BY_TOKEN = ("encoder/embeddings/word_embeddings", "head/output_bias")


def initialize(
    pretrainer,
    config: PretrainConfig,
    vocabulary: Vocabulary,
    *,
    discriminator: str | None,
    generator: str | None,
) -> None:
    """Gives the towers of a new run the weights of trained ones.

    Where the vocabularies differ, a token that both have keeps its embedding, and a new
    one starts from the mean of the pieces that the old vocabulary splits it into.

    Args:
        pretrainer: built `ElectraPretrainer`.
        config: its configuration.
        vocabulary: of the run.
        discriminator: path of weights in any format, or None.
        generator: likewise.

    Raises:
        UserError: the weights cannot be read, are of the other tower, or do not fit;
            names the variable and both shapes.
    """
    for tower, source in (("discriminator", discriminator), ("generator", generator)):
        if source is None:
            continue
        layer = getattr(pretrainer, tower)
        if layer is None or not layer.trainable_variables:
            raise ConfigError(f"--init_{tower}={source}: this run trains no {tower}")
        # Heads show in no shape; everything else is compared below.
        heads = {t: Hints(num_heads=h.num_heads) for t, h in run_hints(config).items()}
        try:
            checkpoint = read_checkpoint(pathlib.Path(source), hints=heads)
        except DataError as error:
            raise DataError(f"--init_{tower}: {error}") from error
        model = _tower(checkpoint, tower)
        variables = layer.trainable_variables
        if tower == "generator" and discriminator:
            # What it shares came with the discriminator.
            variables = [v for v in variables if v.path.startswith("generator/")]
        _assign(variables, tower, model, checkpoint.tokenizer, vocabulary)


def _tower(checkpoint: Checkpoint, tower: str) -> Model:
    if tower in checkpoint.models:
        return checkpoint.models[tower]
    held = ", ".join(f"a {m.architecture}" for m in checkpoint.models.values())
    raise DataError(f"--init_{tower}={checkpoint.path}: holds {held}, no {tower}")


def _assign(variables, tower, model, tokenizer, vocabulary):
    # Of embeddings that are shared, the path begins with the other tower's name.
    named = {variable.path.split("/", 1)[1]: variable for variable in variables}
    rows = _rows(model, tokenizer, vocabulary, tower)
    _check_shapes(named, tower, model)
    _check_encoder(named, tower, model)
    fresh = [name for name in named if name not in model.tensors]
    for name, variable in named.items():
        if name in fresh:
            continue
        value = model.tensors[name].read()
        is_by_token = name in _BY_TOKEN and rows is not None
        variable.assign(_translated(value, rows) if is_by_token else value)
    if fresh:
        logging.warning(
            "%s: %s start at random values, the source has none",
            tower,
            ", ".join(fresh),
        )
    loaded = len(named) - len(fresh)
    logging.info("%s: %d of %d variables loaded", tower, loaded, len(named))


def _check_shapes(named, tower, model):
    for name, variable in named.items():
        if name not in model.tensors:
            continue
        # Rows of tokens are translated.
        first = 1 if name in _BY_TOKEN else 0
        there, here = model.tensors[name].shape, tuple(variable.shape)
        if there[first:] != here[first:]:
            raise DataError(
                f"--init_{tower}: {name} has the shape {list(there)} there, "
                f"{list(here)} in this run; choose the sizes of the weights (model.*"
                f"{', generator.*' if tower == 'generator' else ''}, or another --config)"
            )


def _check_encoder(named, tower, model):
    """Only a head may be missing in the source, and nothing of its encoder be left out."""
    held = {name for name in model.tensors if name.startswith("encoder/")}
    lost = held - named.keys() - (_EMBEDDINGS if tower == "generator" else set())
    lacking = {name for name in named if name.startswith("encoder/")} - held
    for names, where in ((lost, "this run"), (lacking, "the source")):
        if names:
            raise DataError(
                f"--init_{tower}: there is no place in {where} for "
                f"{listed(sorted(names))}; choose the number of layers and the widths of "
                "the weights"
            )


def _rows(
    model: Model,
    tokenizer: TokenizerSettings | None,
    vocabulary: Vocabulary,
    tower: str,
) -> list[list[int]] | None:
    """For each of our tokens the rows of the source to average; None if all agree."""
    if tokenizer is None:
        if model.size.vocabulary_size != len(vocabulary):
            raise DataError(
                f"--init_{tower}: has {model.size.vocabulary_size:,} tokens and no "
                f"vocabulary beside it, this run {len(vocabulary):,}; put its vocab.txt "
                "beside it"
            )
        logging.warning(
            "%s: there is no vocabulary beside the weights; it is taken to be this run's",
            tower,
        )
        return None
    if list(tokenizer.tokens) == vocabulary.tokens:
        return None
    old = Vocabulary(tokenizer.tokens)
    split = PythonWordPieceTokenizer(
        old, lowercase=tokenizer.lowercase, strip_accents=tokenizer.strip_accents
    )
    everything = list(range(len(old)))
    kinds: collections.Counter[str] = collections.Counter()
    rows = []
    for token in vocabulary.tokens:
        if token in old.ids:
            rows.append([old.ids[token]])
            kinds["kept"] += 1
            continue
        pieces = _pieces(token, split, old)
        rows.append(pieces or everything)
        kinds["from pieces" if pieces else "from the mean of all"] += 1
    told = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
    logging.info("%s: embeddings of %s tokens: %s", tower, f"{len(rows):,}", told)
    return rows


def _pieces(token, split, old) -> list[int]:
    """Ids of the pieces of a new token, none if the old vocabulary cannot spell it."""
    is_continuation = token.startswith(CONTINUATION)
    pieces = split.tokenize_text(token.removeprefix(CONTINUATION))
    if UNKNOWN in pieces or not pieces:
        return []
    continued = f"{CONTINUATION}{pieces[0]}"
    if is_continuation and continued in old.ids:
        pieces[0] = continued
    return [old.ids[piece] for piece in pieces]


def _translated(value: np.ndarray, rows: list[list[int]]) -> np.ndarray:
    return np.stack([value[indices].mean(axis=0) for indices in rows])
