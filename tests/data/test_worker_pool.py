import os

import pytest

from electra_tf.data import worker_pool
from electra_tf.errors import DataError, WorkError

DOCUMENTS = "".join(f"document {'abc'[i % 3] * (i % 30)}\n\n" for i in range(200))


def _idle(settings, counter):
    counter.value = 3


def _refuse(job):
    raise DataError(f"job {job.index} refused")


def _die(job):
    os._exit(9)


def test_workers_build_the_same_bytes(build, tmp_path, file_bytes):
    options = {"num_shards": 5, "heldout_fraction": 0.2, "seed": 7}
    path = tmp_path / "corpus.txt"
    path.write_bytes(DOCUMENTS.encode() + b"bad \xff line\n")
    done = []
    one = build(path, "one", num_workers=1, **options)
    two = build(
        path, "two", num_workers=2, progress=lambda *p: done.append(p), **options
    )
    assert one == two
    contents = file_bytes(tmp_path / "one")
    assert contents == file_bytes(tmp_path / "two")
    assert len([name for name in contents if name.endswith(".tfrecord")]) == 10
    assert contents["quarantine.jsonl"].count(b"\n") == 1
    assert done[-1] == (path.stat().st_size,) * 2


def test_what_a_worker_refuses_arrives(build, tmp_path, monkeypatch):
    monkeypatch.setattr(worker_pool, "_start_worker", _idle)
    monkeypatch.setattr(worker_pool, "_build", _refuse)
    done = []
    with pytest.raises(DataError, match=r"job \d refused"):
        build(
            DOCUMENTS,
            num_workers=2,
            num_shards=2,
            progress=lambda *p: done.append(p[0]),
        )
    assert done[-1] == 3
    assert not (tmp_path / "data").exists()


def test_a_worker_that_dies_is_a_work_error(build, tmp_path, monkeypatch):
    monkeypatch.setattr(worker_pool, "_start_worker", _idle)
    monkeypatch.setattr(worker_pool, "_build", _die)
    with pytest.raises(WorkError, match=r"was killed or could not start"):
        build(DOCUMENTS, num_workers=2, num_shards=2)
    assert not (tmp_path / "data").exists()
