"""The operations counted by formula are those in the graph of the step."""

import math

import pytest
import tensorflow as tf

from electra_tf.analysis.step_flops import joint_step_flops
from electra_tf.optimization.factory import make_optimizer
from electra_tf.pretraining.pretrainer import ElectraPretrainer
from tests.micro import SPECIAL, batch_of, micro_config


def _product_flops(operation) -> int:
    """Multiplications and additions of a matrix product in a graph, else 0."""
    left = operation.inputs[0].shape if operation.inputs else None
    result = operation.outputs[0].shape if operation.outputs else None
    if operation.type == "MatMul":
        inner = left[-2] if operation.get_attr("transpose_a") else left[-1]
    elif operation.type in ("BatchMatMul", "BatchMatMulV2"):
        inner = left[-2] if operation.get_attr("adj_x") else left[-1]
    elif operation.type == "Einsum":
        equation = operation.get_attr("equation").decode()
        inputs, output = equation.replace(" ", "").split("->")
        sizes = {}
        for letters, tensor in zip(inputs.split(","), operation.inputs, strict=True):
            sizes.update(zip(letters, tensor.shape, strict=True))
        inner = math.prod(sizes[letter] for letter in set(sizes) - set(output))
    else:
        return 0
    return 2 * result.num_elements() * inner


@pytest.mark.parametrize("embedding_dim", [8, 4])
def test_formula_counts_the_products_of_the_graph(embedding_dim):
    config = micro_config(
        model={"embedding_dim": embedding_dim, "num_layers": 2},
        generator={"hidden_dim_fraction": 1.0},
    )
    pretrainer = ElectraPretrainer(config, SPECIAL)
    pretrainer.compile(optimizer=make_optimizer(config.training))
    batch = {k: tf.constant(v) for k, v in batch_of([16, 16, 16, 16]).items()}
    graph = tf.function(pretrainer.train_step).get_concrete_function(batch).graph
    counted = sum(map(_product_flops, graph.get_operations()))
    assert joint_step_flops(config) == pytest.approx(counted, rel=0.02)
