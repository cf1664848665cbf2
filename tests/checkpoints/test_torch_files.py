"""`pytorch_model.bin` is read without PyTorch, and runs nothing."""

import os
import pickle
import shutil
import zipfile

import pytest
import safetensors.numpy

from electra_tf.checkpoints.torch_files import open_torch_file
from electra_tf.errors import DataError


@pytest.mark.parametrize("name", ["pretraining", "masked_lm"])
def test_tensors_are_those_of_the_safetensors_beside_it(golden, name):
    directory = golden / "hf" / name
    tensors = open_torch_file(directory / "pytorch_model.bin")
    expected = safetensors.numpy.load_file(directory / "model.safetensors")
    assert expected.keys() <= tensors.keys()
    for key, value in expected.items():
        assert tensors[key].shape == value.shape
        assert tensors[key].read().tobytes() == value.tobytes(), key


class _Malicious:
    def __init__(self, call, *arguments):
        self._reduced = (call, arguments)

    def __reduce__(self):
        return self._reduced


def _archive(path, content):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(content, protocol=2))


@pytest.mark.parametrize(
    ("call", "arguments", "named"),
    [
        (os.system, ("touch victim",), "system"),
        (eval, ("open('victim', 'w')",), "eval"),
        (getattr, ("", "join"), "getattr"),
    ],
)
def test_a_malicious_pickle_runs_nothing(tmp_path, monkeypatch, call, arguments, named):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "pytorch_model.bin"
    _archive(path, {"weight": _Malicious(call, *arguments)})
    with pytest.raises(DataError, match=rf"contains \w+\.{named}, which is no tensor"):
        open_torch_file(path)
    assert os.listdir(tmp_path) == ["pytorch_model.bin"]


@pytest.mark.parametrize("content", [[], {}, {"a": 3}, "text"])
def test_what_is_no_collection_of_tensors_is_refused(tmp_path, content):
    path = tmp_path / "pytorch_model.bin"
    _archive(path, content)
    with pytest.raises(DataError, match="no plain collection of tensors"):
        open_torch_file(path)


def test_damaged_files_are_refused(golden, tmp_path):
    path = tmp_path / "pytorch_model.bin"
    shutil.copy(golden / "hf" / "pretraining" / "pytorch_model.bin", path)
    content = path.read_bytes()
    for spoilt in (content[:-200], b"", pickle.dumps({"a": 1})):
        path.write_bytes(spoilt)
        with pytest.raises(DataError, match="cannot be read as a PyTorch file"):
            open_torch_file(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02garbage")
    with pytest.raises(DataError, match="damaged"):
        open_torch_file(path)
