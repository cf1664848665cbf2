import subprocess
import sys

_CODE = """
import os, sys
from electra_tf.runtime.tensorflow_start import _collected_stderr, import_tensorflow
tf = import_tensorflow()
assert tf is import_tensorflow()
os.write(2, b"after\\n")
try:
    with _collected_stderr() as lines:
        os.write(2, b"inside\\n")
finally:
    print(lines)
with _collected_stderr():
    os.write(2, b"before the crash\\n")
    raise RuntimeError("the crash")
"""


def test_only_notes_are_withheld():
    result = subprocess.run(
        [sys.executable, "-c", _CODE], capture_output=True, text=True, check=False
    )
    assert result.stdout == "['inside']\n"
    first, *rest = result.stderr.splitlines()
    assert first == "after"
    assert rest[0] == "before the crash"
    assert rest[-1] == "RuntimeError: the crash"
