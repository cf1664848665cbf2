"""What `doctor` says and returns (case G01 of the user reports)."""

import pytest

from electra_tf import doctor
from electra_tf.runtime import environment
from tests.command import run_command


def test_a_working_installation(tmp_path):
    result = run_command("doctor", cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    for subject in ("python", "tensorflow", "keras-hub", "devices:", "all is well"):
        assert subject in result.stdout


def test_a_conflict_is_listed_with_its_remedy(monkeypatch, capsys):
    check = environment.Check("tensorflow-text", "2.21.0", "!=2.21.0", "install 2.21.1")
    monkeypatch.setattr(environment, "check_environment", lambda: [check])
    assert doctor.main() == 1
    output = capsys.readouterr().out
    assert "!!  tensorflow-text" in output
    assert "problem: tensorflow-text 2.21.0: install 2.21.1" in output
    assert "all is well" not in output


@pytest.mark.parametrize("flag", ["--nosuchflag", "extra"])
def test_bad_flags_are_refused(tmp_path, flag):
    assert run_command("doctor", flag, cwd=tmp_path).returncode == 2
