"""Running a command as a user does: another process, another directory."""

import os
import subprocess
import sys

from tests.conftest import ROOT


def run_command(module, *arguments, cwd, timeout=300, **environment):
    """Runs `python -m electra_tf.MODULE` in `cwd`; returns the completed process."""
    return subprocess.run(
        [sys.executable, "-m", f"electra_tf.{module}", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def refusal_of(module, *arguments, cwd, **kwargs):
    """The one line of a command that refuses: status 2, no traceback, nothing else."""
    result = run_command(module, *arguments, cwd=cwd, **kwargs)
    assert result.returncode == 2, result.stderr
    assert "Traceback" not in result.stderr
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith(f"electra_tf.{module}: error: "), result.stderr
    return last
