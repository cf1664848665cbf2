"""A discriminator fine-tuned to label every token."""

import keras
import keras_hub

from electra_tf.modeling.backbone import ElectraBackbone, token_inputs
from electra_tf.modeling.heads import ClassificationHead


@keras.saving.register_keras_serializable(package="electra_tf")
class ElectraTokenClassifier(keras_hub.models.Task):
    """ELECTRA with a classifier on the state of every token.

    Inputs are those of the backbone; the output is float32 `[B, T, C]` logits.

    Args:
        backbone: `ElectraBackbone`.
        num_classes: int, `C`.
        preprocessor: None, or a layer that makes the inputs from text.
        dropout: float in [0, 1), of the head.
        class_names: strings, by class, or None.
    """

    backbone_cls = ElectraBackbone

    def __init__(
        self,
        backbone,
        num_classes,
        preprocessor=None,
        dropout=0.1,
        class_names=None,
        **kwargs,
    ):
        size = backbone.size
        head = ClassificationHead(
            size.hidden_dim,
            num_classes,
            dropout=dropout,
            initializer_range=size.initializer_range,
            dtype=backbone.dtype_policy,
            name="head",
        )
        head.build()
        inputs = token_inputs()
        super().__init__(inputs=inputs, outputs=head(backbone(inputs)), **kwargs)
        self.backbone = backbone
        self.preprocessor = preprocessor
        self.head = head
        self.num_classes = num_classes
        self.dropout = dropout
        self.class_names = class_names and list(class_names)

    def get_config(self):
        """Constructor arguments."""
        return {
            **super().get_config(),
            "num_classes": self.num_classes,
            "dropout": self.dropout,
            "class_names": self.class_names,
        }
