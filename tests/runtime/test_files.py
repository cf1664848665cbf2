"""Files that are there completely or not at all."""

import os
import pathlib

import pytest

from electra_tf.errors import DataError, WorkError
from electra_tf.runtime import files


def test_a_file_is_replaced_in_one_step(tmp_path, monkeypatch):
    path = tmp_path / "new" / "file.txt"
    files.write_atomically(path, b"first")
    umask = os.umask(0)
    os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(WorkError, match=r"file.txt: cannot be written \(No space left"):
        files.write_atomically(path, b"second")
    assert path.read_bytes() == b"first"
    assert os.listdir(path.parent) == ["file.txt"]


def test_a_directory_is_replaced_when_everything_is_in_it(tmp_path):
    path = tmp_path / "out"

    def write(content):
        return lambda place: (place / "a.txt").write_text(content)

    files.replace_directory(path, write("first"), min_free_bytes=1)
    files.replace_directory(path, write("second"), min_free_bytes=1)
    assert (path / "a.txt").read_text() == "second"

    def fail(place):
        (place / "a.txt").write_text("third")
        raise OSError(28, "No space left on device")

    with pytest.raises(WorkError, match="No space left"):
        files.replace_directory(path, fail, min_free_bytes=1)
    with pytest.raises(WorkError, match=r"needs 1,000,000,000,000 MB"):
        files.replace_directory(path, write("third"), min_free_bytes=10**18)
    assert (path / "a.txt").read_text() == "second"
    assert os.listdir(tmp_path) == ["out"]


def test_a_place_that_is_taken_or_closed_is_refused(tmp_path, monkeypatch):
    files.check_new_directory(tmp_path / "new" / "deep", overwrite=False)
    files.check_new_directory(tmp_path, overwrite=False)
    (tmp_path / "thesis.docx").touch()
    for path in (tmp_path, tmp_path / "thesis.docx"):
        with pytest.raises(DataError, match="is there already"):
            files.check_new_directory(path, overwrite=False)
    files.check_new_directory(tmp_path, overwrite=True)
    with pytest.raises(DataError, match=r"thesis.docx is a file"):
        files.check_writable(tmp_path / "thesis.docx" / "inside")
    # Root may write anywhere, so that no directory here is closed to it.
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    with pytest.raises(DataError, match=f"{pathlib.Path(tmp_path)} does not permit it"):
        files.check_writable(tmp_path / "out")
