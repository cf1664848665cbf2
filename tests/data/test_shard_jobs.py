from electra_tf.data.manifest import SplitCounts
from electra_tf.data.shard_jobs import HASH_RANGE, add_counts, document_hash


def test_the_hash_of_a_document_is_fixed_and_depends_on_its_lines_alone():
    # Another value would move documents between the splits of existing datasets.
    number = document_hash(["one short sentence"])
    assert round(number / HASH_RANGE, 6) == 0.938451
    assert document_hash(["one", "two"]) != document_hash(["onetwo"])
    assert document_hash(["a\u2028b"]) == document_hash(("a\u2028b",))


def test_hashes_are_spread_evenly():
    shares = [document_hash([f"text {i}"]) / HASH_RANGE for i in range(4000)]
    for threshold in (0.01, 0.25, 0.5):
        held_out = sum(share < threshold for share in shares) / len(shares)
        # Five standard errors of a binomial.
        assert abs(held_out - threshold) < 5 * (threshold / len(shares)) ** 0.5


def test_counts_are_added_field_by_field():
    total = add_counts([SplitCounts(lines=1), SplitCounts(lines=2, tokens=3)])
    assert total == SplitCounts(lines=3, tokens=3)
    assert add_counts([]) == SplitCounts()
