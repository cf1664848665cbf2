"""`report.html`: the story of a run in one file that opens without a network."""

import base64
import importlib.resources
import io
import pathlib
from collections.abc import Sequence

import jinja2
import matplotlib.figure

from electra_tf.config import PretrainConfig
from electra_tf.pretraining.evaluation import Heldout
from electra_tf.pretraining.heldout_summary import rows
from electra_tf.runtime.files import write_atomically
from electra_tf.training.health import base_rate_entropy
from electra_tf.training.loop import initial_losses

REPORT_FILE = "report.html"


def write_report(
    path: pathlib.Path,
    *,
    config: PretrainConfig,
    records: Sequence[dict],
    heldout: Heldout,
    tokens: Sequence[str],
    facts: dict[str, str],
    phases: Sequence[dict],
) -> None:
    """Writes the report.

    Args:
        path: file to write.
        config: resolved configuration.
        records: of `metrics.jsonl`.
        heldout: measures and examples at the end.
        tokens: the vocabulary, by id.
        facts: title → value, what else a reader wants to know.
        phases: which sequence length was used from which step on.
    """
    template = importlib.resources.files("electra_tf.training") / "report.html.jinja"
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    page = environment.from_string(template.read_text(encoding="utf-8")).render(
        facts=facts,
        rows=rows(heldout.measures),
        bands=heldout.bands,
        curves=_curves(records, config) if records else None,
        sentences=[_sentence(view, tokens) for view in heldout.examples],
        phases=phases,
        config=config.to_yaml(),
    )
    write_atomically(path, page.encode("utf-8"))


def _sentence(view, tokens):
    columns = (view.original_ids, view.token_ids, view.replaced_probability)
    return [
        {
            "token": tokens[token],
            "original": tokens[original] if original != token else None,
            "probability": probability,
        }
        for original, token, probability in zip(*columns, strict=True)
    ]


def _curves(records, config):
    """Four curves as a PNG in base64."""
    figure = matplotlib.figure.Figure(figsize=(11, 6.5), layout="constrained")
    (generator, discriminator), (accuracy, rate) = figure.subplots(2, 2)
    start = initial_losses(config.model.vocabulary_size)
    _plot(generator, records, "generator_loss", "generator loss (nats)")
    generator.axhline(start["generator_loss"], **_BASELINE, label="untrained: ln V")
    _plot(discriminator, records, "discriminator_loss", "discriminator loss (nats)")
    shares = [
        (r["step"], r["replaced_share"]) for r in records if "replaced_share" in r
    ]
    if shares:
        steps, values = zip(*shares, strict=True)
        entropy = [base_rate_entropy(value or 0.0) for value in values]
        label = "plateau: entropy of the base rate"
        discriminator.plot(steps, entropy, **_BASELINE, label=label)
    _plot(accuracy, records, "generator_accuracy", "generator accuracy")
    _plot(rate, records, "learning_rate", "learning rate")
    for axes in (generator, discriminator, accuracy, rate):
        axes.set_xlabel("step")
        axes.grid(alpha=0.3)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(frameon=False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


_BASELINE = {"color": "0.5", "linestyle": "--", "linewidth": 1}


def _plot(axes, records, name, title):
    points = [(r["step"], r[name]) for r in records if r.get(name) is not None]
    axes.set_title(title)
    if points:
        axes.plot(*zip(*points, strict=True), label="measured")
