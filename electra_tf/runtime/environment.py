"""Whether the installed packages fit together: what `doctor` reports."""

import dataclasses
import importlib.metadata
import platform
import subprocess
import sys

from packaging.requirements import Requirement

_PACKAGE = "electra_tf"
# Two of these shadow each other: the one installed last wins, file by file.
_TENSORFLOWS = ("tensorflow", "tensorflow-cpu", "tensorflow-intel", "tf-nightly")
# Compiled against one TensorFlow: only importing them shows that they fit.
_COMPILED = ("tensorflow", "tensorflow_text", "keras_hub")


@dataclasses.dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes:
        subject: string, for example the name of a package.
        found: string.
        needed: string, empty where nothing in particular is.
        problem: string with the remedy, empty if all is well.
    """

    subject: str
    found: str
    needed: str = ""
    problem: str = ""


def check_environment() -> list[Check]:
    """Compares what is installed with what this project needs."""
    checks = [Check("python", platform.python_version(), ">=3.11", _python_problem())]
    return [*checks, *_packages(), *_tensorflows(), *_imports()]


def _python_problem():
    return "" if sys.version_info >= (3, 11) else "install Python 3.11 or newer"


def _packages():
    try:
        requirements = importlib.metadata.requires(_PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        yield Check(_PACKAGE, "not installed", problem="run `pip install -e .`")
        return
    for requirement in sorted(map(Requirement, requirements), key=lambda r: r.name):
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        yield _package(requirement)


def _package(requirement: Requirement) -> Check:
    needed = str(requirement.specifier)
    remedy = f"run `pip install '{requirement.name}{needed}'`"
    found = _version(requirement.name)
    if found is None:
        return Check(requirement.name, "missing", needed, remedy)
    fits = requirement.specifier.contains(found, prereleases=True)
    return Check(requirement.name, found, needed, "" if fits else remedy)


def _tensorflows():
    installed = [name for name in _TENSORFLOWS if _version(name)]
    if len(installed) > 1:
        extra = " ".join(installed)
        yield Check(
            "TensorFlow distributions",
            extra,
            "one",
            f"run `pip uninstall {extra}`, then `pip install tensorflow`",
        )


def _imports():
    for module in _COMPILED:
        # In another process: a crash or a half-loaded library must not reach this one.
        result = subprocess.run(
            [sys.executable, "-c", f"import {module}"],
            capture_output=True,
            text=True,
            check=False,
        )
        last = (result.stderr.strip().splitlines() or ["it crashed"])[-1]
        yield Check(
            f"import {module}",
            "fails" if result.returncode else "works",
            problem=f"{last}; install the versions listed above"
            if result.returncode
            else "",
        )


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
