"""Where a dataset is written: aside first, then in place of an older one.

Everything is prepared in a sub-directory and moved at the end; `dataset.json` comes last.
Whatever else lies in the directory stays.
"""

import contextlib
import os
import re
import shutil
from pathlib import Path

from absl import logging

from electra_tf.data.manifest import (
    MANIFEST_FILE,
    QUARANTINE_FILE,
    VOCABULARY_FILE,
    BuildInputs,
    DatasetManifest,
    check_dataset,
    open_dataset,
)
from electra_tf.errors import DataError, WorkError
from electra_tf.runtime.files import check_writable, write_atomically
from electra_tf.tokenization.settings import settings_path

_STAGING = ".building"
_SHARD = re.compile(r"(train|heldout)-\d{5}-of-\d{5}\.tfrecord")


def check_output(directory: Path, *, overwrite: bool) -> None:
    """Refuses a directory that holds anything but a dataset.

    Raises:
        DataError: names what is in the way.
    """
    if directory.exists() and not directory.is_dir():
        raise DataError(f"{directory}: a file, not a directory; choose another place")
    check_writable(directory)
    names = sorted(os.listdir(directory)) if directory.exists() else []
    # The staging directory of an interrupted build says that the rest is ours as well.
    if overwrite or not names or MANIFEST_FILE in names or _STAGING in names:
        return
    raise DataError(
        f"{directory}: not empty and not a dataset (it holds {', '.join(names[:3])}"
        f"{', …' if names[3:] else ''}); choose another directory, or build "
        "with --overwrite: it replaces only files of a dataset and keeps the others"
    )


def existing_dataset(
    directory: Path, inputs: BuildInputs, *, overwrite: bool
) -> DatasetManifest | None:
    """Returns the manifest if the directory has an intact dataset of these inputs.

    One of these inputs that is damaged may be built again: nothing is lost by that.

    Raises:
        DataError: the directory has a dataset of other inputs, and `overwrite` is false.
    """
    if not (directory / MANIFEST_FILE).exists():
        return None
    try:
        manifest = open_dataset(directory)
    except DataError as error:
        if overwrite:
            return None
        raise DataError(f"{error}; build it again with --overwrite") from error
    if manifest.inputs == inputs:
        try:
            check_dataset(directory, manifest)
        except DataError as error:
            logging.warning("building again: %s", error)
            return None
        return manifest
    if overwrite:
        return None
    names = [
        name
        for name in BuildInputs.model_fields
        if getattr(manifest.inputs, name) != getattr(inputs, name)
    ]
    raise DataError(
        f"{directory}: holds a dataset of other text or settings (different: "
        f"{', '.join(names)}); choose another directory, delete this one, or build "
        "with --overwrite"
    )


@contextlib.contextmanager
def staging(directory: Path):
    """Makes the sub-directory to build in; removes it whatever happens.

    Yields:
        Its path.

    Raises:
        WorkError: a file cannot be written, for example because the disk is full.
    """
    is_new = not directory.exists()
    path = directory / _STAGING
    try:
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        yield path
    except OSError as error:
        raise WorkError(
            f"{error.filename or directory}: cannot be written "
            f"({error.strerror or error}); no dataset was made, what was there before "
            "is unchanged. Free some space or choose another place, then try again"
        ) from error
    finally:
        shutil.rmtree(path, ignore_errors=True)
        if is_new:
            with contextlib.suppress(OSError):
                directory.rmdir()  # only if it is empty


def publish(staged: Path, directory: Path, manifest: DatasetManifest) -> None:
    """Moves a finished dataset to its place.

    Args:
        staged: the directory that holds its files.
        directory: the dataset.
        manifest: written beside them, and moved last.
    """
    # First, so that a disk too full for it does no harm.
    content = manifest.model_dump_json(indent=2) + "\n"
    write_atomically(staged / MANIFEST_FILE, content.encode("utf-8"))
    (directory / MANIFEST_FILE).unlink(missing_ok=True)
    settings_file = os.path.basename(settings_path(VOCABULARY_FILE))
    ours = {VOCABULARY_FILE, settings_file, QUARANTINE_FILE}
    for path in directory.iterdir():
        if _SHARD.fullmatch(path.name) or path.name in ours:
            path.unlink()
    for path in sorted(staged.iterdir(), key=lambda path: path.name == MANIFEST_FILE):
        os.replace(path, directory / path.name)
