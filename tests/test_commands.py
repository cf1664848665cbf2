"""The flags of every command: scripts rely on them, so a change is a decision."""

import re

import pytest

from tests.command import run_command

FLAGS = {
    "pretrain": {
        *("config", "corpus", "data", "vocab", "model_dir", "resume"),
        *("init_discriminator", "init_generator"),
        *("set", "seed", "strategy", "precision", "logical_cpus"),
    },
    "evaluate": {
        *("model", "data", "mask_rate", "batch_size", "num_batches", "output"),
        "seed",
    },
    "build_vocab": {
        *("corpus", "size", "output", "lowercase", "strip_accents"),
        *("min_frequency", "limit_bytes", "text_field", "overwrite"),
    },
    "build_dataset": {
        *("corpus", "vocab", "output", "max_length", "lowercase", "strip_accents"),
        *("layout", "blanks_separate_docs", "text_field", "split_long_lines"),
        *("heldout_fraction", "num_shards", "num_workers", "invalid_text"),
        *("overwrite", "seed"),
    },
    "convert": {
        *("source", "to", "output", "tower", "config", "num_heads", "vocab"),
        *("lowercase", "strip_accents", "allow_missing", "overwrite", "set", "task"),
    },
    "flops": {"config", "all", "format", "set"},
    "benchmark": {"config", "repeats", "json", "set", "precision"},
    "doctor": set(),
}


@pytest.mark.parametrize("command", FLAGS)
def test_flags_are_these(command, tmp_path):
    shown = run_command(command, "--help", cwd=tmp_path).stdout
    own = shown.partition("Try --helpfull")[0]
    found = set(re.findall(r"^ +-?-?,?--(?:\[no\])?(\w+):", own, re.MULTILINE))
    assert found == FLAGS[command]
