"""A model as names and tensors: what every format is read into and written from."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np

from electra_tf.modeling.encoder import EncoderSize

# A text classifier is "deep" with a hidden layer, as Hugging Face's are and the official
# ones are not; an official question answerer may score answerability besides.
Architecture = Literal[
    "encoder",
    "replaced_token_detector",
    "masked_lm",
    "text_classifier",
    "deep_text_classifier",
    "token_classifier",
    "question_answerer",
    "answerability_question_answerer",
]


@dataclasses.dataclass(frozen=True)
class Tensor:
    """An array that is read when it is asked for.

    Attributes:
        shape: tuple of int.
        read: returns it, float32.
    """

    shape: tuple[int, ...]
    read: Callable[[], np.ndarray]

    def transposed(self) -> "Tensor":
        """The transposed matrix."""
        return Tensor(self.shape[::-1], lambda: np.ascontiguousarray(self.read().T))

    def reshaped(self, *shape: int) -> "Tensor":
        """The same numbers in another shape."""
        return Tensor(shape, lambda: self.read().reshape(shape))

    def first_rows(self, count: int) -> "Tensor":
        """The first `count` rows."""
        return Tensor((count, *self.shape[1:]), lambda: self.read()[:count])


def tensor_of(array: np.ndarray) -> Tensor:
    """A tensor that is in memory already."""
    return Tensor(array.shape, lambda: array)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Model:
    """Weights of one network with at most one head.

    Attributes:
        architecture: which head.
        size: `EncoderSize`.
        tensors: our name (`encoder/layer_0/query/kernel`, `head/dense/bias`) → tensor.
        class_names: by class, of a classifier that knows them.
    """

    architecture: Architecture
    size: EncoderSize
    tensors: Mapping[str, Tensor]
    class_names: tuple[str, ...] | None = None

    @property
    def num_classes(self) -> int:
        """Of a classifier."""
        return self.tensors["head/output/bias"].shape[0]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TokenizerSettings:
    """The vocabulary that belongs to a model, and how text is normalised for it.

    Attributes:
        tokens: by id.
        lowercase: bool.
        strip_accents: bool.
    """

    tokens: tuple[str, ...]
    lowercase: bool
    strip_accents: bool
