"""What a run finds and makes before its first step."""

import logging
import shutil

import pytest

from electra_tf.errors import ConfigError, DataError
from electra_tf.training.preparation import (
    find_sources,
    prepare_data,
    records_directory,
)
from tests.micro import VOCABULARY, micro_config

CONFIG = micro_config(data={"heldout_fraction": 0.2})


@pytest.fixture
def place(tmp_path):
    """A directory with `text.txt`, `vocab.txt` and an empty `run/`."""
    documents = (" ".join(f"w{(d + i) % 45}" for i in range(40)) for d in range(30))
    (tmp_path / "text.txt").write_text("\n\n".join(documents) + "\n")
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    (tmp_path / "run").mkdir()
    return tmp_path


def _sources(place, **changes):
    asked = {
        "corpus": str(place / "text.txt"),
        "data": None,
        "vocab": str(place / "vocab.txt"),
        "model_dir": place / "run",
    }
    return find_sources(**{**asked, **changes})


def test_records_are_built_once_and_used_again(place):
    first = prepare_data(CONFIG, _sources(place), place / "run")
    assert first.directory == records_directory(place / "run", 16)
    shard = first.directory / first.manifest.shards[0].file
    written = shard.stat().st_mtime_ns
    again = prepare_data(CONFIG, _sources(place), place / "run")
    assert again.fingerprint == first.fingerprint
    assert shard.stat().st_mtime_ns == written


def test_other_text_does_not_replace_the_records_of_a_run(place):
    prepare_data(CONFIG, _sources(place), place / "run")
    text = place / "text.txt"
    text.write_text(text.read_text().replace("w1 ", "w2 "))
    with pytest.raises(DataError, match=r"different: sources\).*delete this one"):
        prepare_data(CONFIG, _sources(place), place / "run")


def test_a_vocabulary_is_learned_once(place, caplog):
    caplog.set_level(logging.INFO, logger="absl")
    config = micro_config(
        model={"vocabulary_size": None},
        data={"learned_vocabulary_size": 100, "heldout_fraction": 0.2},
    )
    data = prepare_data(config, _sources(place, vocab=None), place / "run")
    assert (place / "run" / "vocab.txt").exists()
    found = _sources(place, vocab=None)
    assert found.vocabulary.fingerprint == data.vocabulary.fingerprint
    prepare_data(config, found, place / "run")
    assert f"vocab.txt ({len(data.vocabulary)} tokens)" in caplog.text


def test_the_configuration_says_how_ready_records_were_built(place, caplog):
    caplog.set_level(logging.INFO, logger="absl")
    built = micro_config(data={"heldout_fraction": 0.2, "lowercase": False})
    made = prepare_data(built, _sources(place), place / "run")
    shutil.copytree(made.directory, place / "records")
    sources = _sources(place, corpus=None, vocab=None, data=str(place / "records"))
    data = prepare_data(CONFIG, sources, place / "run")
    resolved = data.resolve(CONFIG)
    assert not resolved.data.lowercase
    assert "data.lowercase=False, as the records were built" in caplog.text
    assert resolved.model.vocabulary_size == len(VOCABULARY)


def test_text_without_held_out_documents_is_refused(place):
    (place / "text.txt").write_text("w1 w2 w3 w4 w5 w6\n" * 20)
    with pytest.raises(DataError, match=r"no text is held out .*1 document"):
        prepare_data(CONFIG, _sources(place), place / "run")


def test_text_and_records_exclude_each_other(place):
    with pytest.raises(ConfigError, match="exclude each other"):
        _sources(place, data=str(place / "run"))
