"""How much memory this process has needed."""

import pathlib
import re
import resource
import sys

_STATUS = pathlib.Path("/proc/self/status")


def peak_memory_bytes() -> int:
    """The largest resident size so far."""
    if _STATUS.exists():
        # `ru_maxrss` of Linux would count what the parent had before it started us.
        [kibibytes] = re.findall(r"VmHWM:\s*(\d+) kB", _STATUS.read_text())
        return int(kibibytes) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
