"""The house rules that a machine can check (docs/architecture.md)."""

import subprocess
import sys

import pytest

import electra_tf
from tests.conftest import ROOT

COMMANDS = (
    "pretrain",
    "evaluate",
    "build_vocab",
    "build_dataset",
    "benchmark",
    "convert",
    "flops",
    "doctor",
)


def test_imports_point_downwards_only():
    result = subprocess.run(
        ["lint-imports", ".importlinter", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "1 kept, 0 broken" in result.stdout


def test_importing_the_package_needs_no_tensorflow():
    code = "import sys, electra_tf; assert 'tensorflow' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_a_command_that_works_and_needs_no_tensorflow(command):
    result = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", f"electra_tf.{command}", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"python -m electra_tf.{command}" in result.stdout
    assert "tensorflow" not in result.stderr
    assert "Traceback" not in result.stderr


def test_every_public_name_exists_and_is_documented():
    for name in electra_tf.__all__:
        assert getattr(electra_tf, name).__doc__, name
    assert len(electra_tf.__all__) < 30


def test_tests_mirror_the_package():
    of_the_whole = {"architecture", "commands", "official", "presets"}
    for path in (ROOT / "tests").rglob("test_*.py"):
        name = path.stem.removeprefix("test_")
        source = path.relative_to(ROOT / "tests").with_name(f"{name}.py")
        assert name in of_the_whole or (ROOT / "electra_tf" / source).exists(), path
