import pytest

from electra_tf.tokenization import code_points
from electra_tf.tokenization.code_points import code_point_table


@pytest.fixture(scope="module")
def table():
    return code_point_table(lowercase=True, strip_accents=True)


def _entry(table, character):
    code_point = ord(character)
    return int(table.entries[table.page_starts[code_point >> 8] + (code_point & 0xFF)])


@pytest.mark.parametrize(
    ("character", "kind", "result"),
    [
        ("a", code_points.WORD, "a"),
        ("Z", code_points.WORD, "z"),
        ("É", code_points.WORD, "e"),
        ("!", code_points.ISOLATED, "!"),
        ("東", code_points.ISOLATED, "東"),
    ],
)
def test_entry_tells_the_kind_and_the_difference(table, character, kind, result):
    entry = _entry(table, character)
    assert entry & code_points.KIND_MASK == kind
    assert chr(ord(character) + (entry >> code_points.PAYLOAD_SHIFT)) == result


@pytest.mark.parametrize(
    ("character", "kind"),
    [
        ("\t", code_points.SPACE),
        ("\u3000", code_points.SPACE),
        ("\0", code_points.DELETED),
        ("\u200b", code_points.DELETED),
        ("\u0301", code_points.STRIPPED),
    ],
)
def test_kind_of_characters_that_vanish(table, character, kind):
    assert _entry(table, character) & code_points.KIND_MASK == kind


def test_a_character_that_becomes_several_points_into_the_sequences(table):
    entry = _entry(table, "각")
    assert entry & code_points.KIND_MASK == code_points.SEQUENCE
    payload = entry >> code_points.PAYLOAD_SHIFT
    start = payload >> code_points.LENGTH_BITS
    length = payload & ((1 << code_points.LENGTH_BITS) - 1)
    sequence = table.sequences[start : start + length] >> code_points.PAYLOAD_SHIFT
    assert "".join(map(chr, sequence)) == "\u1100\u1161\u11a8"


@pytest.mark.parametrize(
    ("character", "flag"),
    [
        ("a", code_points.CASED),
        ("Σ", code_points.CASED),
        ("'", code_points.CASE_IGNORABLE),
        ("\u0301", code_points.CASE_IGNORABLE),
        ("1", 0),
        (" ", 0),
    ],
)
def test_flags_for_the_final_sigma(table, character, flag):
    both = code_points.CASED | code_points.CASE_IGNORABLE
    assert _entry(table, character) & both == flag


def test_table_is_small_enough_to_be_served(table):
    assert sum(array.nbytes for array in table) < 500_000
