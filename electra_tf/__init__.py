"""ELECTRA for TensorFlow and Keras: pre-training, fine-tuning and serving.

The names below are the public API. They are loaded on first use, so that importing the
package, and `--help` of its commands, needs no TensorFlow. The commands are modules:
`python -m electra_tf.pretrain --help`.
"""

import importlib

__version__ = "0.1.0"

_HOME = {
    "ElectraAdam": "electra_tf.optimization.adam",
    "ElectraBackbone": "electra_tf.modeling.backbone",
    "ElectraMaskedLM": "electra_tf.modeling.masked_lm",
    "ElectraPretrainer": "electra_tf.pretraining.pretrainer",
    "ElectraReplacedTokenDetector": "electra_tf.modeling.replaced_token_detector",
    # Where it learns which presets are its own.
    "ElectraTokenizer": "electra_tf.modeling.presets",
    "MaskFiller": "electra_tf.analysis.fill_mask",
    "PretrainConfig": "electra_tf.config",
    "SpecialTokens": "electra_tf.pretraining.masking",
    "Vocabulary": "electra_tf.tokenization.vocabulary",
    "load_config": "electra_tf.config",
    "make_optimizer": "electra_tf.optimization.factory",
    "read_checkpoint": "electra_tf.checkpoints.reading",
    "write_checkpoint": "electra_tf.checkpoints.conversion",
}

__all__ = [
    "ElectraAdam",
    "ElectraBackbone",
    "ElectraMaskedLM",
    "ElectraPretrainer",
    "ElectraReplacedTokenDetector",
    "ElectraTokenizer",
    "MaskFiller",
    "PretrainConfig",
    "SpecialTokens",
    "Vocabulary",
    "load_config",
    "make_optimizer",
    "read_checkpoint",
    "write_checkpoint",
]


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'electra_tf' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})
