import json
import string

import numpy as np
import pytest
import tensorflow as tf

from electra_tf.data import shard_building
from electra_tf.data.building import build_dataset
from electra_tf.data.corpus import find_files
from electra_tf.tokenization.vocabulary import SPECIAL_TOKENS, Vocabulary


@pytest.fixture(scope="session")
def vocabulary():
    """Every letter, alone and inside a word: a text has as many tokens as letters."""
    letters = string.ascii_lowercase
    return Vocabulary([*SPECIAL_TOKENS, *letters, *(f"##{c}" for c in letters), "."])


@pytest.fixture(scope="session")
def _tokenizers():
    made = {}
    make = shard_building.WordPieceTokenizer

    def tokenizer(vocabulary, **rules):
        key = (vocabulary.fingerprint, *sorted(rules.items()))
        if key not in made:
            made[key] = make(vocabulary, **rules)
        return made[key]

    return tokenizer


@pytest.fixture(autouse=True)
def _tokenizers_are_shared(monkeypatch, _tokenizers):
    """Making one takes half a second, most of the time of a small dataset."""
    monkeypatch.setattr(shard_building, "WordPieceTokenizer", _tokenizers)


@pytest.fixture
def build(tmp_path, vocabulary):
    """Builds `output` from a text, bytes, or a pattern of files."""

    def build(corpus, output="data", **options):
        if isinstance(corpus, str | bytes):
            content = corpus.encode() if isinstance(corpus, str) else corpus
            corpus = tmp_path / "corpus.txt"
            corpus.write_bytes(content)
        settings = {
            "vocabulary": vocabulary,
            "max_length": 16,
            "heldout_fraction": 0.0,
            "num_workers": 1,
        }
        return build_dataset(
            files=find_files(corpus), output_dir=tmp_path / output, **settings | options
        )

    return build


@pytest.fixture(scope="session")
def read_shard():
    """Reads a shard with nothing but TensorFlow: ids and segment lengths."""

    def read_shard(path, token_type=tf.uint16):
        records = list(tf.data.TFRecordDataset(str(path)))
        features = {
            name: tf.io.FixedLenFeature([], tf.string)
            for name in ("token_ids", "segment_lengths")
        }
        parsed = tf.io.parse_example(tf.stack(records), features)
        return tuple(
            tf.io.decode_raw(parsed[name], kind).numpy().astype(np.int64)
            for name, kind in (
                ("token_ids", token_type),
                ("segment_lengths", tf.uint16),
            )
        )

    return read_shard


@pytest.fixture
def read_examples(read_shard):
    """Reads a split of a dataset: token ids `[E, T]` and segment lengths `[E, 2]`."""

    def read_examples(directory, split="train"):
        manifest = json.loads((directory / "dataset.json").read_text())
        shards = [
            read_shard(directory / shard["file"])
            for shard in manifest["shards"]
            if shard["split"] == split
        ]
        return tuple(np.concatenate(values) for values in zip(*shards, strict=True))

    return read_examples


@pytest.fixture
def file_bytes():
    """All files of a directory, by name."""

    def file_bytes(directory):
        return {
            str(path.relative_to(directory)): path.read_bytes()
            for path in sorted(directory.rglob("*"))
            if path.is_file()
        }

    return file_bytes
