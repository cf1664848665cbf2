"""The table of our variables against the models themselves."""

import dataclasses

import pytest

from electra_tf.checkpoints.model import Model, tensor_of
from electra_tf.checkpoints.presets import model_of, network_of
from electra_tf.checkpoints.variables import (
    bind_shapes,
    count_layers,
    variable_shapes,
)
from electra_tf.errors import DataError
from electra_tf.modeling.backbone import ElectraBackbone
from electra_tf.modeling.masked_lm import ElectraMaskedLM
from electra_tf.modeling.question_answerer import ElectraQuestionAnswerer
from electra_tf.modeling.replaced_token_detector import ElectraReplacedTokenDetector
from electra_tf.modeling.text_classifier import ElectraTextClassifier
from electra_tf.modeling.token_classifier import ElectraTokenClassifier

SIZE = {
    "vocabulary_size": 50,
    "num_layers": 2,
    "num_heads": 2,
    "hidden_dim": 8,
    "intermediate_dim": 12,
    "max_sequence_length": 16,
}
LETTERS = {"V": 50, "H": 8, "I": 12, "P": 16, "S": 2}


@pytest.mark.parametrize("embedding_dim", [4, 8])
@pytest.mark.parametrize(
    ("architecture", "task"),
    [
        ("encoder", None),
        ("masked_lm", ElectraMaskedLM),
        ("replaced_token_detector", ElectraReplacedTokenDetector),
        ("text_classifier", lambda b: ElectraTextClassifier(b, 3)),
        (
            "deep_text_classifier",
            lambda b: ElectraTextClassifier(b, 3, has_hidden_layer=True),
        ),
        ("token_classifier", lambda b: ElectraTokenClassifier(b, 3)),
        ("question_answerer", ElectraQuestionAnswerer),
        (
            "answerability_question_answerer",
            lambda b: ElectraQuestionAnswerer(b, has_answerability=True),
        ),
    ],
)
def test_the_table_is_what_the_models_have(architecture, task, embedding_dim):
    backbone = ElectraBackbone(**SIZE, embedding_dim=embedding_dim)
    model = model_of(task(backbone) if task else backbone)
    assert model.architecture == architecture
    shapes = {name: tensor.shape for name, tensor in model.tensors.items()}
    expected = variable_shapes(
        architecture, num_layers=2, has_projection=embedding_dim != 8
    )
    assert expected.keys() == shapes.keys()
    assert count_layers(shapes) == 2
    letters = bind_shapes(expected, shapes, {}, {name: name for name in expected})
    classes = {"C": 3} if "classifier" in architecture else {}
    assert letters == {**LETTERS, **classes, "E": embedding_dim}


def test_a_contradiction_names_the_variable_both_shapes_and_the_setting():
    names = {"encoder/layer_0/query/kernel": "H H"}
    with pytest.raises(
        DataError, match=r"theirs has the shape \[8, 4\], \[8, 8\] .*model.hidden_dim"
    ):
        bind_shapes(
            names, dict.fromkeys(names, (8, 4)), {}, dict.fromkeys(names, "theirs")
        )


def test_a_model_with_other_variables_cannot_be_built():
    model = model_of(ElectraBackbone(**SIZE))
    tensors = dict(model.tensors)
    tensors["encoder/extra"] = tensor_of(tensors.popitem()[1].read())
    broken = dataclasses.replace(model, tensors=tensors)
    assert isinstance(broken, Model)
    with pytest.raises(ValueError, match="encoder/extra"):
        network_of(broken)
