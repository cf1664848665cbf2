"""The printed table accounts for every tensor, and stays short."""

import io

from rich.console import Console

from electra_tf.checkpoints.assembly import Entry
from electra_tf.checkpoints.table import print_entries, print_verifications
from electra_tf.checkpoints.verification import Verification


def _printed(function, values):
    console = Console(file=io.StringIO(), soft_wrap=True)
    function(values, console)
    return console.file.getvalue().splitlines()


def test_layers_share_a_line_and_so_do_equal_reasons():
    kernel = "electra/encoder/layer_{}/output/dense/kernel"
    target = "discriminator/encoder/layer_{}/feedforward_output/kernel"
    entries = [
        *(Entry(kernel.format(i), (8, 2), "used", target.format(i)) for i in range(12)),
        Entry("global_step", (), "skipped", reason="counter"),
        *(Entry(f"v/adam_{x}", (3,), "skipped", reason="slot") for x in "mv"),
        Entry(None, (4,), "fresh", "discriminator/head/dense/bias", "--allow_missing"),
    ]
    layers, counter, slots, fresh, summary = _printed(print_entries, entries)
    words = f"{kernel.format('*')} 8 x 2 used x 12 {target.format('*')}"
    assert layers.split() == words.split()
    assert counter.split() == ["global_step", "skipped", "counter"]
    assert "v/adam_m and 1 more" in slots
    assert fresh.startswith("- ")
    assert fresh.endswith("head/dense/bias (--allow_missing)")
    assert summary == "16 tensors: 12 used, 3 skipped, 1 fresh"


def test_differences_are_printed_with_what_to_know():
    results = [Verification("bits", 0.0), Verification("states", 1.234e-3, "by tanh")]
    assert _printed(print_verifications, results) == [
        "verified: bits",
        "verified: states: at most 0.0012 off",
        "  by tanh",
    ]
