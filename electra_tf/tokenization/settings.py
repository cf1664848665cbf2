"""How text was normalised for a vocabulary, kept in a JSON file beside it.

A vocabulary learned with accents is of little use to data built without them, and
nothing in `vocab.txt` tells the two apart. So `vocab.json` does.
"""

import dataclasses
import json
import os
import unicodedata

from electra_tf.errors import ConfigError, DataError
from electra_tf.runtime.files import write_atomically


@dataclasses.dataclass(frozen=True, kw_only=True)
class NormalizationSettings:
    """Text normalisation: BERT's two options and the Unicode version behind its tables.

    Args:
        lowercase: bool, text is lower-cased (Python's `str.lower`).
        strip_accents: bool, accents are removed; matters only with `lowercase`.
        unicode_version: version of the character database that was used.
    """

    lowercase: bool = True
    strip_accents: bool = True
    unicode_version: str = unicodedata.unidata_version


def settings_path(vocabulary_path: str | os.PathLike) -> str:
    """Returns where the settings of a vocabulary are: `vocab.txt` has `vocab.json`."""
    return os.path.splitext(os.fspath(vocabulary_path))[0] + ".json"


def save_settings(
    vocabulary_path: str | os.PathLike,
    settings: NormalizationSettings,
    report: dict | None = None,
) -> None:
    """Writes the settings beside the vocabulary.

    Args:
        vocabulary_path: where the vocabulary is.
        settings: what to write.
        report: more to keep in the file, for people and scripts; nothing here reads it.

    Raises:
        WorkError: the file could not be written.
    """
    content = dataclasses.asdict(settings)
    if report is not None:
        content["report"] = report
    content = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    write_atomically(settings_path(vocabulary_path), content.encode("utf-8"))


def load_settings(vocabulary_path: str | os.PathLike) -> NormalizationSettings | None:
    """Reads the settings beside a vocabulary.

    Returns:
        The settings, or `None` when there is no such file or it is about something
        else (other tools keep a `vocab.json` of their own).

    Raises:
        DataError: the file is there, is ours and cannot be used.
    """
    path = settings_path(vocabulary_path)
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path}: cannot be read as the vocabulary's settings ({error}); "
            "restore it, or delete it and pass the settings as flags"
        ) from error
    if not isinstance(content, dict) or "lowercase" not in content:
        return None
    flags = (content["lowercase"], content.get("strip_accents"))
    if not all(isinstance(flag, bool) for flag in flags):
        raise DataError(f"{path}: lowercase and strip_accents must be true or false")
    return NormalizationSettings(
        lowercase=flags[0],
        strip_accents=flags[1],
        unicode_version=str(content.get("unicode_version", "unknown")),
    )


def check_settings(
    vocabulary_path: str | os.PathLike, *, lowercase: bool, strip_accents: bool
) -> None:
    """Refuses options that contradict those the vocabulary was learned with.

    A vocabulary without stored settings accepts everything.

    Raises:
        ConfigError: the settings disagree in a way that changes the tokens.
        DataError: the stored settings cannot be read.
    """
    stored = load_settings(vocabulary_path)
    if stored is None:
        return
    asked = {"lowercase": lowercase, "strip_accents": strip_accents}
    # Accents are only ever stripped from lower-cased text.
    names = ["lowercase"] + ["strip_accents"] * (lowercase and stored.lowercase)
    wrong = [name for name in names if asked[name] != getattr(stored, name)]
    if wrong:
        kept = ", ".join(f"{name}={getattr(stored, name)}" for name in wrong)
        given = ", ".join(f"{name}={asked[name]}" for name in wrong)
        raise ConfigError(
            f"{vocabulary_path}: learned with {kept}, but {given} was asked for; "
            f"use {kept}, or learn another vocabulary"
        )
