import gzip

import pytest

from electra_tf.errors import DataError, WorkError
from electra_tf.tokenization.vocabulary import SPECIAL_TOKENS, Vocabulary

SPECIAL = "\n".join(SPECIAL_TOKENS) + "\n"


@pytest.fixture
def write(tmp_path):
    def write(content):
        path = tmp_path / "vocab.txt"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_ids_are_positions(write):
    vocabulary = Vocabulary.load(write(SPECIAL + "a\n##b\n"))
    assert vocabulary.tokens == [*SPECIAL_TOKENS, "a", "##b"]
    assert len(vocabulary) == 7
    assert vocabulary.ids["##b"] == vocabulary.id_of("##b") == 6


def test_ids_of_special_tokens_are_looked_up():  # A14
    tokens = ["[UNK]", "a", "b", "[SEP]", "[MASK]", "[PAD]", "[CLS]", "c"]
    vocabulary = Vocabulary(tokens)
    assert vocabulary.pad_id == 5
    assert vocabulary.unknown_id == 0
    assert vocabulary.cls_id == 6
    assert vocabulary.sep_id == 3
    assert vocabulary.mask_id == 4


def test_unknown_token_has_no_id():
    with pytest.raises(DataError, match="'b' is not in the vocabulary"):
        Vocabulary(["a"]).id_of("b")


@pytest.mark.parametrize("content", ["{}", "\ufeff{}"])
def test_crlf_and_byte_order_mark_are_accepted(write, tmp_path, content):  # B03
    text = content.format(SPECIAL + "hello\n").replace("\n", "\r\n")
    vocabulary = Vocabulary.load(write(text))
    assert vocabulary.tokens == [*SPECIAL_TOKENS, "hello"]
    vocabulary.save(tmp_path / "saved.txt")
    assert (tmp_path / "saved.txt").read_bytes() == f"{SPECIAL}hello\n".encode()


def test_bert_vocabulary_with_crlf_and_byte_order_mark(write, bert_vocabulary):  # B03
    vocabulary = bert_vocabulary("uncased")
    text = "\ufeff" + "".join(f"{token}\r\n" for token in vocabulary.tokens)
    converted = Vocabulary.load(write(text))
    assert len(converted) == 30522
    assert (converted.ids["hello"], converted.ids["world"]) == (7592, 2088)
    assert converted.fingerprint == vocabulary.fingerprint


@pytest.mark.parametrize("token", ["\u2028", "\x85", "\x0b", "\x1c"])
def test_lines_end_at_line_feeds_only(write, tmp_path, token):  # B04
    vocabulary = Vocabulary.load(write(f"{SPECIAL}{token}\nx\n"))
    vocabulary.save(tmp_path / "saved.txt")
    for one in (vocabulary, Vocabulary.load(tmp_path / "saved.txt")):
        assert len(one) == 7
        assert one.ids["x"] == 6


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\r\n \n"])
def test_blank_lines_at_the_end_are_ignored(write, end):  # B05
    assert len(Vocabulary.load(write(SPECIAL + "a" + end))) == 6


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "vocab.txt: empty"),
        (" \n\n", "vocab.txt: empty"),
        (SPECIAL + "a\n\nb\n", "vocab.txt, line 7: blank"),
        (SPECIAL + "a\nb\na\n", "vocab.txt, line 8: 'a' is already in line 6"),
        (b"a\nb\xff\n", "vocab.txt, line 2: not UTF-8 .byte 0xff"),
        ("[PAD]\n".encode("utf-16"), "vocab.txt: a binary file"),
        (gzip.compress(b"[PAD]\n"), "vocab.txt: a binary file"),
        ("[PAD]\n[CLS]\n[SEP]\n", r"vocab.txt: has no \[UNK\], \[MASK\]; add"),
        ("<unk>\t0\n<s>\t0\n\u2581the\t-3.2\n", r"\[PAD\].*SentencePiece"),
    ],
)
def test_unusable_files_are_refused(write, content, message):  # B02, B05
    with pytest.raises(DataError, match=message):
        Vocabulary.load(write(content))


def test_missing_file_and_directory_are_refused(tmp_path):  # B01
    with pytest.raises(DataError, match=r"none.txt: no such vocabulary file"):
        Vocabulary.load(tmp_path / "none.txt")
    with pytest.raises(DataError, match=r"is a directory.*name the file"):
        Vocabulary.load(tmp_path)
    (tmp_path / "vocab.txt").write_text(SPECIAL)
    with pytest.raises(DataError, match=r"is a directory.*use .*vocab\.txt"):
        Vocabulary.load(tmp_path)


def test_less_can_be_required(write):
    vocabulary = Vocabulary.load(write("[UNK]\na\n"), require=["[UNK]"])
    assert vocabulary.unknown_id == 0
    with pytest.raises(DataError, match=r"\[MASK\]"):
        vocabulary.mask_id  # noqa: B018


@pytest.mark.parametrize("tokens", [[], ["a", ""], ["a", "a"]])
def test_unusable_lists_are_refused(tokens):
    with pytest.raises(DataError):
        Vocabulary(tokens)


def test_fingerprint_depends_on_tokens_and_order_only(write):
    vocabulary = Vocabulary([*SPECIAL_TOKENS, "a", "b"])
    assert Vocabulary.load(write(f"{SPECIAL}a\r\nb")).fingerprint == (
        vocabulary.fingerprint
    )
    assert Vocabulary([*SPECIAL_TOKENS, "b", "a"]).fingerprint != (
        vocabulary.fingerprint
    )
    assert len(vocabulary.fingerprint) == 64


def test_saving_replaces_the_file_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "new" / "vocab.txt"
    for tokens in (["a"], ["b"]):
        Vocabulary(tokens).save(path)
    assert path.read_bytes() == b"b\n"
    assert [entry.name for entry in path.parent.iterdir()] == ["vocab.txt"]


def test_saving_where_nothing_can_be_written_is_a_failure(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkError, match="cannot be written"):
        Vocabulary(["a"]).save(tmp_path / "file" / "vocab.txt")
