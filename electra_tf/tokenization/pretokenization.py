"""BERT's basic tokenization in the graph, for texts of any script.

Texts are decoded to code points, which stay in one flat array with a marker behind each
text: a few dozen vector operations whatever the number of texts. `code_points` has the
table, `normalization` the same rules as plain Python.
"""

from typing import NamedTuple

import tensorflow as tf

from electra_tf.tokenization import code_points

_SIGMA = 0x3A3


class Words(NamedTuple):
    """The words of a batch of texts.

    Attributes:
        code_points: ragged int32 `[W, None]`, the normalised words of all texts.
        row_splits: int64 `[N + 1]`, the words of text `i` are `row_splits[i]` up to
            `row_splits[i + 1]`.
        starts: int32, byte in its text where the source of each character of
            `code_points.values` begins; `None` when spans were not asked for.
        ends: int32, byte behind that source, accents that were stripped included.
    """

    code_points: tf.RaggedTensor
    row_splits: tf.Tensor
    starts: tf.Tensor | None
    ends: tf.Tensor | None


class BasicTokenizer(tf.Module):
    """Splits texts into normalised words, exactly as `normalization.basic_tokenize`.

    Invalid UTF-8 becomes U+FFFD, which BERT deletes: the bytes vanish and what is
    around them stays.

    Args:
        lowercase: bool, lower-case as Python's `str.lower` does.
        strip_accents: bool, remove accents; has no effect without `lowercase`.
    """

    def __init__(self, *, lowercase: bool, strip_accents: bool):
        super().__init__(name="basic_tokenizer")
        table = code_points.code_point_table(
            lowercase=lowercase, strip_accents=lowercase and strip_accents
        )
        self._lowercase = lowercase
        self._page_starts = tf.constant(table.page_starts)
        self._entries = tf.constant(table.entries)
        self._sequences = tf.constant(table.sequences)

    def __call__(self, texts: tf.Tensor, *, with_spans: bool = False) -> Words:
        """Splits `texts`, string `[N]`; see `Words`."""
        decoded, starts = _decode(texts)
        entries = self._look_up(decoded)
        # `columns` are arrays with one element a character: first its encoded value,
        # then (with spans) its place in `decoded`.
        columns = [entries, decoded]
        if with_spans:
            columns.append(tf.range(tf.size(decoded)))
        entries, decoded, *sources = _drop(
            columns, _kind(entries) == code_points.DELETED
        )
        values = entries + tf.bitwise.left_shift(decoded, code_points.PAYLOAD_SHIFT)
        if self._lowercase:
            values -= _final_sigmas(decoded, entries)
        columns = self._expand([values, *sources], entries)
        columns[0] = _in_canonical_order(columns[0])
        if with_spans:
            columns[1:] = _spans(columns[0], columns[1], starts)
        columns = _drop(columns, _kind(columns[0]) == code_points.STRIPPED)
        return _split(*columns)

    def _look_up(self, characters: tf.Tensor) -> tf.Tensor:
        page = tf.gather(self._page_starts, tf.bitwise.right_shift(characters, 8))
        return tf.gather(self._entries, page + tf.bitwise.bitwise_and(characters, 0xFF))

    def _expand(self, columns: list[tf.Tensor], entries: tf.Tensor) -> list[tf.Tensor]:
        """Puts in the sequences that single characters turn into."""
        is_sequence = _kind(entries) == code_points.SEQUENCE

        def expanded():
            values, *sources = columns
            pool = tf.concat([self._sequences, values], axis=0)
            payload = tf.bitwise.right_shift(entries, code_points.PAYLOAD_SHIFT)
            begin = tf.where(
                is_sequence,
                tf.bitwise.right_shift(payload, code_points.LENGTH_BITS),
                tf.size(self._sequences) + tf.range(tf.size(values)),
            )
            length_mask = (1 << code_points.LENGTH_BITS) - 1
            length = tf.bitwise.bitwise_and(payload, length_mask)
            length = tf.where(is_sequence, length, 1)
            taken = tf.ragged.range(begin, begin + length)
            owners = taken.value_rowids() if sources else None
            return [
                tf.gather(pool, taken.flat_values),
                *(tf.gather(source, owners) for source in sources),
            ]

        return _when(tf.reduce_any(is_sequence), expanded, columns)


def _decode(texts: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns code points with `END_OF_TEXT` behind each text, and their first bytes."""
    # The line feed only makes room for the marker.
    decoded, starts = tf.strings.unicode_decode_with_offsets(
        tf.strings.join([texts, "\n"]), "UTF-8", errors="replace"
    )
    ends = decoded.row_splits[1:] - 1
    marks = tf.fill(tf.shape(ends), code_points.END_OF_TEXT)
    flat = tf.tensor_scatter_nd_update(decoded.flat_values, ends[:, tf.newaxis], marks)
    return flat, tf.cast(starts.flat_values, tf.int32)


def _kind(values: tf.Tensor) -> tf.Tensor:
    return tf.bitwise.bitwise_and(values, code_points.KIND_MASK)


def _has(values: tf.Tensor, flag: int) -> tf.Tensor:
    return tf.bitwise.bitwise_and(values, flag) != 0


def _when(condition: tf.Tensor, change, columns: list[tf.Tensor]) -> list[tf.Tensor]:
    """Applies a rare change only where there is something to change."""
    changed = tf.cond(condition, change, lambda: [tf.identity(c) for c in columns])
    return list(changed)


def _drop(columns: list[tf.Tensor], unwanted: tf.Tensor) -> list[tf.Tensor]:
    def dropped():
        kept = tf.where(~unwanted)[:, 0]
        return [tf.gather(column, kept) for column in columns]

    return _when(tf.reduce_any(unwanted), dropped, columns)


def _final_sigmas(characters: tf.Tensor, entries: tf.Tensor) -> tf.Tensor:
    """What to subtract from the values, so that sigmas at the end of a word are final.

    A capital sigma is final when the nearest character before it that is not
    case-ignorable is cased, and the nearest after it is not. Spaces and ideographs are
    neither, so that the rule stays within a word.
    """
    is_sigma = characters == _SIGMA

    def found():
        counts = ~_has(entries, code_points.CASE_IGNORABLE)
        cased = _has(tf.boolean_mask(entries, counts), code_points.CASED)
        cased = tf.pad(cased, [[1, 1]])
        place = tf.cumsum(tf.cast(counts, tf.int32))
        is_final = is_sigma & tf.gather(cased, place - 1) & ~tf.gather(cased, place + 1)
        return [tf.where(is_final, 1 << code_points.PAYLOAD_SHIFT, 0)]

    return _when(tf.reduce_any(is_sigma), found, [tf.zeros_like(entries)])[0]


def _in_canonical_order(values: tf.Tensor) -> tf.Tensor:
    """Sorts adjacent combining marks that survive stripping, as NFD does.

    Only 25 characters are concerned, all of category Mc. The accents among them have no
    exact order, as they are about to go.
    """
    order = tf.bitwise.right_shift(values, code_points.ORDER_SHIFT)
    order = tf.bitwise.bitwise_and(order, code_points.ORDER_MASK)

    def reordered():
        run = tf.cumsum(tf.cast(order == 0, tf.int32))
        key = run * (code_points.ORDER_MASK + 1) + order
        return [tf.gather(values, tf.argsort(key, stable=True))]

    return _when(tf.reduce_any(order >= 2), reordered, [values])[0]


def _spans(
    values: tf.Tensor, sources: tf.Tensor, starts: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the first byte of each character's source and the byte behind it.

    A stripped accent belongs to the character before it.
    """
    next_starts = tf.concat([starts[1:], [0]], axis=0)
    group = tf.cumsum(tf.cast(_kind(values) != code_points.STRIPPED, tf.int32))
    # Group 0 holds accents that have nothing before them.
    ends = tf.math.segment_max(tf.gather(next_starts, sources), group)
    return tf.gather(starts, sources), tf.gather(ends, group)


def _split(
    values: tf.Tensor, starts: tf.Tensor | None = None, ends: tf.Tensor | None = None
) -> Words:
    kind = _kind(values)
    is_space = kind == code_points.SPACE
    is_isolated = kind == code_points.ISOLATED
    after_boundary = tf.concat([[True], (is_space | is_isolated)[:-1]], axis=0)
    begins_word = is_isolated | (after_boundary & ~is_space)
    words_so_far = tf.cumsum(tf.cast(begins_word, tf.int64))
    characters = tf.bitwise.right_shift(values, code_points.PAYLOAD_SHIFT)
    text_ends = tf.where(characters == code_points.END_OF_TEXT)[:, 0]
    row_splits = tf.concat([[0], tf.gather(words_so_far, text_ends)], axis=0)

    kept = tf.where(~is_space)[:, 0]
    word_begins = tf.where(tf.gather(begins_word, kept))[:, 0]
    word_splits = tf.concat([word_begins, [tf.size(kept, tf.int64)]], axis=0)
    return Words(
        tf.RaggedTensor.from_row_splits(
            tf.gather(characters, kept), word_splits, validate=False
        ),
        row_splits,
        None if starts is None else tf.gather(starts, kept),
        None if ends is None else tf.gather(ends, kept),
    )
