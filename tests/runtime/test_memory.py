import subprocess
import sys

import numpy as np

from electra_tf.runtime.memory import peak_memory_bytes


def test_the_peak_counts_what_was_held_and_given_back():
    before = peak_memory_bytes()
    np.ones(1 << 29, "uint8").sum()  # 512 MiB
    assert peak_memory_bytes() >= max(before, 1 << 29)
    # A child does not inherit it.
    code = "from electra_tf.runtime.memory import peak_memory_bytes as p; print(p())"
    child = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert int(child.stdout) < 1 << 28
