"""A discriminator fine-tuned to find the answer to a question in a text."""

import keras
import keras_hub

from electra_tf.modeling.backbone import ElectraBackbone, token_inputs
from electra_tf.modeling.heads import AnswerHead


@keras.saving.register_keras_serializable(package="electra_tf")
class ElectraQuestionAnswerer(keras_hub.models.Task):
    """ELECTRA with independent scores for where an answer starts and ends.

    Inputs are those of the backbone; the output is a dict of float32 `start_logits` and
    `end_logits`, `[B, T]`, and with `has_answerability` of `answerable_logits` `[B]`,
    positive where the question has no answer.

    Args:
        backbone: `ElectraBackbone`.
        preprocessor: None, or a layer that makes the inputs from text.
        has_answerability: bool, score from `[CLS]` whether there is an answer.
    """

    backbone_cls = ElectraBackbone

    def __init__(self, backbone, preprocessor=None, has_answerability=False, **kwargs):
        size = backbone.size
        head = AnswerHead(
            size.hidden_dim,
            has_answerability,
            size.initializer_range,
            dtype=backbone.dtype_policy,
            name="head",
        )
        head.build()
        inputs = token_inputs()
        super().__init__(inputs=inputs, outputs=head(backbone(inputs)), **kwargs)
        self.backbone = backbone
        self.preprocessor = preprocessor
        self.head = head
        self.has_answerability = has_answerability

    def get_config(self):
        """Constructor arguments."""
        return {**super().get_config(), "has_answerability": self.has_answerability}
