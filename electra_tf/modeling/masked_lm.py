"""The generator as a model of its own: a masked language model."""

import keras
import keras_hub

from electra_tf.modeling.backbone import ElectraBackbone, token_inputs
from electra_tf.modeling.heads import MaskedLanguageModelHead
from electra_tf.modeling.presets import TrainedHead
from electra_tf.modeling.towers import gather_positions


class _MaskedLogits(keras.layers.Layer):
    """Logits at given positions; owns the head, borrows the backbone's word table."""

    def __init__(self, embeddings, head, **kwargs):
        super().__init__(autocast=False, **kwargs)
        self.head = head
        # A tuple, so that Keras does not take the embeddings for a part of this layer.
        self._borrowed = (lambda: embeddings,)

    def build(self, *_):
        self.head.build()
        self.built = True

    def call(self, states, mask_positions):
        table = self._borrowed[0]().word_embeddings.value
        logits = self.head(gather_positions(states, mask_positions), table)
        shape = keras.ops.shape(mask_positions)
        return keras.ops.reshape(logits, (*shape, self.head.vocabulary_size))

    def compute_output_spec(self, states, mask_positions):
        shape = (*mask_positions.shape, self.head.vocabulary_size)
        return keras.KerasTensor(shape, dtype="float32")


@keras.saving.register_keras_serializable(package="electra_tf")
class ElectraMaskedLM(TrainedHead, keras_hub.models.MaskedLM):
    """ELECTRA's generator: predicts the tokens at `mask_positions`.

    Inputs are those of the backbone and `mask_positions` int32 `[B, N]`; the output is
    float32 `[B, N, V]` logits. The discriminator has no such head: `from_preset` on a
    discriminator's directory is refused.

    Args:
        backbone: `ElectraBackbone`.
        preprocessor: None, or a layer that makes the inputs from text.
    """

    backbone_cls = ElectraBackbone
    advice = "Fill in masks with the generator's preset, beside the discriminator's."

    def __init__(self, backbone, preprocessor=None, **kwargs):
        size = backbone.size
        head = MaskedLanguageModelHead(
            size.hidden_dim,
            size.embedding_dim,
            size.vocabulary_size,
            size.initializer_range,
            dtype=backbone.dtype_policy,
            name="head",
        )
        positions = keras.Input((None,), dtype="int32", name="mask_positions")
        inputs = {**token_inputs(), "mask_positions": positions}
        states = backbone({name: inputs[name] for name in token_inputs()})
        layer = _MaskedLogits(
            backbone.encoder.embeddings,
            head,
            name="masked_logits",
            dtype=head.dtype_policy,
        )
        layer.build()
        super().__init__(inputs=inputs, outputs=layer(states, positions), **kwargs)
        self.backbone = backbone
        self.preprocessor = preprocessor
        self.head = head
