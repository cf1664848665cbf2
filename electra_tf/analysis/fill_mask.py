"""What the generator would write in place of `[MASK]`."""

import dataclasses
import os

import numpy as np
import tensorflow as tf

from electra_tf.errors import UserError
from electra_tf.modeling.masked_lm import ElectraMaskedLM
from electra_tf.modeling.presets import ElectraTokenizer
from electra_tf.tokenization.vocabulary import MASK


@dataclasses.dataclass(frozen=True)
class Guess:
    """A token that may stand in place of a mask.

    Attributes:
        token: string, a word piece.
        token_id: int.
        probability: float, over the whole vocabulary.
    """

    token: str
    token_id: int
    probability: float


class MaskFiller:
    """Fills in `[MASK]` with the generator of a preset.

    Args:
        model: `ElectraMaskedLM`.
        tokenizer: `ElectraTokenizer`; its special tokens in texts are always taken for
            tokens here.

    Example:
        >>> fill = MaskFiller.from_preset("runs/tiny/generator")  # doctest: +SKIP
        >>> fill("the [MASK] of the function .", top_k=3)  # doctest: +SKIP
        [[Guess(token='name', token_id=412, probability=0.08), ...]]
    """

    def __init__(self, model: ElectraMaskedLM, tokenizer: ElectraTokenizer):
        self._model = model
        self._tokenizer = ElectraTokenizer(
            tokenizer.get_vocabulary(),
            lowercase=tokenizer.lowercase,
            strip_accents=tokenizer.strip_accents,
            special_tokens_in_text=True,
        )

    @classmethod
    def from_preset(cls, preset: str | os.PathLike) -> "MaskFiller":
        """Loads a generator's preset directory.

        Raises:
            DataError: it holds a discriminator, which has no such head.
        """
        model = ElectraMaskedLM.from_preset(str(preset))
        return cls(model, ElectraTokenizer.from_preset(str(preset)))

    def __call__(self, text: str, top_k: int = 5) -> list[list[Guess]]:
        """Guesses the tokens behind the masks of a text.

        Args:
            text: string with at least one `[MASK]`.
            top_k: int, guesses for each mask.

        Returns:
            For each mask, in order, the `top_k` likeliest tokens, likeliest first; their
            probabilities add up to at most 1.

        Raises:
            UserError: there is no mask, or the text has too many tokens for the model.
        """
        vocabulary = self._tokenizer.vocabulary
        pieces = self._tokenizer(text).numpy()
        token_ids = np.concatenate([[vocabulary.cls_id], pieces, [vocabulary.sep_id]])
        masked = np.flatnonzero(token_ids == vocabulary.mask_id)
        if not masked.size:
            raise UserError(f"the text has no {MASK} to fill in: {text!r}")
        limit = self._model.backbone.size.max_sequence_length
        if len(token_ids) > limit:
            raise UserError(
                f"the text has {len(token_ids)} tokens with [CLS] and [SEP], the model "
                f"takes {limit}; shorten it"
            )
        row = token_ids[np.newaxis].astype("int32")
        inputs = {
            "token_ids": row,
            "segment_ids": np.zeros_like(row),
            "padding_mask": np.ones_like(row),
            "mask_positions": masked[np.newaxis].astype("int32"),
        }
        probabilities = tf.nn.softmax(self._model(inputs)[0]).numpy()
        return [self._best(row, top_k) for row in probabilities]

    def _best(self, probabilities: np.ndarray, top_k: int) -> list[Guess]:
        tokens = self._tokenizer.vocabulary.tokens
        best = np.argsort(-probabilities, kind="stable")[:top_k]
        return [Guess(tokens[i], int(i), float(probabilities[i])) for i in best]
