"""The tokenizer as a KerasHub layer, with presets."""

import os
from collections.abc import Callable, Iterable

import keras
import keras_hub
import tensorflow as tf

from electra_tf.tokenization.settings import check_settings
from electra_tf.tokenization.vocabulary import (
    CLS,
    CONTINUATION,
    MASK,
    PAD,
    SEP,
    SPECIAL_TOKENS,
    UNKNOWN,
    Vocabulary,
)
from electra_tf.tokenization.wordpiece import Pieces, WordPieceTokenizer

_VOCABULARY_FILE = "vocab.txt"
# KerasHub's attribute names; each also exists with `_id` behind it.
_SPECIAL_TOKEN_NAMES = {
    "cls_token": CLS,
    "sep_token": SEP,
    "pad_token": PAD,
    "mask_token": MASK,
    "unk_token": UNKNOWN,
}


@keras.saving.register_keras_serializable(package="electra_tf")
class ElectraTokenizer(keras_hub.tokenizers.Tokenizer):
    """Turns texts into token ids exactly as BERT does, in the TensorFlow graph.

    Texts are a string, a list, a tensor of any rank or a `RaggedTensor`; the result has
    one more dimension, which is ragged (a single string gives a tensor of rank 1).
    `[CLS]` and `[SEP]` are not added: that is what a preprocessor does. Works eagerly,
    in `tf.data`, in `tf.function` and in a SavedModel.

    As in BERT, cased text is not normalised: with `lowercase=False` (or without
    `strip_accents`) a composed `é` and an `e` with a combining accent are different.
    Where both may occur, normalise first: `tensorflow_text.normalize_utf8(texts, "NFC")`.

    The ids of special tokens are `pad_token_id`, `unk_token_id`, `cls_token_id`,
    `sep_token_id` and `mask_token_id`.

    Args:
        vocabulary: path of a vocabulary file, or the tokens in the order of their ids.
            `None` only in between, before the assets of a preset are loaded.
        lowercase: bool, lower-case as Python's `str.lower` does.
        strip_accents: bool, remove accents; has no effect without `lowercase`.
        special_tokens_in_text: bool, take `[MASK]` and its like in a text for tokens;
            by default they are split as any text, which is what BERT does.
        dtype: dtype policy of the layer; ids are int32.

    Raises:
        DataError: the vocabulary cannot be used, or has not all special tokens.
        ConfigError: the vocabulary was learned from text normalised in another way (see
            `settings`).

    Example:
        >>> tokenizer = ElectraTokenizer(
        ...     ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "wo", "##rd", "!"])
        >>> tokenizer(["Wörd word!", "Wo"])
        <tf.RaggedTensor [[5, 6, 5, 6, 7], [5]]>
        >>> tokenizer.detokenize([5, 6, 7]).numpy()
        b'word !'
    """

    def __init__(
        self,
        vocabulary: str | os.PathLike | Iterable[str] | None = None,
        lowercase: bool = True,
        strip_accents: bool = True,
        special_tokens_in_text: bool = False,
        *,
        dtype="int32",
        **kwargs,
    ):
        super().__init__(dtype=dtype, **kwargs)
        self.built = True  # there are no weights
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.special_tokens_in_text = special_tokens_in_text
        self.file_assets = [_VOCABULARY_FILE]
        self.set_vocabulary(vocabulary)

    def set_vocabulary(
        self, vocabulary: str | os.PathLike | Iterable[str] | None
    ) -> None:
        """Replaces the vocabulary; see the class."""
        if isinstance(vocabulary, str | os.PathLike):
            check_settings(
                vocabulary, lowercase=self.lowercase, strip_accents=self.strip_accents
            )
            vocabulary = Vocabulary.load(vocabulary)
        elif vocabulary is not None:
            vocabulary = Vocabulary(vocabulary)
            vocabulary.require(SPECIAL_TOKENS)
        self._use(vocabulary)

    def _use(self, vocabulary: Vocabulary | None) -> None:
        self._vocabulary = vocabulary
        self._special_token_attrs = []
        for name, token in _SPECIAL_TOKEN_NAMES.items():
            self._add_special_token(token, name)
        if vocabulary is None:
            return
        self._word_pieces = WordPieceTokenizer(
            vocabulary,
            lowercase=self.lowercase,
            strip_accents=self.strip_accents,
            special_tokens_in_text=self.special_tokens_in_text,
        )
        with tf.init_scope():  # constants must outlive a graph that is being traced
            self._tokens = tf.constant(vocabulary.tokens)

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary.

        Raises:
            ValueError: there is none yet.
        """
        self._require_vocabulary()
        return self._vocabulary

    @property
    def word_pieces(self) -> WordPieceTokenizer:
        """What does the work, for strings `[N]` only.

        Raises:
            ValueError: there is no vocabulary yet.
        """
        self._require_vocabulary()
        return self._word_pieces

    def _require_vocabulary(self) -> None:
        if self._vocabulary is None:
            raise ValueError(
                "this tokenizer has no vocabulary: pass `vocabulary`, or load it from a "
                "preset directory with `from_preset`"
            )

    def call(self, inputs, training=None):
        """Returns the ids of texts; see `tokenize`."""
        # KerasHub's own would turn ragged results into Python lists.
        return self.tokenize(inputs)

    def tokenize(self, inputs) -> tf.Tensor | tf.RaggedTensor:
        """Returns the ids of texts, int32; calling the tokenizer is the same."""
        word_pieces = self.word_pieces
        return _for_each_text(inputs, lambda texts: [word_pieces.tokenize(texts)])[0]

    def tokenize_with_offsets(self, inputs) -> Pieces:
        """Returns ids and where in the texts they came from.

        Returns:
            `Pieces(ids, starts, ends)`, each shaped as the result of `tokenize`. Starts
            and ends are bytes of the texts as they were given, in UTF-8.
        """
        return Pieces(*_for_each_text(inputs, self.word_pieces.tokenize_with_offsets))

    def detokenize(self, inputs) -> tf.Tensor:
        """Joins pieces to text: words with one space between them.

        Args:
            inputs: integer ids, `[T]` or `[B, T]`, dense or ragged. `[PAD]`, `[CLS]` and
                `[SEP]` are left out.

        Returns:
            String `[]` or `[B]`. What normalisation took away stays away.
        """
        ids = tf.ragged.constant(inputs) if _is_nested(inputs) else inputs
        if not isinstance(ids, tf.RaggedTensor):
            ids = tf.convert_to_tensor(ids)
        if ids.shape.rank == 1:
            return self.detokenize(ids[tf.newaxis])[0]
        if isinstance(ids, tf.Tensor):
            ids = tf.RaggedTensor.from_tensor(ids)
        vocabulary = self.vocabulary
        is_word = tf.ones_like(ids, dtype=tf.bool)
        for special in (vocabulary.pad_id, vocabulary.cls_id, vocabulary.sep_id):
            is_word &= ids != special
        tokens = tf.gather(self._tokens, tf.ragged.boolean_mask(ids, is_word))
        text = tf.strings.reduce_join(tokens, axis=-1, separator=" ")
        return tf.strings.regex_replace(text, f" {CONTINUATION}", "")

    def get_vocabulary(self) -> list[str]:
        """Returns the tokens in the order of their ids."""
        return list(self.vocabulary.tokens)

    def vocabulary_size(self) -> int:
        """Returns the number of tokens."""
        return len(self.vocabulary)

    def id_to_token(self, id: int) -> str:
        """Returns the token of an id.

        Raises:
            ValueError: there is no such id.
        """
        if not 0 <= id < len(self.vocabulary):
            raise ValueError(f"id {id} is not in [0, {len(self.vocabulary)})")
        return self.vocabulary.tokens[id]

    def token_to_id(self, token: str) -> int:
        """Returns the id of a token.

        Raises:
            ValueError: it is not in the vocabulary.
        """
        return self.vocabulary.id_of(token)

    def save_assets(self, directory: str) -> None:
        """Writes the vocabulary; Keras calls this when it saves."""
        self.vocabulary.save(os.path.join(directory, _VOCABULARY_FILE))

    def load_assets(self, directory: str) -> None:
        """Reads the vocabulary; Keras calls this when it loads."""
        self._use(Vocabulary.load(os.path.join(directory, _VOCABULARY_FILE)))

    def get_config(self):
        """Constructor arguments; the vocabulary is kept as an asset instead."""
        return {
            **super().get_config(),
            "vocabulary": None,
            "lowercase": self.lowercase,
            "strip_accents": self.strip_accents,
            "special_tokens_in_text": self.special_tokens_in_text,
        }

    @classmethod
    def from_config(cls, config):
        """Makes a tokenizer of what `get_config` returned."""
        if isinstance(config.get("vocabulary"), str):
            # A model file from elsewhere must not make us read files.
            raise ValueError("the vocabulary in a configuration cannot be a path")
        return cls(**config)


def _is_nested(inputs) -> bool:
    return isinstance(inputs, list | tuple) and any(
        isinstance(row, list | tuple) for row in inputs
    )


def _for_each_text(inputs, function: Callable) -> list[tf.Tensor | tf.RaggedTensor]:
    """Applies a function of strings `[N]` to strings of any shape."""
    if _is_nested(inputs):
        inputs = tf.ragged.constant(inputs, dtype=tf.string)
    elif not isinstance(inputs, tf.Tensor | tf.RaggedTensor):
        inputs = tf.convert_to_tensor(inputs, dtype=tf.string)
    if inputs.dtype != tf.string:
        raise ValueError(f"the tokenizer takes strings, not {inputs.dtype.name}")
    with tf.device("cpu"):  # there are no kernels for strings elsewhere
        if isinstance(inputs, tf.Tensor):
            rank = inputs.shape.rank
            if rank == 0:
                return [field.values for field in function(inputs[tf.newaxis])]
            if rank == 1:
                return list(function(inputs))
            inputs = tf.RaggedTensor.from_tensor(inputs, ragged_rank=rank - 1)
        fields = function(inputs.flat_values)
        return [inputs.with_flat_values(field) for field in fields]
