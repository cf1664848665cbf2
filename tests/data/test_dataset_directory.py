import pytest

from electra_tf.data import dataset_directory
from electra_tf.data.dataset_directory import check_output, staging
from electra_tf.errors import DataError, WorkError

TEXT = "one text\n\nanother one\n\na third\n"


def test_only_new_empty_and_own_directories_are_written_to(tmp_path):  # B26
    check_output(tmp_path / "new", overwrite=False)
    check_output(tmp_path, overwrite=False)
    (tmp_path / "thesis.docx").write_text("years of work")
    with pytest.raises(DataError, match=r"it holds thesis\.docx\).*--overwrite"):
        check_output(tmp_path, overwrite=False)
    check_output(tmp_path, overwrite=True)
    with pytest.raises(DataError, match="a file, not a directory"):
        check_output(tmp_path / "thesis.docx", overwrite=True)
    (tmp_path / "dataset.json").write_text("{}")
    check_output(tmp_path, overwrite=False)


def test_many_files_in_the_way_are_not_all_named(tmp_path):
    for name in "abcde":
        (tmp_path / name).touch()
    with pytest.raises(DataError, match=r"it holds a, b, c, …\)"):
        check_output(tmp_path, overwrite=False)


def test_staging_leaves_nothing_behind(tmp_path):
    output = tmp_path / "deep/er"
    with staging(output) as path:
        (path / "file").touch()
    assert not output.exists()
    output.mkdir()
    with pytest.raises(KeyError), staging(output) as path:
        raise KeyError
    assert not list(output.iterdir())


def test_what_an_interrupted_build_left_is_removed(tmp_path):
    (tmp_path / ".building").mkdir()
    (tmp_path / ".building/train-00000-of-00009.tfrecord").touch()
    check_output(tmp_path, overwrite=False)
    with staging(tmp_path) as path:
        assert not list(path.iterdir())


def test_directories_that_cannot_be_made_are_work_errors(tmp_path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(WorkError, match="cannot be written"),
        staging(tmp_path / "file/data"),
    ):
        pass


def test_a_manifest_that_cannot_be_written_harms_nothing(
    build, tmp_path, file_bytes, monkeypatch
):
    build(TEXT)
    before = file_bytes(tmp_path / "data")

    def full(path, content):
        raise WorkError(f"{path}: cannot be written (No space left on device)")

    monkeypatch.setattr(dataset_directory, "write_atomically", full)
    with pytest.raises(WorkError, match="No space"):
        build(TEXT, seed=1, overwrite=True)
    assert file_bytes(tmp_path / "data") == before


def test_files_of_others_stay_and_own_ones_go(build, tmp_path):  # B26
    build(TEXT, num_shards=3)
    output = tmp_path / "data"
    for name in ("thesis.docx", "train-1.tfrecord.bak", "quarantine.jsonl"):
        (output / name).write_text("mine")
    build(TEXT, num_shards=1, overwrite=True)
    assert sorted(path.name for path in output.iterdir()) == [
        "dataset.json",
        "thesis.docx",
        "train-00000-of-00001.tfrecord",
        "train-1.tfrecord.bak",
        "vocab.json",
        "vocab.txt",
    ]
    assert (output / "thesis.docx").read_text() == "mine"
