import numpy as np
import tensorflow as tf

from electra_tf.pretraining.losses import global_mean
from electra_tf.pretraining.metrics import detection_metrics


def test_padding_earns_no_points():  # A06
    real = np.zeros((4, 128), "int32")
    real[:, :8] = 1
    labels = np.zeros((4, 128), "int32")
    labels[:, 3] = 1
    logits = tf.fill([4, 128], -5.0)
    terms = detection_metrics(logits, tf.constant(labels), tf.constant(real))
    values = {name: float(global_mean(term)) for name, term in terms.items()}
    assert values["discriminator_accuracy"] == 0.875
    assert values["discriminator_recall"] == 0.0
    assert 1.0 - values["replaced_share"] == 0.875
