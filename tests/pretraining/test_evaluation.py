"""Held-out measures of outcomes whose values are known."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf
from sklearn import metrics

from electra_tf.pretraining.evaluation import HeldoutEvaluator
from electra_tf.pretraining.pretrainer import ElectraPretrainer
from tests.micro import SPECIAL, VOCABULARY, batch_of, micro_config

LENGTHS = (16, 9, 5, 2)


@pytest.fixture
def batch():
    return {k: tf.constant(v) for k, v in batch_of(LENGTHS).items()}


def _outcome(certainty=0.0, probability=None, labels=None, with_discriminator=True):
    """Every row is masked at positions 1 and 2, the second slot counts in long rows.

    The generator's logit for the right token is `certainty`, all others are 0.
    """

    def outcome(batch, number):
        del number
        ids = batch["token_ids"]
        mask_ids = ids[:, 1:3]
        weights = tf.cast(batch["padding_mask"][:, 1:3], "float32")
        weights *= tf.constant([[1.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
        logits = certainty * tf.one_hot(mask_ids, len(VOCABULARY))
        masked = SimpleNamespace(mask_ids=mask_ids, mask_weights=weights)
        if not with_discriminator:
            return SimpleNamespace(
                masked=masked, generator_logits=logits, corrupted=None
            )
        p = tf.constant(probability, "float32")
        return SimpleNamespace(
            masked=masked,
            generator_logits=logits,
            corrupted=SimpleNamespace(token_ids=ids),
            labels=tf.constant(labels, "int32"),
            discriminator_logits=tf.math.log(p) - tf.math.log1p(-p),
        )

    return outcome


def _random_judgement(seed=0):
    rng = np.random.default_rng(seed)
    labels = (rng.random((4, 16)) < 0.3).astype("int32")
    return labels, rng.uniform(0.01, 0.99, (4, 16))


def _ordinary(values):
    """Without [CLS], [SEP] and padding."""
    return np.concatenate(
        [row[1 : n - 1] for row, n in zip(values, LENGTHS, strict=True)]
    )


def test_an_ignorant_generator_scores_the_entropy_of_the_vocabulary(batch):
    outcome = _outcome(with_discriminator=False)
    measures = HeldoutEvaluator(outcome, SPECIAL).evaluate([batch]).measures
    size = len(VOCABULARY)
    assert measures["generator_loss"] == pytest.approx(math.log(size), rel=1e-6)
    assert measures["generator_perplexity"] == pytest.approx(size, rel=1e-5)
    assert measures["masked_tokens"] == 5
    assert not [name for name in measures if "discriminator" in name]


def test_a_generator_that_knows_is_right_everywhere(batch):
    outcome = _outcome(certainty=50.0, with_discriminator=False)
    measures = HeldoutEvaluator(outcome, SPECIAL).evaluate([batch, batch]).measures
    assert measures["generator_accuracy"] == 1.0
    assert measures["generator_loss"] == pytest.approx(0.0, abs=1e-6)
    assert measures["masked_tokens"] == 10


def test_the_unigram_baseline_is_the_commonest_ordinary_token(batch):
    ids = np.full((4, 16), 7)
    ids[:, 1] = [8, 8, 9, 9]
    batch["token_ids"] = tf.constant(
        np.where(batch["token_ids"].numpy() > 4, ids, batch["token_ids"]), "int32"
    )
    outcome = _outcome(with_discriminator=False)
    measures = HeldoutEvaluator(outcome, SPECIAL).evaluate([batch]).measures
    # Of the five masked tokens the two at position 2 are the commonest, 7.
    assert measures["unigram_accuracy"] == pytest.approx(2 / 5)


def test_the_discriminator_is_judged_over_ordinary_tokens(batch):
    labels, probability = _random_judgement()
    outcome = _outcome(probability=probability, labels=labels)
    measures = HeldoutEvaluator(outcome, SPECIAL).evaluate([batch]).measures
    label, p = _ordinary(labels), _ordinary(probability)
    expected = {
        "ordinary_tokens": len(label),
        "discriminator_auc": metrics.roc_auc_score(label, p),
        "discriminator_accuracy": metrics.accuracy_score(label, p > 0.5),
        "discriminator_precision": metrics.precision_score(label, p > 0.5),
        "discriminator_recall": metrics.recall_score(label, p > 0.5),
        "majority_accuracy": max(label.mean(), 1 - label.mean()),
        "replaced_share": label.mean(),
    }
    for name, value in expected.items():
        assert measures[name] == pytest.approx(value, rel=1e-6), name


def test_calibration_is_the_gap_between_saying_and_being(batch):
    labels = np.zeros((4, 16), int)
    labels[0, 1:8] = 1  # 7 of 24 ordinary tokens
    outcome = _outcome(probability=np.full((4, 16), 0.55), labels=labels)
    measures = HeldoutEvaluator(outcome, SPECIAL).evaluate([batch]).measures
    assert measures["calibration_error"] == pytest.approx(0.55 - 7 / 24, rel=1e-5)


def test_one_kind_of_label_has_no_auc(batch):
    outcome = _outcome(
        probability=np.full((4, 16), 0.01), labels=np.zeros((4, 16), int)
    )
    measures = HeldoutEvaluator(outcome, SPECIAL).evaluate([batch]).measures
    assert measures["discriminator_auc"] is None
    assert measures["discriminator_recall"] == 0.0
    assert measures["majority_accuracy"] == 1.0


def test_bands_hold_every_token_once(batch):
    labels, probability = _random_judgement()
    outcome = _outcome(certainty=50.0, probability=probability, labels=labels)
    bands = HeldoutEvaluator(outcome, SPECIAL).evaluate([batch]).bands
    distinct = len(np.unique(_ordinary(batch["token_ids"].numpy())))
    assert sum(band["distinct_tokens"] for band in bands) == distinct
    assert len(bands) == 4


def test_examples_are_rows_in_which_something_was_replaced(batch):
    labels = np.zeros((4, 16), int)
    labels[1, 3] = 1
    outcome = _outcome(probability=np.full((4, 16), 0.1), labels=labels)
    [view] = HeldoutEvaluator(outcome, SPECIAL).evaluate([batch]).examples
    assert len(view.token_ids) == LENGTHS[1]
    assert view.replaced_probability == pytest.approx([0.1] * LENGTHS[1])


@pytest.mark.parametrize("batches", [0, 1])
def test_nothing_to_measure_is_refused(batch, batches):
    def nothing(batch, number):
        outcome = _outcome(with_discriminator=False)(batch, number)
        outcome.masked.mask_weights = tf.zeros_like(outcome.masked.mask_weights)
        return outcome

    with pytest.raises(ValueError, match="no held-out token"):
        HeldoutEvaluator(nothing, SPECIAL).evaluate([batch] * batches)


def test_electric_is_judged_by_what_it_learns(batch):
    pretrainer = ElectraPretrainer(
        micro_config(
            objective={"name": "electric", "mask_rate": 0.5},
            generator={"kind": "two_tower"},
        ),
        SPECIAL,
    )
    evaluator = HeldoutEvaluator(pretrainer.outcome, SPECIAL)
    measures = evaluator.evaluate([batch]).measures
    # Every resampled token is noise, also one that is sampled as it was.
    selected = measures["masked_tokens"]
    assert measures["replaced_share"] * measures["ordinary_tokens"] == selected
