"""Golden variants of the official implementation as our models and batches."""

import functools
import json
import pathlib

import numpy as np
import tensorflow as tf

from electra_tf.config import PretrainConfig
from electra_tf.pretraining.masking import Masked, SpecialTokens
from electra_tf.pretraining.pretrainer import ElectraPretrainer
from electra_tf.pretraining.sampling import Corrupted

MODEL = pathlib.Path(__file__).parent / "golden" / "model"
INDEX = json.loads((MODEL / "index.json").read_text())
VARIANTS = sorted(INDEX)

_PARTS = (
    ("/query/", "/attention/self/query/"),
    ("/key/", "/attention/self/key/"),
    ("/value/", "/attention/self/value/"),
    ("attention_output/", "attention/output/dense/"),
    ("attention_layer_norm", "attention/output/LayerNorm"),
    ("output_layer_norm", "output/LayerNorm"),
    ("layer_norm", "LayerNorm"),
    ("feedforward_output/", "output/dense/"),
    ("/intermediate/", "/intermediate/dense/"),
    ("segment_embeddings", "token_type_embeddings"),
    ("embeddings_projection", "embeddings_project"),
    ("/layer_", "/encoder/layer_"),
)


def official_name(path: str, variant: str) -> str:
    """Name in the original of the variable at `path`."""
    two_towers = INDEX[variant]["pretraining"]["two_tower_generator"]
    prefixes = {
        "discriminator/encoder/": "electra/",
        "discriminator/head/dense/": "discriminator_predictions/dense/",
        "discriminator/head/prediction/": "discriminator_predictions/dense_1/",
        "generator/head/": f"{'cloze' if two_towers else 'generator'}_predictions/",
        "generator/encoder/": "electra/" if variant == "bert_mlm" else "generator/",
        "generator/left_to_right/": "generator_ltr/",
        "generator/right_to_left/": "generator_rtl/",
    }
    for ours, theirs in prefixes.items():
        if path.startswith(ours):
            path = theirs + path.removeprefix(ours)
            break
    for ours, theirs in _PARTS:
        path = path.replace(ours, theirs)
    return path


@functools.cache
def arrays(variant: str) -> dict[str, np.ndarray]:
    with np.load(MODEL / f"{variant}.npz", allow_pickle=False) as data:
        return dict(data)


def config(variant: str) -> PretrainConfig:
    """The variant's options in our names; dropout is off."""
    options, size = INDEX[variant]["pretraining"], INDEX[variant]["discriminator"]
    size = size or INDEX[variant]["generator"]
    generator = INDEX[variant]["generator"] or {}
    return PretrainConfig.model_validate(
        {
            "model": {
                "vocabulary_size": 200,
                "num_layers": size["num_hidden_layers"],
                "hidden_dim": size["hidden_size"],
                "num_heads": size["num_attention_heads"],
                "intermediate_dim": size["intermediate_size"],
                "embedding_dim": options["embedding_size"],
                "max_sequence_length": size["max_position_embeddings"],
                "dropout": 0.0,
                "attention_dropout": 0.0,
            },
            "generator": {
                "kind": _kind(options),
                "tying": _tying(options),
                "hidden_dim_fraction": options["generator_hidden_size"],
                "num_layers_fraction": options["generator_layers"],
                "num_heads": generator.get("num_attention_heads"),
            },
            "objective": {
                "name": _objective(options),
                "mask_rate": options["mask_prob"],
                "generator_weight": options["gen_weight"],
                "discriminator_weight": options["disc_weight"],
                "temperature": options["temperature"],
                "disallow_correct": options["disallow_correct"],
                "mask_with_replacement": True,
            },
            "training": {
                "num_train_steps": 20,
                "num_warmup_steps": 0,
                "batch_size": 4,
                "learning_rate": 1e-3,
            },
            "data": {"max_length": options["max_seq_length"]},
        }
    )


def _kind(options):
    if options["two_tower_generator"]:
        return "two_tower"
    return "uniform" if options["uniform_generator"] else "masked_lm"


def _tying(options):
    if not options["untied_generator"]:
        return "all"
    return "none" if options["untied_generator_embeddings"] else "embeddings"


def _objective(options):
    if options["electric_objective"]:
        return "electric"
    return "replaced_token_detection" if options["electra_objective"] else "masked_lm"


def special_tokens(variant: str) -> SpecialTokens:
    ids = INDEX[variant]["special_ids"]
    return SpecialTokens(
        pad_id=ids["[PAD]"],
        cls_id=ids["[CLS]"],
        sep_id=ids["[SEP]"],
        mask_id=ids["[MASK]"],
    )


def pretrainer(variant: str) -> ElectraPretrainer:
    """The variant with the official weights."""
    model = ElectraPretrainer(config(variant), special_tokens(variant))
    values = arrays(variant)
    names = {official_name(v.path, variant) for v in model.trainable_variables}
    assert names == set(INDEX[variant]["variables"])
    for variable in model.trainable_variables:
        variable.assign(values[f"weight/{official_name(variable.path, variant)}"])
    return model


def batch(variant: str) -> dict[str, tf.Tensor]:
    values = arrays(variant)
    return {
        "token_ids": tf.constant(values["input_ids"]),
        "segment_ids": tf.constant(values["segment_ids"]),
        "padding_mask": tf.constant(values["input_mask"]),
    }


def masked(variant: str) -> Masked:
    values = arrays(variant)
    return Masked(
        token_ids=tf.constant(values["masked/input_ids"]),
        mask_positions=tf.constant(values["masked/positions"]),
        mask_ids=tf.constant(values["masked/ids"]),
        mask_weights=tf.constant(values["masked/weights"]),
    )


def corrupted(variant: str) -> Corrupted:
    """The official corruption, with its averaged ids where a position came twice."""
    values = arrays(variant)
    labels = tf.constant(values["fake/labels"])
    return Corrupted(
        token_ids=tf.constant(values["fake/input_ids"]), labels=labels, resampled=labels
    )
