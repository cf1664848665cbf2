"""Learns a vocabulary from corpus files and writes it with its settings."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from absl import logging

from electra_tf.data.corpus import read_lines
from electra_tf.errors import DataError
from electra_tf.runtime.progress import progress
from electra_tf.tokenization.coverage import CoverageReport, coverage_report
from electra_tf.tokenization.settings import NormalizationSettings, save_settings
from electra_tf.tokenization.vocabulary import Vocabulary
from electra_tf.tokenization.vocabulary_learning import count_words, learn_from_counts

_BLOCK_BYTES = 1 << 20
_MAX_WARNINGS = 5


def build_vocabulary(
    files: Sequence[Path],
    output: str | os.PathLike,
    *,
    size: int,
    lowercase: bool = True,
    strip_accents: bool = True,
    min_frequency: int = 2,
    limit_bytes: int | None = None,
    layout: str = "auto",
    text_field: str = "text",
) -> tuple[Vocabulary, CoverageReport]:
    """Learns a vocabulary, showing progress, and writes `output` and its settings.

    Args:
        files: the corpus.
        output: path of the vocabulary file; the settings are written beside it.
        size: int, number of tokens wanted; there are fewer if the text has not so many.
        lowercase: bool, as in the tokenizer.
        strip_accents: likewise.
        min_frequency: int, how often a character or a pair of pieces has to occur.
        limit_bytes: int, stop after about so many bytes of text, or None.
        layout: as in `read_documents`.
        text_field: likewise.

    Returns:
        The vocabulary, and how well it fits the text.

    Raises:
        ConfigError: the size is too small for the special tokens and the alphabet.
        DataError: a file cannot be read, or there is no text in any.
        WorkError: a file could not be written.
    """
    rules = {"lowercase": lowercase, "strip_accents": strip_accents}
    words = count_words(_lines(files, limit_bytes, layout, text_field), **rules)
    if not words:
        raise DataError(f"corpus: no text in {len(files)} file(s)")
    logging.info("learning %d tokens from %d words", size, words.total())
    vocabulary = learn_from_counts(words, size, min_frequency=min_frequency)
    report = coverage_report(vocabulary, words)
    vocabulary.save(output)
    save_settings(output, NormalizationSettings(**rules), report.to_dict())
    if len(vocabulary) < size:
        logging.warning(
            "%d tokens instead of %d: the text has no more pieces that occur %d times",
            len(vocabulary),
            size,
            min_frequency,
        )
    return vocabulary, report


def _lines(
    files: Sequence[Path], limit_bytes: int | None, layout: str, text_field: str
) -> Iterator[str]:
    limit = limit_bytes or float("inf")
    total = min(sum(os.path.getsize(file) for file in files), limit)
    read = 0
    with progress("reading text", total / 1e6, "MB") as advance:
        for file in files:
            for line in read_lines(
                file, layout=layout, text_field=text_field, on_invalid=_report_invalid
            ):
                yield line
                blocks = read // _BLOCK_BYTES
                read += len(line.encode("utf-8")) + 1
                if read >= limit:
                    return
                if read // _BLOCK_BYTES > blocks:
                    advance(read / 1e6)


def _report_invalid(file: str, line: int, reason: str, excerpt: str) -> None:
    message = "%s, line %d: left out: %s in %s (shown for the first lines only)"
    logging.log_first_n(
        logging.WARNING, message, _MAX_WARNINGS, file, line, reason, excerpt
    )
