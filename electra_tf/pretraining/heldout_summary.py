"""What a run achieved, for people at a terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from electra_tf.pretraining.evaluation import Heldout, TokenView

# (measure, its baseline, title, what the baseline is)
_ROWS = (
    (
        "generator_accuracy",
        "unigram_accuracy",
        "generator: masked tokens right",
        "the commonest token",
    ),
    (
        "discriminator_accuracy",
        "majority_accuracy",
        "discriminator: tokens right",
        "all called original",
    ),
)


def rows(measures: dict[str, float]) -> list[tuple[str, str, str]]:
    """Title, value and baseline of each held-out measure, as text."""
    found = [
        (title, f"{measures[name]:.1%}", f"{measures[baseline]:.1%}  {explanation}")
        for name, baseline, title, explanation in _ROWS
        if name in measures
    ]
    if measures.get("discriminator_auc") is not None:
        auc = f"{measures['discriminator_auc']:.3f}"
        title = "discriminator: AUC, ordinary tokens"
        found.append((title, auc, "0.500  guessing"))
    loss = f"{measures['generator_loss']:.3f}"
    perplexity = f"perplexity {measures['generator_perplexity']:,.1f}"
    found.append(("generator: loss in nats", loss, perplexity))
    return found


def print_summary(
    heldout: Heldout, tokens: Sequence[str], console: Console | None = None
) -> None:
    """Prints the measures beside their baselines, and sentences coloured by suspicion.

    Args:
        heldout: `Heldout`.
        tokens: the vocabulary, by id.
        console: where to print; standard output by default.
    """
    console = console or Console(width=None, soft_wrap=True, highlight=False)
    table = Table(title="On held-out text", title_justify="left", box=None)
    for heading in ("", "measured", "baseline"):
        table.add_column(heading)
    for row in rows(heldout.measures):
        table.add_row(*row)
    console.print(table)
    if heldout.examples:
        console.print(
            "\nHow likely is each token a replacement? "
            "(replaced tokens as original→replacement, with the probability)"
        )
    for view in heldout.examples:
        console.print(coloured(view, tokens))


def coloured(view: TokenView, tokens: Sequence[str]) -> Text:
    """The sequence with a background from none (original) to red (replaced)."""
    text = Text("  ")
    columns = (view.original_ids, view.token_ids, view.replaced_probability)
    for original, token, probability in zip(*columns, strict=True):
        shown = tokens[token]
        if original != token:
            shown = f"{tokens[original]}→{shown}({probability:.2f})"
        elif probability > 0.5:
            shown = f"{shown}({probability:.2f})"
        strength = round(255 * (1.0 - probability))
        style = f"black on rgb(255,{strength},{strength})" if probability > 0.1 else ""
        text.append(shown, style=style)
        text.append(" ")
    return text
