import numpy as np
import tensorflow as tf

from electra_tf.runtime.random import Draws, DropoutDraws, make_heldout_key, make_key


def test_a_replica_draws_its_rows_of_the_global_batch():
    key = make_key(5, tf.constant(3))
    whole = Draws(key).uniform((8, 5, 3), site=2).numpy()
    for first_row in (0, 2, 6):
        part = Draws(key, tf.constant(first_row)).uniform((2, 5, 3), site=2).numpy()
        np.testing.assert_array_equal(part, whole[first_row : first_row + 2])


def test_seed_step_and_site_each_change_everything():
    keys = [make_key(5, 3), make_key(6, 3), make_key(5, 4), make_heldout_key(5, 3)]
    numbers = [Draws(key).uniform((4, 4), site=2).numpy() for key in keys]
    numbers.append(Draws(keys[0]).uniform((4, 4), site=3).numpy())
    for index, first in enumerate(numbers):
        for second in numbers[index + 1 :]:
            assert (first != second).all()


def test_numbers_are_uniform():
    numbers = Draws(make_key(0, 0)).uniform((1_000, 100), site=1).numpy()
    assert numbers.min() >= 0.0
    assert numbers.max() < 1.0
    shares = np.histogram(numbers, bins=10, range=(0, 1))[0] / numbers.size
    np.testing.assert_allclose(shares, 0.1, atol=4 * np.sqrt(0.09 / numbers.size))


def test_each_dropout_has_numbers_of_its_own():
    draws = DropoutDraws(Draws(make_key(0, 0)), first_site=1_000)
    first, second = (draws.uniform((2, 3)).numpy() for _ in range(2))
    assert (first != second).all()


def test_the_largest_seed_and_step_are_accepted():
    key = make_key(2**32 - 1, tf.constant(2**32 - 1, tf.int64))
    assert key.numpy().tolist() == [2**64 - 1]
