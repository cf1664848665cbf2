"""What the report shows, and that no text can break it."""

import base64
import re

import pytest

from electra_tf.pretraining.evaluation import Heldout, TokenView
from electra_tf.training.report import write_report
from tests.micro import micro_config

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "<script>", "&amp;", "word"]
GENERATOR = {
    "generator_accuracy": 0.25,
    "unigram_accuracy": 0.0625,
    "generator_loss": 3.5,
    "generator_perplexity": 33.1,
}
DISCRIMINATOR = {
    "discriminator_accuracy": 0.9,
    "majority_accuracy": 0.875,
    "discriminator_auc": 0.8125,
}
BAND = {"distinct_tokens": 3, "generator_accuracy": None, "generator_loss": None}


@pytest.fixture
def page_of(tmp_path):
    def page_of(measures, *, examples=(), records=()):
        path = tmp_path / "report.html"
        write_report(
            path,
            config=micro_config(),
            records=records,
            heldout=Heldout(measures, [BAND], list(examples)),
            tokens=TOKENS,
            facts={"steps": "20"},
            phases=[{"first_step": 0, "max_length": 16}],
        )
        return path.read_text(encoding="utf-8")

    return page_of


def test_measures_stand_beside_their_baselines(page_of):
    page = page_of(GENERATOR | DISCRIMINATOR)
    for value in ("25.0%", "6.2%", "90.0%", "87.5%", "0.812", "3.500"):
        assert value in page, value


def test_a_generator_alone_has_a_report(page_of):
    page = page_of(GENERATOR)
    assert "25.0%" in page
    assert "discriminator: AUC" not in page


def test_tokens_are_shown_as_they_are(page_of):
    view = TokenView([2, 7, 3], [2, 5, 3], [0.01, 0.75, 0.02])
    page = page_of(GENERATOR | DISCRIMINATOR, examples=[view])
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "<del>word</del>" in page
    assert "0.750" in page


def test_curves_are_a_picture_inside_the_page(page_of):
    record = {"generator_loss": 4.0, "discriminator_loss": None, "learning_rate": 1e-3}
    records = [{"step": step, **record} for step in (5, 10)]
    page = page_of(GENERATOR, records=records)
    [picture] = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
    assert base64.b64decode(picture, validate=True).startswith(b"\x89PNG")
    assert "base64" not in page_of(GENERATOR)
