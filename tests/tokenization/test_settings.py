import json
import unicodedata

import pytest

from electra_tf.errors import ConfigError, DataError
from electra_tf.tokenization.settings import (
    NormalizationSettings,
    check_settings,
    load_settings,
    save_settings,
    settings_path,
)


@pytest.fixture
def vocabulary_path(tmp_path):
    return tmp_path / "vocab.txt"


def test_settings_come_back(vocabulary_path):
    settings = NormalizationSettings(lowercase=True, strip_accents=False)
    save_settings(vocabulary_path, settings, {"fertility": 1.5})
    assert load_settings(vocabulary_path) == settings
    content = json.loads((vocabulary_path.parent / "vocab.json").read_text())
    assert content == {
        "lowercase": True,
        "strip_accents": False,
        "unicode_version": unicodedata.unidata_version,
        "report": {"fertility": 1.5},
    }


def test_no_file_or_one_of_another_tool_means_no_settings(vocabulary_path):
    assert load_settings(vocabulary_path) is None
    with open(settings_path(vocabulary_path), "w") as file:
        json.dump({"hello": 0}, file)
    assert load_settings(vocabulary_path) is None
    check_settings(vocabulary_path, lowercase=False, strip_accents=False)


@pytest.mark.parametrize(
    "content", ["{", '{"lowercase": "yes"}', '{"lowercase": true}']
)
def test_damaged_settings_are_refused(vocabulary_path, content):
    with open(settings_path(vocabulary_path), "w") as file:
        file.write(content)
    with pytest.raises(DataError, match=r"vocab\.json"):
        load_settings(vocabulary_path)


@pytest.mark.parametrize(
    ("stored", "asked", "flags"),
    [
        ((True, False), (True, True), "use strip_accents=False"),  # B31
        ((True, True), (False, True), "use lowercase=True"),
        ((False, True), (True, True), "use lowercase=False"),
    ],
)
def test_contradictions_are_refused(vocabulary_path, stored, asked, flags):
    settings = NormalizationSettings(lowercase=stored[0], strip_accents=stored[1])
    save_settings(vocabulary_path, settings)
    with pytest.raises(ConfigError, match=flags):
        check_settings(vocabulary_path, lowercase=asked[0], strip_accents=asked[1])


def test_strip_accents_means_nothing_in_cased_text(vocabulary_path):
    save_settings(
        vocabulary_path, NormalizationSettings(lowercase=False, strip_accents=True)
    )
    check_settings(vocabulary_path, lowercase=False, strip_accents=False)
