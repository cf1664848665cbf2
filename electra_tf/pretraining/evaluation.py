"""Held-out measures of both towers, beside what knowing nothing would score."""

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping

import numpy as np
import tensorflow as tf
from sklearn import metrics as sklearn_metrics

from electra_tf.pretraining.masking import SpecialTokens, candidate_mask
from electra_tf.pretraining.objectives import Outcome

# Bounds of the share of held-out text that the tokens of a band make up, commonest first.
_BANDS = (0.0, 0.25, 0.5, 0.75, 1.0)
_CALIBRATION_BINS = 10


@dataclasses.dataclass(frozen=True)
class TokenView:
    """One held-out sequence for people to look at.

    Attributes:
        original_ids: list of int, real tokens without padding.
        token_ids: list of int, what the discriminator read.
        replaced_probability: list of float.
    """

    original_ids: list[int]
    token_ids: list[int]
    replaced_probability: list[float]


@dataclasses.dataclass
class Heldout:
    """What was measured.

    Attributes:
        measures: name → number, or None; see `HeldoutEvaluator`.
        bands: one dict for each band of token frequency.
        examples: `TokenView`s.
    """

    measures: dict[str, float | None]
    bands: list[dict[str, float]]
    examples: list[TokenView]


class HeldoutEvaluator:
    """Masks held-out text, lets the generator fill it in and the discriminator judge.

    Args:
        outcome: what the objective makes of (batch, number of the batch) at inference,
            such as `ElectraPretrainer.outcome`.
        special: ids that are no ordinary tokens.
        strategy: `tf.distribute.Strategy` whose devices to use, or None.
    """

    def __init__(
        self,
        outcome: Callable[[Mapping[str, tf.Tensor], tf.Tensor], Outcome],
        special: SpecialTokens,
        strategy=None,
    ):
        self._measure = _make_measure(outcome, special, strategy)

    def evaluate(
        self, batches: Iterable[dict[str, tf.Tensor]], num_examples: int = 5
    ) -> Heldout:
        """Measures batches.

        Args:
            batches: of one static shape; rows may be all padding.
            num_examples: int, sequences to return for people.

        Returns:
            `Heldout` with, among its measures, `generator_accuracy` over masked tokens
            beside `unigram_accuracy` (always the commonest token of this text),
            `generator_loss` in nats, `discriminator_auc` over ordinary tokens (special
            tokens are free points; None where all have the same label),
            `discriminator_accuracy` over the same beside `majority_accuracy`, and
            `calibration_error` (mean distance of probability and frequency in ten bins).

        Raises:
            ValueError: there was no batch, or nothing to predict in any.
        """
        collected: dict[str, list[np.ndarray]] = {}
        examples: list[TokenView] = []
        for index, batch in enumerate(batches):
            measured = self._measure(batch, tf.constant(index))
            values = {name: value.numpy() for name, value in measured.items()}
            _collect(collected, values)
            if "probability" in values and len(examples) < num_examples:
                examples.extend(_views(values, num_examples - len(examples)))
        joined = {name: np.concatenate(parts) for name, parts in collected.items()}
        if not joined or not joined["target"].size:
            raise ValueError("there is no held-out token to predict")
        # Counts of all ordinary tokens, not only of the masked ones.
        counts = np.bincount(joined["ordinary_ids"])
        measures = {
            **_generator_measures(joined, counts),
            **_discriminator_measures(joined),
        }
        return Heldout(measures, _bands(joined, counts), examples)


def _make_measure(outcome, special, strategy):
    def measure(batch, index):
        result = outcome(batch, index)
        masked = result.masked
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=masked.mask_ids, logits=result.generator_logits
        )
        best = tf.argmax(result.generator_logits, axis=-1, output_type=tf.int32)
        values = {
            "original_ids": batch["token_ids"],
            "padding_mask": batch["padding_mask"],
            "ordinary": candidate_mask(batch, special),
            "target": masked.mask_ids,
            "used": masked.mask_weights > 0.0,
            "right": best == masked.mask_ids,
            "loss": losses,
        }
        if result.corrupted is not None:
            values |= {
                "token_ids": result.corrupted.token_ids,
                "label": result.labels,
                "probability": tf.sigmoid(result.discriminator_logits),
            }
        return values

    if strategy is None:
        return tf.function(measure, reduce_retracing=True)

    @tf.function(reduce_retracing=True)
    def on_devices(batch, index):
        # Every replica does the same work; one answer is enough.
        values = strategy.run(measure, args=(batch, index))
        return {
            name: strategy.experimental_local_results(value)[0]
            for name, value in values.items()
        }

    return on_devices


def _collect(collected, values):
    used, ordinary = values["used"], values["ordinary"]
    kept = {name: values[name][used] for name in ("target", "right", "loss")}
    kept["ordinary_ids"] = values["original_ids"][ordinary]
    if "label" in values:
        kept["label"] = values["label"][ordinary]
        kept["probability"] = values["probability"][ordinary]
    for name, value in kept.items():
        collected.setdefault(name, []).append(value)


def _views(values, count):
    found = []
    for row in range(len(values["original_ids"])):
        real = values["padding_mask"][row] > 0
        if values["label"][row].any() and len(found) < count:
            found.append(
                TokenView(
                    values["original_ids"][row][real].tolist(),
                    values["token_ids"][row][real].tolist(),
                    values["probability"][row][real].tolist(),
                )
            )
    return found


def _generator_measures(joined, counts):
    commonest = counts.argmax()
    loss = float(joined["loss"].mean())
    return {
        "generator_accuracy": float(joined["right"].mean()),
        "unigram_accuracy": float((joined["target"] == commonest).mean()),
        "generator_loss": loss,
        "generator_perplexity": math.exp(min(loss, 700.0)),
        "masked_tokens": int(joined["target"].size),
    }


def _discriminator_measures(joined):
    if "label" not in joined:
        return {}
    label, probability = joined["label"], joined["probability"]
    share = float(label.mean())
    predicted = probability > 0.5
    both = 0.0 < share < 1.0
    auc = float(sklearn_metrics.roc_auc_score(label, probability)) if both else None
    return {
        "discriminator_auc": auc,
        "discriminator_accuracy": float((predicted == label).mean()),
        "majority_accuracy": max(share, 1.0 - share),
        "discriminator_precision": _ratio((predicted * label).sum(), predicted.sum()),
        "discriminator_recall": _ratio((predicted * label).sum(), label.sum()),
        "replaced_share": share,
        "calibration_error": _calibration_error(label, probability),
        "ordinary_tokens": int(label.size),
    }


def _calibration_error(label, probability):
    bins = np.minimum(
        (probability * _CALIBRATION_BINS).astype(int), _CALIBRATION_BINS - 1
    )
    sizes = np.bincount(bins, minlength=_CALIBRATION_BINS)
    gaps = np.abs(
        np.bincount(bins, probability, minlength=_CALIBRATION_BINS)
        - np.bincount(bins, label, minlength=_CALIBRATION_BINS)
    )
    return float(gaps.sum() / sizes.sum())


def _bands(joined, counts):
    """Measures by frequency: each band's tokens make up a quarter of the text."""
    order = np.argsort(-counts, kind="stable")
    covered = np.cumsum(counts[order]) - counts[order]
    band_of_token = np.empty(len(counts), dtype=int)
    band_of_token[order] = (
        np.searchsorted(_BANDS, covered / counts.sum(), side="right") - 1
    )
    rows = []
    for band in range(len(_BANDS) - 1):
        chosen = band_of_token[joined["target"]] == band
        row = {
            "distinct_tokens": int(((band_of_token == band) & (counts > 0)).sum()),
            "generator_accuracy": _mean(joined["right"][chosen]),
            "generator_loss": _mean(joined["loss"][chosen]),
        }
        if "label" in joined:
            inside = band_of_token[joined["ordinary_ids"]] == band
            label = joined["label"][inside]
            if label.size and 0 < label.mean() < 1:
                row["discriminator_auc"] = float(
                    sklearn_metrics.roc_auc_score(label, joined["probability"][inside])
                )
        rows.append(row)
    return rows


def _mean(values):
    return float(values.mean()) if values.size else None


def _ratio(part, whole):
    return float(part / whole) if whole else 0.0
