"""Starting TensorFlow without the notes that its libraries write for their authors."""

import contextlib
import glob
import os
import re
import sys
import tempfile

_NOTES = re.compile(
    r"I\d{4} |WARNING: All log messages before|To enable the following instructions"
)
# Worth reading only where there is something to mend.
_NO_GPU = re.compile(r"[EW]\d{4} .*failed call to cuInit")


def import_tensorflow():
    """Imports TensorFlow and lets it look for devices.

    The import writes half a dozen lines to the process's standard error, whatever
    `TF_CPP_MIN_LOG_LEVEL` says, because its libraries start before their logging does.
    Warnings and errors among them are passed on.

    Returns:
        The module.
    """
    if "tensorflow" not in sys.modules:
        with _collected_stderr() as lines:
            import tensorflow as tf

            tf.config.list_physical_devices()
        has_gpu = bool(glob.glob("/dev/nvidia*"))
        for line in lines:
            if not _NOTES.match(line) and (has_gpu or not _NO_GPU.match(line)):
                sys.stderr.write(f"{line}\n")
    import tensorflow as tf

    return tf


@contextlib.contextmanager
def _collected_stderr():
    """Yields a list that holds, afterwards, the lines written to file descriptor 2."""
    lines: list[str] = []
    sys.stderr.flush()
    terminal = os.dup(2)
    with tempfile.TemporaryFile("w+", errors="replace") as file:
        os.dup2(file.fileno(), 2)
        try:
            yield lines
        finally:
            sys.stderr.flush()
            os.dup2(terminal, 2)
            os.close(terminal)
            file.seek(0)
            lines.extend(file.read().splitlines())
            if sys.exc_info()[0] is not None:
                sys.stderr.writelines(f"{line}\n" for line in lines)
