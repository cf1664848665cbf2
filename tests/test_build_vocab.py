import json
import subprocess
import sys
import time

import pytest

from electra_tf.tokenization.settings import load_settings
from electra_tf.tokenization.vocabulary import SPECIAL_TOKENS, Vocabulary


@pytest.fixture
def build(tmp_path):
    def build(*flags):
        return subprocess.run(
            [sys.executable, "-m", "electra_tf.build_vocab", *flags],
            capture_output=True,
            text=True,
            check=False,
        )

    return build


@pytest.fixture
def corpus(tmp_path):
    directory = tmp_path / "my corpus"
    directory.mkdir()
    (directory / "one.txt").write_text("Müller mochte möchte\n\n" * 20)
    (directory / "two.jsonl").write_text('{"text": "die Straße, die Straße"}\n' * 20)
    return directory


def _refusal(result):
    assert result.returncode == 2
    lines = result.stderr.strip().split("\n")
    assert "Traceback" not in result.stderr
    return lines[-1]


def test_vocabulary_settings_and_report_are_written(build, corpus, tmp_path):
    output = tmp_path / "out" / "vocab.txt"
    result = build(
        f"--corpus={corpus}", "--size=200", f"--output={output}", "--nostrip_accents"
    )
    assert result.returncode == 0, result.stderr
    vocabulary = Vocabulary.load(output)
    assert vocabulary.tokens[:5] == list(SPECIAL_TOKENS)
    assert {"müller", "möchte", "straße", ","} <= vocabulary.ids.keys()
    settings = load_settings(output)
    assert (settings.lowercase, settings.strip_accents) == (True, False)
    report = json.loads((tmp_path / "out/vocab.json").read_text())["report"]
    assert report["num_words"] == 20 * 3 + 20 * 5
    assert report["num_unknown"] == 0
    assert "fertility" in result.stdout
    assert f"{len(vocabulary)} tokens instead of 200" in result.stderr


def test_an_existing_file_is_kept_unless_asked(build, corpus, tmp_path):
    output = tmp_path / "vocab.txt"
    output.write_text("precious\n")
    arguments = [f"--corpus={corpus}/*.txt", "--size=50", f"--output={output}"]
    assert "--overwrite" in _refusal(build(*arguments))
    assert output.read_text() == "precious\n"
    assert build(*arguments, "--overwrite").returncode == 0
    assert "muller" in Vocabulary.load(output).ids


def test_reading_stops_at_the_limit(build, corpus, tmp_path):
    output = tmp_path / "vocab.txt"
    result = build(
        f"--corpus={corpus}", "--size=200", f"--output={output}", "--limit_bytes=60"
    )
    assert result.returncode == 0, result.stderr
    report = json.loads((tmp_path / "vocab.json").read_text())["report"]
    assert report["num_words"] == 9  # three lines of 23 bytes


def test_invalid_lines_are_left_out_and_named(build, tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_bytes(b"good good\nbad\xff\nmore more\n")
    output = tmp_path / "vocab.txt"
    result = build(f"--corpus={corpus}", "--size=99", f"--output={output}")
    assert result.returncode == 0, result.stderr
    assert "corpus.txt, line 2: left out" in result.stderr
    assert {"good", "more"} <= Vocabulary.load(output).ids.keys()


def test_wrong_requests_are_refused(build, corpus, tmp_path):
    (tmp_path / "blank.txt").write_text("\n \n")
    output = f"--output={tmp_path / 'vocab.txt'}"
    assert "--corpus is missing" in _refusal(build(output))
    assert "no file matches" in _refusal(build("--corpus=no/such/*.txt", output))
    assert "no text" in _refusal(build(f"--corpus={tmp_path / 'blank.txt'}", output))
    assert "no room" in _refusal(build(f"--corpus={corpus}", "--size=6", output))
    assert "positive" in _refusal(build(f"--corpus={corpus}", "--size=-1", output))
    assert "is a directory" in _refusal(
        build(f"--corpus={corpus}", f"--output={tmp_path}")
    )
    assert not (tmp_path / "vocab.txt").exists()


def test_help_comes_at_once(build):
    start = time.monotonic()
    result = build("--help")
    assert time.monotonic() - start < 3  # a second on an idle machine
    assert "--corpus" in result.stdout
    assert "tensorflow" not in result.stderr
