import errno
import json
import subprocess
import sys

import numpy as np
import pytest

from electra_tf.data.manifest import check_dataset, open_dataset
from electra_tf.data.records import ShardWriter
from electra_tf.errors import ConfigError, DataError, WorkError

TEXT = "".join(f"{c * 6} and {c * 3}\nmore {c}\n\n" for c in "abcdefghijklmnopqrst")


def _shards(contents):
    return {k: v for k, v in contents.items() if k.endswith(".tfrecord")}


def _documents(count):
    return "".join(f"text {'abcdefghij'[i % 10]} {'x' * i}\n\n" for i in range(count))


def test_files_of_blank_lines_are_refused(build, tmp_path):  # B19
    (tmp_path / "a.txt").write_text("\n \n\t\n")
    (tmp_path / "b.txt").write_text("")
    with pytest.raises(DataError, match=r"no text in 2 file\(s\)"):
        build(tmp_path)
    assert not (tmp_path / "data").exists()


def test_a_path_with_a_blank_works(build, tmp_path):  # B19
    (tmp_path / "my texts").mkdir()
    (tmp_path / "my texts/one file.txt").write_text(TEXT)
    manifest = build(tmp_path / "my texts", "my data")
    assert manifest.train.documents == 20
    check_dataset(tmp_path / "my data", manifest)


def test_a_blank_line_after_every_line_is_warned_of(build):  # B20
    text = "one short sentence\n\n" * 1000
    manifest = build(text, max_length=128, heldout_fraction=0.01)
    assert manifest.train.documents == manifest.train.examples == 1000
    filled, heldout = manifest.warnings
    assert "only 14%" in filled  # 16 letters, [CLS] and [SEP] of 128 positions
    assert "1000 documents of 16 tokens on average" in filled
    assert "layout to file" in filled
    assert "copies of one" in heldout


def test_blank_lines_need_not_separate_documents(build):  # B20, B25
    text = "one short sentence\n\n" * 1000
    manifest = build(text, max_length=128, layout="file")
    assert manifest.train.documents == 1
    assert manifest.warnings == []


def test_ends_of_files_do_not_matter(build, tmp_path, file_bytes):  # B21
    text = b"first\ndocument\n\nsecond one\n\nthird\none\n"
    crlf = text.replace(b"\n", b"\r\n")
    shards = []
    for i, content in enumerate((text[:-1], text, text + b"\n" * 5, crlf)):
        manifest = build(content, f"data{i}")
        assert manifest.train.documents == 3
        shards.append(_shards(file_bytes(tmp_path / f"data{i}")))
    assert shards[0]
    assert shards == [shards[0]] * 4


def test_invalid_lines_are_listed_and_the_others_kept(  # B22
    build, tmp_path, read_examples
):
    manifest = build(b"one\ngood\xff\xfeline\ntwo\n")
    entry = json.loads((tmp_path / "data/quarantine.jsonl").read_bytes())
    assert (entry["file"], entry["line"]) == (str(tmp_path / "corpus.txt"), 2)
    assert "byte 0xff at 4" in entry["reason"]
    assert manifest.train.lines == 2
    assert manifest.quarantined_lines == 1
    assert "1 lines could not be read" in manifest.warnings[-1]
    build(b"one\ntwo\n", "clean")
    np.testing.assert_array_equal(
        read_examples(tmp_path / "data")[0], read_examples(tmp_path / "clean")[0]
    )


def test_invalid_lines_are_refused_on_request(build, tmp_path):  # B22
    content = b"one\ngood\xff\xfeline\ntwo\n"
    message = r"corpus\.txt, line 2: not UTF-8: byte 0xff at 4"
    with pytest.raises(DataError, match=message):
        build(content, refuse_invalid=True)
    assert not (tmp_path / "data").exists()
    build(content)
    with pytest.raises(DataError, match=message):  # not what was built leniently
        build(content, refuse_invalid=True)


def test_names_that_are_not_utf8_are_written_escaped(build, tmp_path):
    path = tmp_path / "caf\udce9.txt"
    path.write_bytes(b"one\nbad\xff\n")
    manifest = build(path)
    assert manifest.inputs.sources[0].name == r"caf\udce9.txt"
    entry = json.loads((tmp_path / "data/quarantine.jsonl").read_text())
    assert entry["file"] == str(path)


_MEASURE_MEMORY = """
import sys
from pathlib import Path
from electra_tf.data.building import build_dataset
from electra_tf.runtime.memory import peak_memory_bytes
from electra_tf.tokenization.vocabulary import Vocabulary
build_dataset(files=[Path(sys.argv[1])], vocabulary=Vocabulary.load(sys.argv[2]),
              output_dir=sys.argv[3], max_length=128, num_workers=1)
print(peak_memory_bytes() / 1e6)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_corpus(tmp_path, vocabulary):  # B23
    vocabulary.save(tmp_path / "vocab.txt")
    block = "".join(
        f"some words of line {i} {'abcdefghij'[i % 10] * 4}\n" + "\n" * (i % 20 == 0)
        for i in range(10_000)
    )
    peaks = []
    for megabytes in (20, 200):
        path = tmp_path / f"{megabytes}.txt"
        path.write_text(block * (megabytes * 1_000_000 // len(block)))
        arguments = [path, tmp_path / "vocab.txt", tmp_path / f"data{megabytes}"]
        output = subprocess.run(
            [sys.executable, "-c", _MEASURE_MEMORY, *map(str, arguments)],
            stdout=subprocess.PIPE,
            check=True,
        )
        peaks.append(float(output.stdout))
    assert abs(peaks[1] - peaks[0]) < 100


def test_existing_files_of_others_are_kept(build, tmp_path):  # B26
    (tmp_path / "data").mkdir()
    thesis = tmp_path / "data/thesis.docx"
    thesis.write_text("years of work")
    with pytest.raises(DataError, match=r"thesis\.docx"):
        build(TEXT)
    assert list((tmp_path / "data").iterdir()) == [thesis]
    build(TEXT, overwrite=True)
    build(TEXT, overwrite=True, seed=1)
    assert thesis.read_text() == "years of work"


def test_equal_inputs_are_not_built_again(build, tmp_path):
    first = build(TEXT)
    times = {p: p.stat().st_mtime_ns for p in (tmp_path / "data").iterdir()}
    assert build(TEXT) == first
    assert build(TEXT, overwrite=True) == first
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/corpus.txt").write_text(TEXT)
    assert build(tmp_path / "elsewhere") == first
    assert times == {p: p.stat().st_mtime_ns for p in (tmp_path / "data").iterdir()}


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        ({"max_length": 32}, "max_length"),
        ({"seed": 1}, "seed"),
        ({"heldout_fraction": 0.5}, "heldout_fraction"),
        ({"lowercase": False}, "lowercase"),
        ({"split_long_lines": True}, "split_long_lines"),
        ({"num_shards": 2}, "num_shards"),
        ({"corpus": TEXT + "more"}, "sources"),
    ],
)
def test_other_inputs_are_refused_unless_asked(
    build, tmp_path, file_bytes, options, difference
):
    build(TEXT)
    before = file_bytes(tmp_path / "data")
    options = {"corpus": TEXT} | options
    with pytest.raises(DataError, match=rf"different: {difference}\).*--overwrite"):
        build(**options)
    assert file_bytes(tmp_path / "data") == before
    replaced = build(**options, overwrite=True)
    assert open_dataset(tmp_path / "data") == replaced
    check_dataset(tmp_path / "data", replaced)
    assert file_bytes(tmp_path / "data") != before


def test_a_damaged_dataset_of_equal_inputs_is_mended(build, tmp_path, file_bytes):
    build(TEXT)
    before = file_bytes(tmp_path / "data")
    (name,) = _shards(before)
    (tmp_path / "data" / name).write_bytes(before[name][:-7])
    build(TEXT)
    assert file_bytes(tmp_path / "data") == before


def test_a_manifest_that_cannot_be_read_is_not_replaced_unasked(build, tmp_path):
    build(TEXT)
    (tmp_path / "data/dataset.json").write_text("{")
    with pytest.raises(
        DataError, match=r"dataset\.json: not the manifest.*--overwrite"
    ):
        build(TEXT)
    check_dataset(tmp_path / "data", build(TEXT, overwrite=True))


class _StopError(Exception):
    pass


def test_an_error_in_the_middle_leaves_what_was_there(build, tmp_path, file_bytes):
    def stop(done, total):
        assert (tmp_path / "data/.building").is_dir()
        raise _StopError

    with pytest.raises(_StopError):
        build(TEXT, progress=stop)
    assert not (tmp_path / "data").exists()

    build(TEXT)
    before = file_bytes(tmp_path / "data")
    with pytest.raises(_StopError):
        build(TEXT, seed=1, overwrite=True, progress=stop)
    assert file_bytes(tmp_path / "data") == before


def _full(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (ShardWriter, "write"),
        ("os", "fsync"),
        ("os", "fdopen"),
        ("pathlib.Path", "mkdir"),
    ],
)
def test_a_full_disk_is_a_work_error(
    build, tmp_path, file_bytes, monkeypatch, owner, name
):
    build(TEXT)
    before = file_bytes(tmp_path / "data")
    where = (owner, name) if isinstance(owner, type) else (f"{owner}.{name}",)
    monkeypatch.setattr(*where, _full)
    with pytest.raises(WorkError, match="No space left on device") as caught:
        build(TEXT, seed=1, overwrite=True)
    assert "\n" not in str(caught.value)
    assert file_bytes(tmp_path / "data") == before
    with pytest.raises(WorkError):
        build(TEXT, "new")
    assert not (tmp_path / "new").exists()


def test_a_directory_that_cannot_be_written_is_a_work_error(build):
    with pytest.raises(WorkError, match=r"/proc/electra.*cannot be written"):
        build(TEXT, "/proc/electra")  # even root may not


def test_held_out_documents_do_not_depend_on_the_rest(build, tmp_path, read_examples):
    def rows(directory, split):
        ids, _ = read_examples(tmp_path / directory, split)
        return {row.tobytes() for row in ids}

    options = {"heldout_fraction": 0.3, "max_length": 128}
    build(_documents(60), "small", **options)
    build(_documents(100), "large", num_shards=3, seed=5, **options)
    for split in ("train", "heldout"):
        assert rows("small", split) < rows("large", split)
    assert not rows("large", "train") & rows("large", "heldout")
    assert len(rows("large", "heldout")) in range(15, 46)


def test_something_is_held_out_of_few_documents(build, tmp_path):
    for num_shards in (1, 5):
        name = f"data{num_shards}"
        manifest = build(
            _documents(5), name, heldout_fraction=0.01, num_shards=num_shards
        )
        assert manifest.heldout.documents == 1
        assert manifest.train.documents == 4
        # Its shard was written for training first.
        check_dataset(tmp_path / name, manifest)


def test_one_document_is_all_for_training(build):
    manifest = build("only one\n", heldout_fraction=0.01)
    assert manifest.train.documents == 1
    assert "nothing was held out" in manifest.warnings[-1]


def test_nothing_left_for_training_is_refused(build):
    with pytest.raises(DataError, match="all 3 documents were held out"):
        build(_documents(3), heldout_fraction=0.999999)


def test_the_manifest_counts_what_is_there(build, tmp_path, read_examples):
    manifest = build(TEXT, num_shards=3, heldout_fraction=0.2, max_length=24)
    for split in ("train", "heldout"):
        ids, lengths = read_examples(tmp_path / "data", split)
        counts = getattr(manifest, split)
        assert counts.examples == len(ids)
        assert counts.tokens == lengths.sum() == np.count_nonzero(ids)
        assert counts.kept_text_tokens == np.count_nonzero(ids > 4)
        assert counts.lines == 2 * counts.documents
    text_tokens = manifest.train.text_tokens + manifest.heldout.text_tokens
    assert text_tokens == sum(c.isalpha() for c in TEXT)
    assert manifest.train.documents + manifest.heldout.documents == 20


def test_unknown_tokens_are_counted(build):
    manifest = build("a 1 2 b\n")
    assert manifest.train.unknown_tokens == 2
    assert "50.0% of the tokens are [UNK]" in "".join(manifest.warnings)


def test_text_without_tokens_gives_no_example(build):
    manifest = build("\x01\x02\n\na b\n\n\u200b\n")
    assert (manifest.train.documents, manifest.train.examples) == (3, 1)


def test_the_number_of_shards_is_bounded_by_the_text(build):
    manifest = build("a\n\nb\n", num_shards=50)
    assert manifest.inputs.num_shards <= 5
    # A part of blank lines leaves no file.
    assert sum(shard.examples for shard in manifest.shards) == 2 == len(manifest.shards)


@pytest.mark.parametrize(
    "options",
    [
        {"max_length": 4},
        {"max_length": 1 << 16},
        {"num_shards": 0},
        {"num_workers": 0},
        {"seed": -1},
        {"seed": 1 << 32},
        {"heldout_fraction": 1.0},
        {"heldout_fraction": -0.1},
        {"heldout_fraction": float("nan")},
    ],
)
def test_options_out_of_range_are_refused(build, tmp_path, options):
    with pytest.raises(ConfigError, match=next(iter(options))):
        build(TEXT, **options)
    assert not (tmp_path / "data").exists()
