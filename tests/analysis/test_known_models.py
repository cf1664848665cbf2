import json

import pytest

from electra_tf.analysis.known_models import known_models
from tests.conftest import GOLDEN

NAMES = {"electra_400k": "electra_large_400k", "electra_1.75M": "electra_large_1750k"}


def test_every_model_of_the_paper_costs_what_the_original_counts():
    golden = json.loads((GOLDEN / "flops.json").read_text())
    expected = golden["named_model_training_flops"]
    actual = known_models()
    assert {NAMES.get(name, name) for name in expected} == set(actual)
    for name, flops in expected.items():
        found = actual[NAMES.get(name, name)].train_flops
        assert found == pytest.approx(flops, rel=1e-12), name
    # Encoders of 13.5, 109 and 334 million, as in electra-facts.
    assert actual["electra_small"].parameters == 13_548_800 - (256 * 256 + 256)
    assert actual["bert_large"].parameters == 335_141_888 - (1024 * 1024 + 1024)
