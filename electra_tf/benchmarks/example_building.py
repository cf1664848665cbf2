"""Records from text: ours in one process, and a builder of the original's kind."""

import pathlib
import random
import tempfile
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from electra_tf.benchmarks import machine, peers
from electra_tf.benchmarks.timing import time_side_by_side
from electra_tf.data.building import build_dataset
from electra_tf.data.corpus import read_documents
from electra_tf.data.examples import ExampleBuilder
from electra_tf.data.installed_documentation import write_corpus
from electra_tf.tokenization.vocabulary import Vocabulary
from electra_tf.tokenization.vocabulary_learning import learn_vocabulary

_VOCABULARY_SIZE = 8_192
_MAX_LENGTH = 128
# The slow builder gets less text; both are compared by tokens a second.
_PEER_CHARACTERS = 500_000
_PEER = "python builder"


def benchmark_example_building(repeats: int = 3) -> dict:
    """Times building from the documentation installed on this machine.

    The peer does what the original does: BERT's tokenizer in Python line by line, and a
    `tf.train.Example` at a time. (It assembles with our arrays, which favours it.)

    Args:
        repeats: int, how often each is timed.

    Returns:
        What `--json` writes.
    """
    with tempfile.TemporaryDirectory() as scratch:
        return _measure(pathlib.Path(scratch), repeats)


def _measure(scratch: pathlib.Path, repeats: int) -> dict:
    corpus = scratch / "corpus.txt"
    write_corpus(corpus)
    documents = list(read_documents(corpus))
    lines = [line for document in documents for line in document]
    vocabulary = learn_vocabulary(
        lines, _VOCABULARY_SIZE, lowercase=True, strip_accents=True
    )
    subset = _first(documents, _PEER_CHARACTERS)
    tokens = {}

    def ours():
        manifest = build_dataset(
            files=[corpus],
            vocabulary=vocabulary,
            output_dir=tempfile.mkdtemp(dir=scratch),
            max_length=_MAX_LENGTH,
            num_workers=1,
        )
        tokens["ours"] = manifest.train.text_tokens + manifest.heldout.text_tokens

    def peer():
        tokens[_PEER] = _build_in_python(subset, vocabulary, scratch / "peer.tfrecord")

    absent = peers.missing_packages(("transformers",))
    subjects = {"ours": ours} if absent else {"ours": ours, _PEER: peer}
    timings = time_side_by_side(subjects, repeats)
    rates = {name: tokens[name] / timings[name].seconds for name in timings}
    return {
        "benchmark": "build",
        "machine": machine.describe_machine(),
        "megabytes": corpus.stat().st_size / 1e6,
        "vocabulary_size": len(vocabulary),
        "max_length": _MAX_LENGTH,
        "processes": 1,
        "build": timings["ours"].to_json(),
        "tokens_per_second": rates["ours"],
        "peers": {
            _PEER: {"missing": f"pip install {' '.join(absent)}"}
            if absent
            else {**timings[_PEER].to_json(), "tokens_per_second": rates[_PEER]}
        },
        "ratios": {} if absent else {_PEER: rates["ours"] / rates[_PEER]},
    }


def _first(documents: Sequence[list[str]], characters: int) -> list[list[str]]:
    chosen, total = [], 0
    for document in documents:
        if total >= characters:
            break
        chosen.append(document)
        total += sum(map(len, document))
    return chosen


def _build_in_python(documents, vocabulary: Vocabulary, path: pathlib.Path) -> int:
    tokenize = peers.python_bert_tokenizer(vocabulary, path.with_suffix(".vocab"))
    builder = ExampleBuilder(
        max_length=_MAX_LENGTH,
        cls_id=vocabulary.cls_id,
        sep_id=vocabulary.sep_id,
        pad_id=vocabulary.pad_id,
        dtype=np.uint32,
        rng=random.Random(0),
    )
    tokens = 0
    with tf.io.TFRecordWriter(str(path)) as writer:
        for document in documents:
            lines = [tokenize(line) for line in document]
            lengths = np.array([len(line) for line in lines])
            tokens += lengths.sum()
            examples = builder.build(
                np.array([number for line in lines for number in line]),
                lengths,
                np.array([len(lines)]),
            )
            for row in examples.token_ids.tolist():
                writer.write(_serialize(row))
    return int(tokens)


def _serialize(token_ids: list[int]) -> bytes:
    value = tf.train.Feature(int64_list=tf.train.Int64List(value=token_ids))
    features = tf.train.Features(feature={"input_ids": value})
    return tf.train.Example(features=features).SerializeToString()
