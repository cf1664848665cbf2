"""Stateless random numbers: a pure function of (seed, step, site, position).

Philox is a block cipher in counter mode, so that a key and a counter name a number
without any state. The key is (seed, step); the high counter word is the *site*, one for
each place that draws; the low word is the position in the global batch. A replica that
holds rows r, r+1, … of the global batch starts its counter at row r and therefore draws
what one replica with the whole batch would have drawn for these rows.
"""

import contextlib
import dataclasses
import math
import random
from collections.abc import Iterator

import tensorflow as tf

_PHILOX = 1
_WORDS_PER_BLOCK = 4

# Sites of the pre-training step. Each dropout takes the next number of its tower's range,
# in the order in which the graph is written.
MASK_POSITIONS = 1
MASK_REPLACEMENT = 2
GENERATOR_SAMPLES = 3
FIRST_GENERATOR_DROPOUT = 1_000
FIRST_DISCRIMINATOR_DROPOUT = 2_000
_HELDOUT = 0x9E3779B9


@dataclasses.dataclass(frozen=True)
class Draws:
    """The random numbers of one step.

    Attributes:
        key: uint64 `[1]`, from `make_key`.
        first_row: int64 scalar or int, position in the global batch of this replica's
            first row.
    """

    key: tf.Tensor
    first_row: tf.Tensor | int = 0

    def uniform(self, shape: tuple, site: int) -> tf.Tensor:
        """Uniform numbers in [0, 1), float32.

        Args:
            shape: `(rows, …)`; the first axis is the batch. Axes are ints or scalar
                tensors.
            site: int, which draw of the step this is.

        Returns:
            float32 tensor of `shape`.
        """
        per_row = math.prod(shape[1:])
        blocks = -(-per_row // _WORDS_PER_BLOCK)
        padded = (shape[0], blocks * _WORDS_PER_BLOCK)
        numbers = tf.raw_ops.StatelessRandomUniformV2(
            shape=tf.stack([tf.cast(size, tf.int32) for size in padded]),
            key=self.key,
            counter=self._counter(blocks, site),
            alg=_PHILOX,
        )
        if not isinstance(per_row, int) or per_row % _WORDS_PER_BLOCK:
            numbers = numbers[:, :per_row]
        return tf.reshape(numbers, shape)

    def _counter(self, blocks_per_row: int | tf.Tensor, site: int) -> tf.Tensor:
        first_block = tf.cast(self.first_row, tf.uint64) * tf.cast(
            blocks_per_row, tf.uint64
        )
        return tf.stack([first_block, tf.constant(site, tf.uint64)])


class DropoutDraws:
    """Hands each dropout of a tower its own site, in the order of the calls."""

    def __init__(self, draws: Draws, first_site: int):
        self._draws = draws
        self._site = first_site

    def uniform(self, shape: tuple) -> tf.Tensor:
        """Uniform float32 numbers of `shape` from the next site."""
        self._site += 1
        return self._draws.uniform(shape, self._site - 1)


def make_key(seed: int, step: tf.Tensor) -> tf.Tensor:
    """Key of one step.

    Args:
        seed: int in [0, 2³²).
        step: integer scalar tensor in [0, 2³²).

    Returns:
        uint64 `[1]`.
    """
    high = tf.constant(seed << 32, tf.uint64)
    return tf.reshape(tf.bitwise.bitwise_or(high, tf.cast(step, tf.uint64)), [1])


def make_heldout_key(seed: int, number: tf.Tensor) -> tf.Tensor:
    """Key of held-out batch `number`, apart from the keys of all training steps."""
    return make_key(seed ^ _HELDOUT, number)


@contextlib.contextmanager
def seeded_initializers(seed: int) -> Iterator[None]:
    """Makes the initial values of layers built inside a function of `seed`.

    An initializer without a seed of its own takes one from Python's generator, whose
    state is put back afterwards.
    """
    state = random.getstate()
    random.seed(seed)
    try:
        yield
    finally:
        random.setstate(state)
