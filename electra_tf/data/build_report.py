"""What is worth knowing about a dataset that was just built, in sentences."""

from electra_tf.data.manifest import DatasetManifest, SplitCounts

_MAX_UNKNOWN_SHARE = 0.05
_MIN_FILLED_SHARE = 0.5
_MAX_DISCARDED_SHARE = 0.15
_MAX_HELDOUT_SHARE = 0.2


def find_warnings(
    train: SplitCounts,
    heldout: SplitCounts,
    *,
    max_length: int,
    heldout_fraction: float,
    split_long_lines: bool,
    cut_documents: int,
    quarantined_lines: int,
) -> list[str]:
    """Looks for signs that the corpus is not laid out as the settings say.

    Args:
        train: counts of the training split.
        heldout: counts of the held-out split.
        max_length: int, tokens of an example.
        heldout_fraction: float, what was asked for.
        split_long_lines: bool, likewise.
        cut_documents: int, parts of documents so long that they were read in parts.
        quarantined_lines: int.

    Returns:
        Sentences, each with a remedy.
    """
    warnings = []
    filled = train.tokens / max(1, train.examples * max_length)
    mean = train.text_tokens / max(1, train.documents)
    if filled < _MIN_FILLED_SHARE:
        warnings.append(
            f"only {filled:.0%} of the examples' positions hold a token: {train.documents} "
            f"documents of {mean:.0f} tokens on average for examples of {max_length}. If "
            "blank lines do not separate documents, set layout to file; else lower "
            "max_length"
        )
    discarded = 1 - train.kept_text_tokens / max(1, train.text_tokens)
    if discarded > _MAX_DISCARDED_SHARE:
        length = train.text_tokens / max(1, train.lines)
        remedy = "" if split_long_lines else "turn on split_long_lines, "
        warnings.append(
            f"{discarded:.0%} of the text was discarded, because lines ({length:.0f} "
            f"tokens on average) overflow examples of {max_length}: {remedy}put a "
            "sentence or two on each line, or raise max_length"
        )
    unknown = train.unknown_tokens / max(1, train.text_tokens)
    if unknown > _MAX_UNKNOWN_SHARE:
        warnings.append(
            f"{unknown:.1%} of the tokens are [UNK]: the vocabulary does not fit the "
            "text; learn one with build_vocab, and check lowercase"
        )
    if cut_documents:
        warnings.append(
            f"very long documents were cut {cut_documents} times, and their parts count "
            "as documents; separate documents by blank lines if they are several"
        )
    if quarantined_lines:
        warnings.append(
            f"{quarantined_lines} lines could not be read and were left out; "
            "quarantine.jsonl lists each with its file and line"
        )
    return warnings + _heldout_warnings(train, heldout, heldout_fraction)


def summarize(manifest: DatasetManifest) -> str:
    """Returns a few lines with the numbers that matter."""
    lines = []
    for name, counts in (("train", manifest.train), ("held out", manifest.heldout)):
        filled = counts.tokens / max(1, counts.examples * manifest.max_length)
        lines.append(
            f"{name:<11} {counts.examples:,} examples of {manifest.max_length} "
            f"({filled:.1%} filled) from {counts.documents:,} documents, "
            f"{counts.lines:,} lines"
        )
    train = manifest.train
    kept = train.kept_text_tokens / max(1, train.text_tokens)
    unknown = train.unknown_tokens / max(1, train.text_tokens)
    mean = train.text_tokens / max(1, train.documents)
    lines.append(
        f"text        {train.text_tokens:,} tokens, {kept:.1%} of them kept, "
        f"{unknown:.2%} [UNK]; {mean:,.0f} a document"
    )
    return "\n".join(lines)


def _heldout_warnings(train, heldout, heldout_fraction):
    if not heldout_fraction:
        return []
    if not heldout.examples:
        return [
            "nothing was held out: there is only one document, or copies of one; if it "
            "is several, separate them by blank lines"
        ]
    share = heldout.examples / (train.examples + heldout.examples)
    if share > max(_MAX_HELDOUT_SHARE, 2 * heldout_fraction):
        return [
            f"{share:.0%} of the examples are held out, because whole documents are and "
            f"there are only {train.documents + heldout.documents}"
        ]
    return []
