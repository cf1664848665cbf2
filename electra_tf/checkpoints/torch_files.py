"""`pytorch_model.bin` without PyTorch, and without letting a pickle run anything.

Such a file is a zip archive: a pickle that describes tensors, and their bytes. The pickle
is read by an unpickler that knows the few names which describe tensors and refuses all
others, so that nothing in it is ever called but our own functions.
"""

import collections
import dataclasses
import math
import pathlib
import pickle
import zipfile

import ml_dtypes
import numpy as np

from electra_tf.checkpoints.model import Tensor
from electra_tf.errors import DataError

_DTYPES = {
    "FloatStorage": "float32",
    "DoubleStorage": "float64",
    "HalfStorage": "float16",
    "BFloat16Storage": ml_dtypes.bfloat16,
    "LongStorage": "int64",
    "IntStorage": "int32",
    "BoolStorage": "bool",
    "ByteStorage": "uint8",
}
_MAX_PICKLE_BYTES = 64 << 20


@dataclasses.dataclass(frozen=True)
class _Storage:
    key: str
    dtype: np.dtype


@dataclasses.dataclass(frozen=True)
class _View:
    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class _ForbiddenError(Exception):
    """A name that does not describe a tensor."""


class _TensorUnpickler(pickle.Unpickler):
    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuild_tensor
        if (module, name) == ("torch._utils", "_rebuild_parameter"):
            return _rebuild_parameter
        if module == "torch" and name in _DTYPES:
            return np.dtype(_DTYPES[name])
        raise _ForbiddenError(f"{module}.{name}")

    def persistent_load(self, pid):
        kind, dtype, key, *_ = pid
        if kind != "storage" or not isinstance(dtype, np.dtype):
            raise _ForbiddenError(f"persistent object {kind!r}")
        return _Storage(str(key), dtype)


def _rebuild_tensor(storage, offset, shape, strides, *_):
    return _View(storage, offset, tuple(shape), tuple(strides))


def _rebuild_parameter(view, *_):
    return view


def open_torch_file(path: pathlib.Path) -> dict[str, Tensor]:
    """The tensors of a file by name; their bytes are not read yet.

    Raises:
        DataError: it is damaged, of the format before 2020, or holds anything but
            tensors: names what.
    """
    try:
        archive = zipfile.ZipFile(path)
        [entry] = [n for n in archive.namelist() if n.endswith("/data.pkl")]
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise DataError(
            f"{path}: cannot be read as a PyTorch file; it is cut short, damaged or of "
            "the format before PyTorch 1.6: save the model again as safetensors"
        ) from error
    if archive.getinfo(entry).file_size > _MAX_PICKLE_BYTES:
        raise DataError(f"{path}: its description of tensors is too long to be one")
    try:
        with archive.open(entry) as file:
            content = _TensorUnpickler(file).load()
    except _ForbiddenError as error:
        raise DataError(
            f"{path}: contains {error}, which is no tensor, and is not loaded: a pickle "
            "may run any program. Ask for safetensors"
        ) from error
    except Exception as error:
        # A damaged pickle fails in any way; nothing of it was run.
        raise DataError(f"{path}: damaged ({type(error).__name__})") from error
    views = content.items() if isinstance(content, dict) else ()
    if not views or not all(isinstance(view, _View) for _, view in views):
        raise DataError(f"{path}: holds no plain collection of tensors")
    root = entry.removesuffix("data.pkl")
    return {
        str(name): Tensor(view.shape, lambda v=view: _read(path, archive, root, v))
        for name, view in views
    }


def _read(path, archive, root, view):
    try:
        data = archive.read(f"{root}data/{view.storage.key}")
    except (KeyError, OSError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: bytes of a tensor are missing or damaged") from error
    flat = np.frombuffer(data, view.storage.dtype)
    reach = view.offset + sum(
        (size - 1) * step for size, step in zip(view.shape, view.strides, strict=True)
    )
    is_forward = min((view.offset, *view.strides)) >= 0
    if math.prod(view.shape) and not (is_forward and reach < len(flat)):
        raise DataError(f"{path}: a tensor reaches beyond its bytes")
    array = np.lib.stride_tricks.as_strided(
        flat[view.offset :],
        view.shape,
        [step * flat.itemsize for step in view.strides],
        writeable=False,
    )
    return np.ascontiguousarray(array, dtype="float32")
