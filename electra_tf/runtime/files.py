"""Files that are there completely or not at all."""

import contextlib
import os
import pathlib
import shutil
import tempfile
from collections.abc import Callable

from electra_tf.errors import DataError, WorkError


def write_atomically(path: str | os.PathLike, content: bytes) -> None:
    """Replaces a file in one step, making its directory first when there is none.

    Raises:
        WorkError: it could not be written; what was there before is intact.
    """
    directory, name = os.path.split(os.path.abspath(path))
    temporary = None
    try:
        os.makedirs(directory, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=directory)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        # mkstemp makes private files; ours are for everybody the umask allows.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except OSError as error:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise WorkError(f"{path}: cannot be written ({error.strerror})") from error


def check_writable(path: str | os.PathLike) -> None:
    """Refuses a file or directory that could not be created or replaced, before any work.

    Raises:
        DataError: says what is in the way.
    """
    place = pathlib.Path(path).absolute()
    if not place.is_dir():
        place = place.parent
    while not place.exists():
        place = place.parent
    if not place.is_dir():
        raise DataError(f"{path}: cannot be written ({place} is a file)")
    if not os.access(place, os.W_OK | os.X_OK):
        raise DataError(f"{path}: cannot be written ({place} does not permit it)")


def check_new_directory(path: pathlib.Path, *, overwrite: bool) -> None:
    """Refuses a place that is taken.

    Raises:
        DataError: it is a file, or a directory that is not empty, and may not be
            replaced; or it could not be written.
    """
    is_free = not path.exists() or (path.is_dir() and not any(path.iterdir()))
    if not (is_free or overwrite):
        raise DataError(
            f"--output={path}: is there already; choose another, or add --overwrite"
        )
    check_writable(path)


def replace_directory(
    path: pathlib.Path, write: Callable[[pathlib.Path], None], *, min_free_bytes: int
) -> None:
    """Writes a directory beside its place and then moves it there.

    Args:
        path: the directory, replaced if it exists.
        write: called with the directory to fill.
        min_free_bytes: int, what it needs: the HDF5 library, which writes weights, dies
            with the whole process when a disk is full.

    Raises:
        WorkError: it could not be written; what was there before is intact.
    """
    fresh = path.with_name(f".{path.name}.partial")
    try:
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        free = shutil.disk_usage(fresh).free
        if free < min_free_bytes:
            raise WorkError(
                f"{path}: cannot be written (it needs {min_free_bytes / 1e6:,.0f} MB, "
                f"{free / 1e6:,.0f} MB are free)"
            )
        write(fresh)
        shutil.rmtree(path, ignore_errors=True)
        fresh.rename(path)
    except OSError as error:
        reason = error.strerror or error
        raise WorkError(f"{path}: cannot be written ({reason})") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
