"""The discriminator as a model of its own: scores every token of a text."""

import keras
import keras_hub

from electra_tf.modeling.backbone import ElectraBackbone, token_inputs
from electra_tf.modeling.heads import ReplacedTokenHead
from electra_tf.modeling.presets import TrainedHead


@keras.saving.register_keras_serializable(package="electra_tf")
class ElectraReplacedTokenDetector(TrainedHead, keras_hub.models.Task):
    """ELECTRA's discriminator with the head that it was pre-trained with.

    Inputs are those of the backbone; the output is float32 `[B, T]` logits, positive
    where a token looks replaced.

    Args:
        backbone: `ElectraBackbone`.
        preprocessor: None, or a layer that makes the inputs from text.
    """

    backbone_cls = ElectraBackbone
    advice = "Replaced tokens are scored by the discriminator's preset."

    def __init__(self, backbone, preprocessor=None, **kwargs):
        head = ReplacedTokenHead(
            backbone.size.hidden_dim,
            backbone.size.initializer_range,
            dtype=backbone.dtype_policy,
            name="head",
        )
        head.build()
        inputs = token_inputs()
        super().__init__(inputs=inputs, outputs=head(backbone(inputs)), **kwargs)
        self.backbone = backbone
        self.preprocessor = preprocessor
        self.head = head
