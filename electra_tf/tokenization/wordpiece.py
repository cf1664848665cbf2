"""BERT's tokenization in the TensorFlow graph.

The same operations build data, fine-tune and serve. Besides TensorFlow's own they need
one of TensorFlow Text's, fast WordPiece (and its regular-expression split when special
tokens in texts are wanted), which stock TensorFlow Serving has.
"""

from typing import NamedTuple

import tensorflow as tf

from electra_tf.errors import DataError
from electra_tf.tokenization.normalization import basic_tokenize
from electra_tf.tokenization.pretokenization import BasicTokenizer
from electra_tf.tokenization.python_wordpiece import MAX_WORD_CHARACTERS
from electra_tf.tokenization.special_tokens import SpecialTokenSplitter
from electra_tf.tokenization.text_operations import text_operations
from electra_tf.tokenization.vocabulary import CONTINUATION, UNKNOWN, Vocabulary

_MAX_PIECE_BYTES = 256  # a limit of the operation
_MAX_UTF8_BYTES = 4
_MAX_WORD_BYTES = MAX_WORD_CHARACTERS * _MAX_UTF8_BYTES
_TOO_LONG = "a" * (_MAX_WORD_BYTES + 1)
# The rows for which TensorFlow Text's own splitting is exact, most of English: ASCII
# without control characters, which it would take for spaces where BERT deletes them, and
# typographic punctuation.
_PLAIN_TEXT = "[\t\n\r -~\u2010-\u2027]*"
_TEXTS = [tf.TensorSpec([None], tf.string)]


class Pieces(NamedTuple):
    """Word pieces of a batch, one field as long as the next (ragged int32 `[N, None]`).

    Attributes:
        ids: token ids.
        starts: first byte in the caller's UTF-8 text of what the piece came from.
        ends: byte behind it; an unknown word's span is the whole word.
    """

    ids: tf.RaggedTensor
    starts: tf.RaggedTensor
    ends: tf.RaggedTensor


class WordPieceTokenizer(tf.Module):
    """Turns texts into token ids exactly as BERT does, in batches and in the graph.

    Works eagerly, in `tf.data`, in `tf.function` and in a SavedModel. It imports neither
    Keras nor KerasHub, so that worker processes start quickly. Texts of ASCII take a
    faster way to the same result. Invalid UTF-8 is deleted (see `BasicTokenizer`).

    Args:
        vocabulary: a `Vocabulary` with `[UNK]`.
        lowercase: bool, lower-case as Python's `str.lower` does.
        strip_accents: bool, remove accents; has no effect without `lowercase`.
        special_tokens_in_text: bool, take `[MASK]` and its like in a text for tokens;
            by default they are split as any text, which is what BERT does.

    Raises:
        DataError: the vocabulary has no `[UNK]`, or a token of more than 256 bytes.

    Example:
        >>> tokenizer = WordPieceTokenizer(
        ...     Vocabulary(["[UNK]", "wo", "##rd", "!"]),
        ...     lowercase=True, strip_accents=True)
        >>> tokenizer.tokenize(tf.constant(["Wörd word!"])).to_list()
        [[1, 2, 1, 2, 3]]
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        lowercase: bool = True,
        strip_accents: bool = True,
        *,
        special_tokens_in_text: bool = False,
    ):
        super().__init__(name="word_piece_tokenizer")
        vocabulary.require([UNKNOWN])
        self._lowercase = lowercase
        with tf.init_scope():  # constants must outlive a graph that is being traced
            self._basic_tokenizer = BasicTokenizer(
                lowercase=lowercase, strip_accents=strip_accents
            )
            entries = _reachable(vocabulary, lowercase, strip_accents)
            self._split_words = _fast_wordpiece(entries, no_pretokenization=True)
            self._split_plain = _fast_wordpiece(entries, no_pretokenization=False)
            self._special = None
            if special_tokens_in_text:
                self._special = SpecialTokenSplitter(vocabulary)

    def tokenize(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Returns the ids of `texts` (string `[N]`) as ragged int32 `[N, None]`."""
        return self._tokenize_batch(texts)

    def tokenize_with_offsets(self, texts: tf.Tensor) -> Pieces:
        """Returns the ids of `texts` (string `[N]`) and where each piece came from.

        Spans are bytes of the texts as they were given, whatever normalisation did to
        them, and never go backwards. Pieces of one character that was decomposed (a
        Hangul syllable) share its span. Accents belong to the character before them.
        """
        return Pieces(*self._tokenize_batch_with_offsets(texts))

    # One graph each: called eagerly, some hundred operations would be slow.
    @tf.function(input_signature=_TEXTS, autograph=False)
    def _tokenize_batch(self, texts):
        return self._tokenize(texts, with_spans=False)[0]

    @tf.function(input_signature=_TEXTS, autograph=False)
    def _tokenize_batch_with_offsets(self, texts):
        return self._tokenize(texts, with_spans=True)

    def _tokenize(self, texts, *, with_spans):
        if self._special is None:
            return self._tokenize_text(texts, with_spans)
        parts = self._special.split(texts)
        fields = self._tokenize_text(parts.texts, with_spans)
        return self._special.restore(parts, fields)

    def _tokenize_text(self, texts, with_spans):
        """Ids, and with spans also starts and ends, by the way that suits each row."""
        is_plain = tf.strings.regex_full_match(texts, _PLAIN_TEXT)
        plain = tf.where(is_plain)[:, 0]
        other = tf.where(~is_plain)[:, 0]

        def mixed():
            fast = self._tokenize_plain(tf.gather(texts, plain), with_spans)
            slow = self._tokenize_other(tf.gather(texts, other), with_spans)
            order = tf.math.invert_permutation(tf.concat([plain, other], axis=0))
            return [
                tf.gather(tf.concat(pair, axis=0), order)
                for pair in zip(fast, slow, strict=True)
            ]

        return tf.cond(
            tf.reduce_all(is_plain),
            lambda: self._tokenize_plain(texts, with_spans),
            mixed,
        )

    def _tokenize_plain(self, texts, with_spans):
        if self._lowercase:
            texts = tf.strings.lower(texts)
        fields = self._split_plain.tokenize_with_offsets(texts)
        return [_int32(field) for field in fields[: 3 if with_spans else 1]]

    def _tokenize_other(self, texts, with_spans):
        words = self._basic_tokenizer(texts, with_spans=with_spans)
        # Not UTF-8 bytes but characters count: other scripts need several bytes each.
        is_long = words.code_points.row_lengths() > MAX_WORD_CHARACTERS
        encoded = tf.strings.unicode_encode(words.code_points, "UTF-8")
        encoded = tf.where(is_long, _TOO_LONG, encoded)
        pieces = self._split_words.tokenize_with_offsets(encoded)
        row_splits = tf.gather(pieces[0].row_splits, words.row_splits)
        fields = [pieces[0].values]
        if with_spans:
            fields += _source_spans(words, *pieces[1:])
        return [
            _int32(tf.RaggedTensor.from_row_splits(field, row_splits, validate=False))
            for field in fields
        ]


def _reachable(vocabulary, lowercase, strip_accents):
    """The vocabulary with tokens that no text can give replaced by other such tokens.

    The operation that splits ASCII texts would find a token like `a b` or `don't`, where
    BERT has split the text before it looks for tokens.
    """
    entries = []
    for index, token in enumerate(vocabulary.tokens):
        if len(token.encode("utf-8")) > _MAX_PIECE_BYTES:
            raise DataError(
                f"vocabulary, line {index + 1}: a token of over {_MAX_PIECE_BYTES} bytes "
                f"({token[:20]!r}...); replace it, for example by [unused{index}]"
            )
        body = token.removeprefix(CONTINUATION)
        words = basic_tokenize(body, lowercase=lowercase, strip_accents=strip_accents)
        is_reachable = words == [body] or token == UNKNOWN
        # Private-use characters are deleted from every text.
        entries.append(token if is_reachable else f"\ue000{index}")
    return entries


def _fast_wordpiece(entries, *, no_pretokenization):
    return text_operations().FastWordpieceTokenizer(
        entries,
        suffix_indicator=CONTINUATION,
        max_bytes_per_word=(
            _MAX_WORD_BYTES if no_pretokenization else MAX_WORD_CHARACTERS
        ),
        token_out_type=tf.int32,
        unknown_token=UNKNOWN,
        no_pretokenization=no_pretokenization,
    )


def _source_spans(words, piece_starts, piece_ends):
    """Byte spans in the texts of pieces whose spans in their words are given."""
    characters = words.code_points.values
    lengths = 1 + sum(
        tf.cast(characters >= limit, tf.int32) for limit in (0x80, 0x800, 0x10000)
    )
    first_bytes = tf.cumsum(lengths, exclusive=True)
    character_of_byte = tf.repeat(tf.range(tf.size(characters)), lengths)
    word_begins = tf.gather(first_bytes, words.code_points.row_starts())
    word_sizes = tf.math.segment_sum(lengths, words.code_points.value_rowids())
    word = piece_starts.value_rowids()
    begin = tf.gather(word_begins, word)
    # A word that is too long was replaced by another: its end is not that one's.
    ends = tf.minimum(tf.cast(piece_ends.values, tf.int32), tf.gather(word_sizes, word))
    first = begin + tf.cast(piece_starts.values, tf.int32)
    first = tf.gather(character_of_byte, first)
    last = tf.gather(character_of_byte, begin + ends - 1)
    return tf.gather(words.starts, first), tf.gather(words.ends, last)


def _int32(ragged):
    return tf.cast(ragged, tf.int32)
