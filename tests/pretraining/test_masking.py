"""Cases A01, A02 and A12 to A14 of the user reports, and the official statistics."""

import json

import numpy as np
import pytest
import tensorflow as tf

from electra_tf.pretraining.masking import (
    SpecialTokens,
    draw_positions,
    hide_tokens,
    mask_count,
    mask_tokens,
    max_masked,
)
from electra_tf.runtime.random import Draws, make_key
from electra_tf.tokenization.vocabulary import Vocabulary
from tests.micro import SPECIAL, batch_of

RUNS = ("128_0.15", "128_0.25", "64_0.15", "512_0.15")
# Of the golden sequences.
OFFICIAL = SpecialTokens(pad_id=0, cls_id=101, sep_id=102, mask_id=103)


def _draws(step=0):
    return Draws(make_key(7, step))


def _mask(batch, step=0, **kwargs):
    kwargs = {"rate": 0.15, **kwargs}
    masked = mask_tokens(batch, _draws(step), SPECIAL, **kwargs)
    return {name: value.numpy() for name, value in vars(masked).items()}


def test_number_of_slots_is_the_official_one(golden):
    content = json.loads((golden / "masking" / "masking.json").read_text())
    for key, expected in content["max_predictions_per_seq"].items():
        length, rate = key.split(",")
        assert max_masked(float(rate), int(length)) == expected, key


@pytest.mark.parametrize(
    ("length", "expected"), [(3, 1), (10, 2), (30, 4), (128, 19), (512, 77)]
)
def test_count_in_short_and_long_rows(length, expected):  # A13
    limit = max_masked(0.15, 512)
    assert int(mask_count(tf.constant([length]), rate=0.15, limit=limit)[0]) == expected


@pytest.mark.parametrize("run", RUNS)
def test_counts_equal_those_of_the_original(run, golden):
    with np.load(golden / "masking" / "samples.npz") as data:
        lengths = data[f"{run}/input_mask"].sum(axis=1)
        expected = data[f"{run}/weights"].sum(axis=1)
        limit = data[f"{run}/weights"].shape[1]
    count = mask_count(tf.constant(lengths), rate=float(run.split("_")[1]), limit=limit)
    np.testing.assert_array_equal(count.numpy(), expected)


@pytest.mark.parametrize("rate", [0.0, 1.0, -0.1])
def test_impossible_rates_are_refused(rate):
    with pytest.raises(ValueError, match="rate"):
        mask_count(tf.constant([5]), rate=rate, limit=1)


def test_positions_are_drawn_once_by_default():  # A01
    masked = _mask(batch_of([8] * 2_000), rate=0.5)
    for positions, weights in zip(
        masked["mask_positions"], masked["mask_weights"], strict=True
    ):
        used = positions[weights > 0]
        assert len(set(used)) == len(used) > 0


@pytest.mark.parametrize("replacement", [False, True])
def test_85_percent_are_hidden_and_nothing_else_changes(replacement):  # A02
    batch = batch_of([256] * 2_700, 256)
    masked = _mask(batch, replacement=replacement)
    used = masked["mask_weights"] > 0
    changed = masked["token_ids"] != batch["token_ids"]
    assert (masked["token_ids"][changed] == SPECIAL.mask_id).all()
    rows = np.broadcast_to(np.arange(len(used))[:, np.newaxis], used.shape)
    selected = set(
        zip(rows[used].tolist(), masked["mask_positions"][used].tolist(), strict=True)
    )
    assert set(map(tuple, np.argwhere(changed).tolist())) <= selected
    if replacement:  # a position stays visible only if each of its draws leaves it so
        assert changed.sum() / len(selected) > 0.85
    else:
        assert len(selected) > 100_000
        assert changed.sum() / len(selected) == pytest.approx(0.85, abs=0.005)


def test_drawing_with_replacement_repeats_as_often_as_in_the_original(golden):
    run = json.loads((golden / "masking" / "masking.json").read_text())["runs"][0]
    with np.load(golden / "masking" / "samples.npz") as data:
        token_ids, real = data["128_0.15/input_ids"], data["128_0.15/input_mask"]
    copies = 60
    batch = {
        "token_ids": np.tile(token_ids, (copies, 1)),
        "padding_mask": np.tile(real, (copies, 1)),
    }
    masked = mask_tokens(batch, _draws(), OFFICIAL, rate=0.15, replacement=True)
    repeats = total = 0
    for positions, weights in zip(
        masked.mask_positions.numpy(), masked.mask_weights.numpy(), strict=True
    ):
        used = positions[weights > 0]
        total += len(used)
        repeats += len(used) - len(set(used))
    expected = run["duplicate_draws_total"] / run["predictions_total"]
    error = 4 * np.sqrt(expected * (1 / total + 1 / run["predictions_total"]))
    # The 32 golden sequences are a sample of the run's 2,000: their lengths differ.
    assert repeats / total == pytest.approx(expected, abs=error + 0.01)


def test_every_candidate_is_equally_likely():
    candidates = tf.constant([[False, True, True, True, True, False]] * 8_000)
    for replacement in (False, True):
        positions = draw_positions(
            candidates,
            _draws().uniform((8_000, 6), site=1),
            limit=2,
            replacement=replacement,
        )
        shares = np.bincount(positions.numpy().ravel(), minlength=6) / 16_000
        # Four standard errors of a share of 1/4 in 16,000 draws.
        np.testing.assert_allclose(shares, [0, 0.25, 0.25, 0.25, 0.25, 0], atol=0.014)


def test_rows_without_candidates_get_no_weight():  # A12
    masked = _mask(batch_of([2, 12]))
    assert masked["mask_weights"][0].sum() == 0
    assert masked["mask_weights"][1].sum() == 2
    assert (masked["token_ids"][0] == batch_of([2, 12])["token_ids"][0]).all()


def test_special_tokens_are_never_masked():  # A14
    tokens = ["[UNK]", "a", "b", "[SEP]", "[MASK]", "[PAD]", "[CLS]", "c", "d"]
    special = SpecialTokens.of(Vocabulary(tokens))
    assert special == SpecialTokens(pad_id=5, cls_id=6, sep_id=3, mask_id=4)
    rng = np.random.default_rng(0)
    token_ids = rng.integers(0, len(tokens), (10_000, 16)).astype("int32")
    batch = {"token_ids": token_ids, "padding_mask": (token_ids != 5).astype("int32")}
    masked = mask_tokens(batch, _draws(), special, rate=0.3)
    chosen = masked.mask_ids.numpy()[masked.mask_weights.numpy() > 0]
    assert set(chosen) == {0, 1, 2, 7, 8}


def test_masks_change_with_the_step_and_only_with_it():
    batch = batch_of([16] * 8)
    first, again, other = (_mask(batch, step) for step in (3, 3, 4))
    np.testing.assert_array_equal(first["mask_positions"], again["mask_positions"])
    assert (first["mask_positions"] != other["mask_positions"]).any()


def test_a_position_stays_visible_only_if_all_its_draws_leave_it():
    hidden = hide_tokens(
        tf.constant([[7, 8, 9]]), tf.constant([[1, 1, 2]]), tf.constant([[1, 0, 0]]), 4
    )
    assert hidden.numpy().tolist() == [[7, 4, 9]]
