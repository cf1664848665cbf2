"""Special tokens written in texts: cutting them out, and putting their ids back."""

from typing import NamedTuple

import tensorflow as tf

from electra_tf.tokenization.python_wordpiece import (
    special_tokens_in,
    special_tokens_pattern,
)
from electra_tf.tokenization.text_operations import text_operations
from electra_tf.tokenization.vocabulary import Vocabulary


class Parts(NamedTuple):
    """Texts cut at special tokens, the parts of all texts in one array `[P]`.

    Attributes:
        texts: string, the ordinary text of each part, empty for a special token.
        ids: int32, id of the special token, -1 for ordinary text.
        starts: int32, first byte of the part in its text.
        lengths: int32, bytes of the part.
        row_splits: int64 `[N + 1]`, which parts belong to which text.
    """

    texts: tf.Tensor
    ids: tf.Tensor
    starts: tf.Tensor
    lengths: tf.Tensor
    row_splits: tf.Tensor


class SpecialTokenSplitter(tf.Module):
    """Takes `[MASK]` and its like in texts for tokens.

    Args:
        vocabulary: which special tokens there are, and their ids.
    """

    def __init__(self, vocabulary: Vocabulary):
        super().__init__(name="special_tokens")
        tokens = special_tokens_in(vocabulary)
        self._pattern = special_tokens_pattern(vocabulary)
        self._tokens = tf.constant(tokens)
        self._ids = tf.constant([vocabulary.ids[t] for t in tokens], tf.int32)

    def split(self, texts: tf.Tensor) -> Parts:
        """Cuts `texts`, string `[N]`, before and behind each special token."""
        parts, starts, ends = text_operations().regex_split_with_offsets(
            texts, self._pattern, self._pattern
        )
        is_token = parts.values[:, tf.newaxis] == self._tokens  # [P, special tokens]
        ids = tf.reduce_max(tf.where(is_token, self._ids, -1), axis=1)
        return Parts(
            texts=tf.where(ids >= 0, "", parts.values),
            ids=ids,
            starts=tf.cast(starts.values, tf.int32),
            lengths=tf.cast(ends.values - starts.values, tf.int32),
            row_splits=parts.row_splits,
        )

    def restore(
        self, parts: Parts, fields: list[tf.RaggedTensor]
    ) -> list[tf.RaggedTensor]:
        """Joins what became of the parts to rows of the texts again.

        Args:
            parts: what `split` returned.
            fields: ragged int32 `[P, None]`: the ids of each part's pieces and, if
                wanted, their starts and ends in the part.

        Returns:
            The same fields for the texts, ragged int32 `[N, None]`.
        """
        rows = fields[0].value_rowids()
        is_special = parts.ids >= 0
        # Each special token moves all pieces behind it by one.
        moves = tf.cumsum(tf.cast(tf.pad(is_special, [[1, 0]]), tf.int32))
        moves = tf.cast(moves, tf.int64)  # [P + 1], before each part
        row_splits = fields[0].row_splits + moves
        places = [
            tf.range(tf.size(rows, tf.int64)) + tf.gather(moves, rows),
            tf.boolean_mask(row_splits[:-1], is_special),
        ]
        places = [tf.cast(place, tf.int32) for place in places]
        none = tf.zeros_like(parts.starts)
        own = (parts.ids, parts.starts, parts.starts + parts.lengths)
        shifts = (none, parts.starts, parts.starts)
        text_splits = tf.gather(row_splits, parts.row_splits)
        restored = []
        for field, value, shift in zip(fields, own, shifts, strict=False):
            values = [
                field.values + tf.gather(shift, rows),
                tf.boolean_mask(value, is_special),
            ]
            restored.append(
                tf.RaggedTensor.from_row_splits(
                    tf.dynamic_stitch(places, values), text_splits, validate=False
                )
            )
        return restored
