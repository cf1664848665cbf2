import importlib.metadata

import pytest
from packaging.requirements import Requirement

from electra_tf.runtime import environment


@pytest.fixture
def versions(monkeypatch):
    """Pretends that other versions are installed; None is missing."""
    pretended = {}
    original = environment._version
    monkeypatch.setattr(
        environment,
        "_version",
        lambda name: pretended[name] if name in pretended else original(name),
    )
    return pretended


def test_a_version_out_of_range_is_a_problem_with_a_remedy(versions):  # G01
    versions["tensorflow-text"] = "2.21.0"
    check = environment._package(Requirement("tensorflow-text>=2.21.1,<2.22"))
    assert check.found == "2.21.0"
    assert "pip install" in check.problem


def test_a_missing_package_is_a_problem(versions):
    versions["tensorflow-text"] = None
    check = environment._package(Requirement("tensorflow-text>=2.21.1"))
    assert check.found == "missing"
    assert check.problem


def test_two_tensorflows_are_a_problem(versions):
    assert list(environment._tensorflows()) == []
    versions["tensorflow-cpu"] = "2.21.0"
    [check] = environment._tensorflows()
    assert "uninstall" in check.problem


def test_this_environment_is_sound():
    try:
        importlib.metadata.distribution("electra_tf")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("electra_tf is not installed, only on the path")
    assert [c for c in environment.check_environment() if c.problem] == []
