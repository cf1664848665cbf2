import json
import random

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from electra_tf.data.building import build_dataset
from electra_tf.data.examples import ExampleBuilder
from electra_tf.tokenization.vocabulary import Vocabulary
from tests.conftest import GOLDEN

RUNS = json.loads((GOLDEN / "examples/index.json").read_text())["runs"]
CLS, SEP, PAD = 60_001, 60_002, 0


def _builder(max_length, rng, **options):
    special = {"cls_id": CLS, "sep_id": SEP, "pad_id": PAD}
    settings = {"max_length": max_length, "dtype": np.uint16, "rng": rng}
    return ExampleBuilder(**special | settings | options)


def _build(builder, documents):
    """Builds from lists of lines of ids."""
    lines = [line for document in documents for line in document]
    ids = np.array([token for line in lines for token in line], np.int32)
    lengths = np.array([len(line) for line in lines], np.int64)
    return builder.build(ids, lengths, np.cumsum([len(d) for d in documents]))


def _documents(*lengths):
    """Documents of lines of the given lengths, every token another."""
    tokens = iter(range(1, 60_000))
    return [[[next(tokens) for _ in range(n)] for n in lines] for lines in lengths]


class _Original:
    """The official rules, one line and one example at a time, as the facts state them."""

    def __init__(self, max_length, rng):
        self.max_length, self.rng = max_length, rng
        self.target, self.buffer, self.count = max_length, [], 0
        self.examples = []

    def add(self, documents):
        for document in documents:
            for line in document:
                self.buffer.append(line)
                self.count += len(line)
                if self.count >= self.target:
                    self._emit()
            if self.count:
                self._emit()
        return self.examples

    def _emit(self):
        budget = 100_000 if self.rng.random() < 0.1 else (self.target - 3) // 2
        first, second = [], []
        for line in self.buffer:
            if (
                not first
                or len(first) + len(line) < budget
                or (not second and len(first) < budget and self.rng.random() < 0.5)
            ):
                first += line
            else:
                second += line
        first = first[: self.max_length - 2]
        second = second[: max(0, self.max_length - len(first) - 3)]
        self.buffer, self.count, self.target = [], 0, self.max_length
        if self.rng.random() < 0.05:
            self.target = self.rng.randint(5, self.max_length)
        ids = [CLS, *first, SEP] + ([*second, SEP] if second else [])
        lengths = [len(first) + 2, len(second) + 1 if second else 0]
        self.examples.append((ids, lengths))


def _unpadded(examples):
    return [
        (ids[: sum(lengths)].tolist(), lengths.tolist())
        for ids, lengths in zip(*examples, strict=True)
    ]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run["name"])
def test_examples_equal_those_of_the_official_writer(golden, run):
    rules = "lower" if run["do_lower_case"] else "nolower"
    rules += "" if run["strip_accents"] else "_keepaccents"
    key = f"{run['text'].removesuffix('.txt')}/{run['vocab']}_{rules}"
    with np.load(golden / "examples/lines.npz", allow_pickle=False) as lines:
        names = ("token_ids", "line_lengths", "document_ends")
        inputs = [lines[f"{key}/{name}"].astype(np.int64) for name in names]
    rng = random.Random(run["python_random_seed"])
    builder = _builder(run["max_seq_length"], rng, cls_id=101, sep_id=102)
    ids, lengths = builder.build(*inputs)

    with np.load(
        golden / f"examples/{run['name']}.npz", allow_pickle=False
    ) as official:
        np.testing.assert_array_equal(ids, official["input_ids"])
        mask = official["input_mask"]
        np.testing.assert_array_equal(lengths.sum(axis=1), mask.sum(axis=1))
        segments = official["segment_ids"]
        np.testing.assert_array_equal(lengths[:, 1], segments.sum(axis=1))
    assert rng.random() == run["next_random_after_run"]


@hypothesis.given(
    documents=st.lists(
        st.lists(st.integers(0, 30) | st.integers(0, 3), min_size=1, max_size=12),
        min_size=1,
        max_size=6,
    ),
    max_length=st.integers(5, 40),
    seed=st.integers(0, 1000),
)
@hypothesis.settings(deadline=None, max_examples=150)
def test_examples_follow_the_original_whatever_the_lines(documents, max_length, seed):
    rngs = random.Random(seed), random.Random(seed)
    documents = _documents(*documents)
    expected = _Original(max_length, rngs[0]).add(documents)
    examples = _build(_builder(max_length, rngs[1]), documents)
    assert _unpadded(examples) == expected
    assert rngs[0].random() == rngs[1].random()


def test_a_second_segment_has_its_separator_and_padding_none():  # B24
    documents = _documents([3, 60, 60, 3, 20])
    kinds = set()
    for seed in range(40):
        expected = _Original(128, random.Random(seed)).add(documents)
        ids, lengths = _build(_builder(128, random.Random(seed)), documents)
        assert _unpadded((ids, lengths)) == expected
        for row, (first, second) in zip(ids, lengths.astype(int), strict=True):
            assert len(row) == 128
            assert row[0] == CLS
            assert row[first - 1] == SEP
            assert np.count_nonzero(row == SEP) == (2 if second else 1)
            assert not second or row[first + second - 1] == SEP
            assert (row[: first + second] != PAD).all()
            assert (row[first + second :] == PAD).all()
            kinds.add(bool(second))
    assert kinds == {True, False}


def test_batches_of_documents_leave_no_trace():
    documents = _documents(*[[5, 9, 2], [40], [1], [7] * 9, [3, 3]] * 5)
    whole = _build(_builder(24, random.Random(3)), documents)
    builder = _builder(24, random.Random(3))
    parts = [_build(builder, documents[i : i + 2]) for i in range(0, 25, 2)]
    np.testing.assert_array_equal(
        whole.token_ids, np.concatenate([p[0] for p in parts])
    )
    np.testing.assert_array_equal(
        whole.segment_lengths, np.concatenate([p[1] for p in parts])
    )


def test_documents_without_tokens_give_no_example():
    ids, lengths = _build(_builder(16, random.Random(0)), _documents([0, 0], [0]))
    assert ids.shape == (0, 16)
    assert lengths.shape == (0, 2)


def test_splitting_long_lines_keeps_what_the_original_discards():
    documents = _documents(*[[400, 3, 250]] * 20)
    kept = {}
    for split in (False, True):
        builder = _builder(64, random.Random(1), split_long_lines=split)
        ids, _ = _build(builder, documents)
        text = ids[(ids != CLS) & (ids != SEP) & (ids != PAD)]
        assert len(set(text.tolist())) == len(text)
        kept[split] = len(text) / (20 * 653)
    assert kept[False] < 0.3
    assert kept[True] > 0.9


def test_ids_of_four_bytes_are_kept():
    rng = random.Random(0)
    builder = _builder(8, rng, dtype=np.uint32, cls_id=100_000, sep_id=100_001)
    ids, _ = _build(builder, [[[99_999, 70_000]]])
    assert ids.dtype == np.uint32
    assert ids[0, :4].tolist() == [100_000, 99_999, 70_000, 100_001]


def test_official_text_gives_the_official_examples(
    data_directory, golden, tmp_path, read_shard
):
    """The whole way from text; the texts and vocabularies are not in the project."""
    texts = data_directory.parent / "golden/examples"
    if not texts.is_dir():
        pytest.skip(f"no official texts at {texts}")
    name = "ragged_lines_length64_seed3_cased_nolower"
    path = data_directory / "vocab/bert_cased_vocab.txt"
    manifest = build_dataset(
        files=[texts / "ragged_lines.txt"],
        vocabulary=Vocabulary.load(path),
        output_dir=tmp_path / "data",
        max_length=64,
        lowercase=False,
        heldout_fraction=0.0,
        layout="blank_line",
        seed=3,
    )
    shard = manifest.shards[0]
    ids, _ = read_shard(tmp_path / "data" / shard.file)
    with np.load(golden / f"examples/{name}.npz", allow_pickle=False) as official:
        np.testing.assert_array_equal(ids, official["input_ids"])
