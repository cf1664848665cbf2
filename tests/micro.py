"""A model so small that tests can train it, its ids and its batches."""

import numpy as np

from electra_tf.config import PretrainConfig
from electra_tf.pretraining.masking import SpecialTokens

SPECIAL = SpecialTokens(pad_id=0, cls_id=2, sep_id=3, mask_id=4)
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
VOCABULARY += [f"w{number}" for number in range(45)]


def micro_config(**sections) -> PretrainConfig:
    """One layer of 8; `sections` change single values, as `training={"batch_size": 2}`."""
    values = {
        "model": {
            "vocabulary_size": len(VOCABULARY),
            "num_layers": 1,
            "hidden_dim": 8,
            "num_heads": 2,
            "intermediate_dim": 16,
            "embedding_dim": 8,
            "max_sequence_length": 16,
            "dropout": 0.0,
            "attention_dropout": 0.0,
        },
        "generator": {"hidden_dim_fraction": 0.5},
        "objective": {"mask_rate": 0.15},
        "training": {
            "num_train_steps": 20,
            "num_warmup_steps": 2,
            "batch_size": 4,
            "learning_rate": 1e-3,
            "log_every": 5,
            "checkpoint_every": 10,
        },
        "data": {"max_length": 16},
    }
    for section, changes in sections.items():
        if isinstance(changes, dict):
            values[section].update(changes)
        else:
            values[section] = changes
    return PretrainConfig.model_validate(values)


def batch_of(lengths, length=16, *, seed=0):
    """Rows of `[CLS] words [SEP]` with so many tokens each, then padding."""
    rng = np.random.default_rng(seed)
    token_ids = rng.integers(5, len(VOCABULARY), (len(lengths), length))
    padding_mask = np.arange(length) < np.asarray(lengths)[:, np.newaxis]
    token_ids[:, 0] = SPECIAL.cls_id
    token_ids[np.arange(len(lengths)), np.asarray(lengths) - 1] = SPECIAL.sep_id
    token_ids[~padding_mask] = SPECIAL.pad_id
    return {
        "token_ids": token_ids.astype("int32"),
        "segment_ids": np.zeros_like(token_ids, dtype="int32"),
        "padding_mask": padding_mask.astype("int32"),
    }
