import gzip
import json
import resource
import string
import subprocess
import sys
import time

import pytest

from electra_tf.data.manifest import check_dataset, open_dataset
from electra_tf.tokenization.settings import NormalizationSettings, save_settings
from electra_tf.tokenization.vocabulary import SPECIAL_TOKENS, Vocabulary

TEXT = "".join(f"a text about {c}.\nanother line\n\n" for c in string.ascii_lowercase)


@pytest.fixture
def vocabulary(tmp_path):
    letters = string.ascii_lowercase
    tokens = [*SPECIAL_TOKENS, *letters, *(f"##{letter}" for letter in letters), "."]
    path = tmp_path / "vocab.txt"
    Vocabulary(tokens).save(path)
    return path


@pytest.fixture
def build(tmp_path, vocabulary):
    """Runs the command; what is not given is a corpus, the vocabulary and "data"."""

    def build(*flags, **options):
        (tmp_path / "corpus.txt").write_text(TEXT)
        defaults = {
            "--corpus": tmp_path / "corpus.txt",
            "--vocab": vocabulary,
            "--output": tmp_path / "data",
        }
        given = {flag.split("=")[0] for flag in flags}
        flags += tuple(f"{k}={v}" for k, v in defaults.items() if k not in given)
        return subprocess.run(
            [sys.executable, "-m", "electra_tf.build_dataset", *flags],
            capture_output=True,
            text=True,
            check=False,
            **options,
        )

    return build


def _message(result, status=2):
    assert result.returncode == status, result.stderr
    assert "Traceback" not in result.stderr
    *_, line = result.stderr.strip().split("\n")
    assert line.startswith("electra_tf.build_dataset: error: ")
    return line


def _refusal(result):
    line = _message(result)
    assert result.stderr.strip() == line  # the only one
    return line


def test_a_dataset_is_built_from_several_kinds_of_files(build, tmp_path):
    corpus = tmp_path / "my corpus"
    corpus.mkdir()
    (corpus / "plain text.txt").write_text(TEXT)
    (corpus / "b.txt.gz").write_bytes(gzip.compress(TEXT.upper().encode()))
    (corpus / "c.jsonl").write_text('{"text": "one\\ntwo"}\n{"text": "three \xe9"}\n')
    (corpus / "d.txt").write_bytes(b"good\nbad \xff\n")
    result = build(
        f"--corpus={corpus}", "--max_length=32", "--seed=3", "--heldout_fraction=0.1"
    )
    assert result.returncode == 0, result.stderr
    manifest = open_dataset(tmp_path / "data")
    check_dataset(tmp_path / "data", manifest, max_length=32)
    inputs = manifest.inputs
    assert [source.layout for source in inputs.sources] == [
        "blank_line",
        "jsonl",
        "blank_line",
        "blank_line",
    ]
    assert (inputs.seed, inputs.lowercase, inputs.strip_accents) == (3, True, True)
    total = manifest.train.documents + manifest.heldout.documents
    assert total == 26 + 26 + 2 + 1
    assert manifest.heldout.documents > 0
    assert "1 lines could not be read" in result.stderr
    assert f"train       {manifest.train.examples} examples of 32" in result.stdout
    assert str(tmp_path / "data") in result.stdout

    start = time.monotonic()
    again = build(
        f"--corpus={corpus}", "--max_length=32", "--seed=3", "--heldout_fraction=0.1"
    )
    assert again.returncode == 0
    assert again.stdout == result.stdout
    assert time.monotonic() - start < 3  # without TensorFlow; half a second when idle
    line = _refusal(build(f"--corpus={corpus}", "--max_length=64"))
    assert "different: max_length, heldout_fraction, seed" in line


def test_a_pattern_without_files_is_refused(build, tmp_path):  # B19
    assert "no file matches 'no/such/*.txt'" in _refusal(
        build("--corpus=no/such/*.txt")
    )
    assert not (tmp_path / "data").exists()


@pytest.mark.slow
def test_a_corpus_of_blank_lines_is_refused(build, tmp_path):  # B19
    (tmp_path / "blank.txt").write_text("\n \n\n")
    line = _message(build(f"--corpus={tmp_path / 'blank.txt'}"))
    assert "no text in 1 file(s)" in line
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    "flag",
    [
        "--blanks_separate_docs=False",
        "--blanks_separate_docs=false",
        "--noblanks_separate_docs",
    ],
)
def test_the_flag_about_blank_lines_can_be_false(build, flag):  # B25
    line = _refusal(build(flag, "--layout=blank_line"))
    assert "contradicts --layout=blank_line" in line


def test_the_flag_about_blank_lines_is_a_boolean(build):  # B25
    assert "blanks_separate_docs" in _refusal(build("--blanks_separate_docs=maybe"))


def test_files_of_others_and_settings_of_the_vocabulary_are_kept(  # B25, B26
    build, tmp_path, vocabulary
):
    thesis = tmp_path / "data/thesis.docx"
    thesis.parent.mkdir()
    thesis.write_text("years of work")
    save_settings(vocabulary, NormalizationSettings(lowercase=False))
    assert "thesis.docx" in _refusal(build())
    assert "learned with lowercase=False" in _refusal(build("--lowercase"))
    assert list(thesis.parent.iterdir()) == [thesis]

    result = build("--overwrite", "--noblanks_separate_docs")
    assert result.returncode == 0, result.stderr
    assert thesis.read_text() == "years of work"
    manifest = open_dataset(tmp_path / "data")
    assert manifest.train.documents == 1
    assert not manifest.inputs.lowercase
    settings = json.loads((tmp_path / "data/vocab.json").read_text())
    assert settings["lowercase"] is False


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (TEXT.encode("utf-16"), "UTF-16 text; convert it: iconv"),
        (b"\x00\x01\x02\x03" * 500, "not text, it looks like binary"),
        (gzip.compress(TEXT.encode()), "compressed text must be named .gz"),
        (b'{"body": "a"}\n' * 9, "no field 'text' (found: body); set --text_field"),
    ],
)
def test_files_that_are_not_text_are_refused(build, tmp_path, content, message):
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    line = _refusal(build(f"--corpus={path}"))
    assert message in line
    assert str(path) in line


@pytest.mark.slow
def test_invalid_text_is_refused_on_request(build, tmp_path):  # B22
    path = tmp_path / "bad.txt"
    path.write_bytes(b"one\ngood\xff\xfeline\n")
    line = _message(build(f"--corpus={path}", "--invalid_text=refuse"))
    assert "bad.txt, line 2: not UTF-8: byte 0xff at 4" in line
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--corpus="], "--corpus is missing"),
        (["--vocab=no/such.txt"], "no such vocabulary file"),
        (["--max_length=4"], "max_length=4 must be between 5 and"),
        (["--max_length=long"], "max_length"),
        (["--num_workers=0"], "num_workers=0 must be between"),
        (["--heldout_fraction=1"], "heldout_fraction=1.0 must be"),
        (["--seed=-1"], "seed=-1"),
        (["--layout=paragraph"], "layout"),
        (["--max_lenght=64"], "max_lenght"),
        (["more.txt"], "unexpected argument 'more.txt'"),
    ],
)
def test_wrong_requests_are_refused(build, tmp_path, flags, message):
    assert message in _refusal(build(*flags))
    assert not (tmp_path / "data").exists()


def test_a_full_disk_is_one_line(build, tmp_path):
    def limit():  # of each file, which is as good as a disk that is full
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    line = _message(build("--max_length=512", preexec_fn=limit), status=1)
    assert "no dataset was made" in line
    assert not (tmp_path / "data").exists()


def test_a_directory_that_cannot_be_made_is_one_line(build, tmp_path):
    line = _message(build("--output=/proc/electra"), status=1)
    assert "/proc/electra" in line
    assert "cannot be written" in line
    (tmp_path / "data").touch()
    assert "a file, not a directory" in _refusal(build())


def test_help_comes_at_once(build):
    start = time.monotonic()
    result = build("--help")
    assert time.monotonic() - start < 3  # a second on an idle machine
    assert "--split_long_lines" in result.stdout.replace("[no]", "")
    assert "tensorflow" not in result.stderr
