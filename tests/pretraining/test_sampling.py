"""Cases A01 and A04 of the user reports, and what the samples are distributed like."""

import numpy as np
import tensorflow as tf

from electra_tf.pretraining.masking import Masked, mask_tokens
from electra_tf.pretraining.sampling import corrupt, sample_tokens
from electra_tf.runtime.random import Draws, make_key
from tests.micro import SPECIAL, batch_of

DRAWS = Draws(make_key(3, 0))


def test_tokens_are_drawn_by_their_probability():
    probabilities = np.array([0.5, 0.3, 0.15, 0.05], "float32")
    logits = tf.tile(tf.math.log(probabilities)[tf.newaxis, tf.newaxis], [500, 40, 1])
    sampled = sample_tokens(logits, DRAWS.uniform(tuple(logits.shape), site=9))
    shares = np.bincount(sampled.numpy().ravel(), minlength=4) / 20_000
    # Four standard errors of a share of 1/2 in 20,000 draws.
    np.testing.assert_allclose(shares, probabilities, atol=0.015)


def test_temperature_flattens():
    logits = tf.tile([[[0.0, 4.0]]], [200, 40, 1])
    uniform = DRAWS.uniform(tuple(logits.shape), site=9)
    share = tf.reduce_mean(
        tf.cast(sample_tokens(logits, uniform, temperature=2.0), tf.float32)
    )
    np.testing.assert_allclose(share, 1 / (1 + np.exp(-2)), atol=0.02)


def test_disallowed_tokens_are_never_drawn():
    logits = tf.tile([[[9.0, 0.0, 0.0]]], [100, 10, 1])
    sampled = sample_tokens(
        logits,
        DRAWS.uniform(tuple(logits.shape), site=9),
        disallowed_ids=tf.zeros([100, 10], tf.int32),
    )
    assert set(sampled.numpy().ravel()) == {1, 2}


def test_no_gradient_reaches_the_generator():
    logits = tf.Variable(tf.zeros([1, 2, 3]))
    with tf.GradientTape() as tape:
        sampled = sample_tokens(logits, DRAWS.uniform((1, 2, 3), site=9))
        loss = tf.reduce_sum(tf.cast(sampled, tf.float32))
    assert tape.gradient(loss, logits) is None


def test_every_corrupted_token_is_a_sample_or_the_original():  # A01
    batch = batch_of([8] * 2_000)
    for replacement in (False, True):
        masked = mask_tokens(batch, DRAWS, SPECIAL, rate=0.5, replacement=replacement)
        shape = masked.mask_positions.shape
        coin = DRAWS.uniform(tuple(shape), site=9) < 0.5
        corrupted = corrupt(batch, masked, tf.where(coin, 1000, 2000))
        changed = corrupted.token_ids.numpy() != batch["token_ids"]
        assert set(corrupted.token_ids.numpy()[changed]) == {1000, 2000}
        np.testing.assert_array_equal(corrupted.labels.numpy(), changed)
        np.testing.assert_array_equal(corrupted.resampled.numpy(), changed)


def test_a_sample_that_equals_the_original_counts_as_original():  # A04
    batch = batch_of([16] * 50)
    masked = mask_tokens(batch, DRAWS, SPECIAL, rate=0.15)
    right = corrupt(batch, masked, masked.mask_ids)
    assert right.labels.numpy().sum() == 0
    assert right.resampled.numpy().sum() == masked.mask_weights.numpy().sum()
    wrong = corrupt(batch, masked, masked.mask_ids + 100)
    assert wrong.labels.numpy().sum() == masked.mask_weights.numpy().sum()


def test_unused_slots_change_nothing():
    batch = {"token_ids": tf.constant([[2, 7, 8, 3]])}
    masked = Masked(
        token_ids=batch["token_ids"],
        mask_positions=tf.constant([[1, 0]]),
        mask_ids=tf.constant([[7, 0]]),
        mask_weights=tf.constant([[1.0, 0.0]]),
    )
    corrupted = corrupt(batch, masked, tf.constant([[9, 30]]))
    assert corrupted.token_ids.numpy().tolist() == [[2, 9, 8, 3]]
