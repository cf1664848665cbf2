"""Fixtures and settings shared by all tests."""

import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")

import pytest

ROOT = pathlib.Path(__file__).parent.parent
GOLDEN = pathlib.Path(__file__).parent / "golden"


@pytest.fixture(scope="session")
def data_directory():
    """Real data sets, which are not part of the project; skips where they are absent."""
    path = pathlib.Path(os.environ.get("ELECTRA_TF_DATA", ROOT.parent / "shared/data"))
    if not path.is_dir():
        pytest.skip(f"no real data at {path}; set ELECTRA_TF_DATA to run this test")
    return path


@pytest.fixture(scope="session")
def golden():
    """Directory of the numbers computed with the official implementation."""
    return GOLDEN
