import gzip
import json

import pytest
import tensorflow as tf

from electra_tf.data.manifest import check_batch_size, check_dataset, open_dataset
from electra_tf.errors import DataError

TEXT = "".join(f"{'word' * 3} of document number {c} .\n\n" for c in "abcdefghij" * 4)


@pytest.fixture
def dataset(build, tmp_path):
    build(TEXT, num_shards=4)
    return tmp_path / "data"


def _refusal(directory, **expectations):
    with pytest.raises(DataError) as caught:
        check_dataset(directory, open_dataset(directory), **expectations)
    return str(caught.value)


def test_an_intact_dataset_passes(dataset):
    manifest = open_dataset(dataset)
    assert len(manifest.shards) == 4
    assert manifest.max_length == manifest.inputs.max_length == 16
    fingerprint = manifest.vocabulary_fingerprint
    check_dataset(
        dataset,
        manifest,
        vocabulary_fingerprint=fingerprint,
        max_length=16,
        batch_size=manifest.train.examples,
    )


def test_another_length_is_refused_with_both(dataset):  # B27
    message = _refusal(dataset, max_length=512)
    assert "examples of 16 tokens, this run expects 512" in message
    assert "data.max_length=16" in message


def test_another_vocabulary_is_refused_with_the_right_one(dataset):
    message = _refusal(dataset, vocabulary_fingerprint="0" * 64)
    assert "another vocabulary" in message
    assert str(dataset / "vocab.txt") in message


def test_fewer_examples_than_a_batch_are_refused_with_both_numbers(dataset):  # A07
    manifest = open_dataset(dataset)
    count = manifest.train.examples
    message = _refusal(dataset, batch_size=count + 1)
    assert f"{count} training examples" in message
    assert f"batch of {count + 1}" in message
    with pytest.raises(DataError, match=r"lower training\.batch_size"):
        check_batch_size(manifest, count + 1)


@pytest.mark.parametrize("checksums", [True, False])
def test_a_shard_that_was_cut_short_is_named(dataset, checksums):  # B28
    path = dataset / "train-00002-of-00004.tfrecord"
    content = path.read_bytes()
    path.write_bytes(content[:-7])
    message = _refusal(dataset, checksums=checksums)
    assert message.startswith(f"{path}: cut short")
    assert f"{len(content) - 7} of {len(content)} bytes" in message
    assert "build the dataset again" in message


def test_a_missing_shard_is_named(dataset):
    path = dataset / "train-00001-of-00004.tfrecord"
    path.unlink()
    assert _refusal(dataset).startswith(f"{path}: missing")


def test_a_flipped_bit_is_found_by_the_checksum(dataset):
    path = dataset / "train-00003-of-00004.tfrecord"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert _refusal(dataset).startswith(f"{path}: damaged")
    check_dataset(dataset, open_dataset(dataset), checksums=False)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (gzip.compress(TEXT.encode()), "gzip-compressed data"),
        (b"just some text\n", "plain text"),
        (b"<!DOCTYPE html>\n<html>404", "an HTML page"),
        (b"", "an empty file"),
    ],
)
@pytest.mark.parametrize("name", ["train-00000-of-00004.tfrecord", "more.tfrecord"])
def test_other_files_among_the_records_are_named(dataset, name, content, kind):  # B29
    (dataset / name).write_bytes(content)
    message = _refusal(dataset)
    assert message.startswith(f"{dataset / name}: not ")
    assert kind in message


def test_other_directories_do_not_matter(dataset):
    (dataset / "old.tfrecord").mkdir()
    check_dataset(dataset, open_dataset(dataset))


def test_a_directory_instead_of_a_shard_is_refused(dataset):
    path = dataset / "train-00000-of-00004.tfrecord"
    path.unlink()
    path.mkdir()
    assert _refusal(dataset).startswith(f"{path}: cannot be read")


def test_no_dataset_is_refused(tmp_path):
    with pytest.raises(DataError, match="none: no such directory"):
        open_dataset(tmp_path / "none")
    with pytest.raises(DataError, match=r"no dataset\.json, so not"):
        open_dataset(tmp_path)


def test_foreign_records_are_refused_with_what_they_lack(tmp_path):  # B27
    values = tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))
    features = tf.train.Features(feature={"token_ids": values, "input_mask": values})
    path = tmp_path / "pretrain_data.tfrecord-0-of-1"
    with tf.io.TFRecordWriter(str(path)) as writer:
        writer.write(tf.train.Example(features=features).SerializeToString())
    with pytest.raises(DataError) as caught:
        open_dataset(tmp_path)
    assert path.name in str(caught.value)
    assert "input_mask, token_ids; missing: segment_lengths" in str(caught.value)
    path.write_bytes(gzip.compress(b"records"))
    with pytest.raises(DataError, match="holds no records, it looks like gzip"):
        open_dataset(tmp_path)


@pytest.mark.parametrize("content", ["", "[]", "{", "null", '{"inputs": {}}', "\xff"])
def test_a_damaged_manifest_is_refused(dataset, content):
    (dataset / "dataset.json").write_text(content, encoding="latin1")
    with pytest.raises(DataError, match=r"dataset\.json: not the manifest"):
        open_dataset(dataset)


def test_unknown_fields_and_versions_are_refused(dataset):
    path = dataset / "dataset.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"extra": 1}))
    with pytest.raises(DataError, match="not the manifest"):
        open_dataset(dataset)
    content["inputs"]["format_version"] = 7
    path.write_text(json.dumps(content))
    with pytest.raises(DataError, match="format version 7, this program reads 1"):
        open_dataset(dataset)
