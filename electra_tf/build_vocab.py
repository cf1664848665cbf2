r"""Learns a WordPiece vocabulary from text.

Reads a corpus and writes `vocab.txt` (special tokens first, one token a line) and, beside
it, `vocab.json`: how the text was normalised, which later commands go by, and a report
of how well the vocabulary fits the text.

Examples:
  python -m electra_tf.build_vocab --corpus=corpus.txt --size=8000 --output=vocab.txt
  python -m electra_tf.build_vocab --corpus='wiki/*.jsonl.gz' --size=30522 \
      --output=vocab.txt --nostrip_accents --limit_bytes=1000000000
"""

import os
import sys

from absl import flags, logging

from electra_tf import cli
from electra_tf.errors import DataError

_BLOCK_BYTES = 1 << 20
_MAX_WARNINGS = 5

_CORPUS = flags.DEFINE_string(
    "corpus", None, "File, directory or glob (quoted) of text or JSON lines."
)
_SIZE = flags.DEFINE_integer(
    "size", 30522, "Number of tokens; fewer when the text has not so many.", 1
)
_OUTPUT = flags.DEFINE_string("output", "vocab.txt", "File to write.")
_LOWERCASE = flags.DEFINE_bool("lowercase", True, "Lower-case the text.")
_STRIP_ACCENTS = flags.DEFINE_bool(
    "strip_accents", True, "Remove accents; matters only with --lowercase."
)
_MIN_FREQUENCY = flags.DEFINE_integer(
    "min_frequency", 2, "How often a character or a pair of pieces has to occur.", 1
)
_LIMIT_BYTES = flags.DEFINE_integer(
    "limit_bytes",
    None,
    "Stop after about so many bytes of text; default: all of it.",
    1,
)
_TEXT_FIELD = flags.DEFINE_string(
    "text_field", "text", "Key of the text in JSON lines."
)
_OVERWRITE = flags.DEFINE_bool("overwrite", False, "Replace --output if it is there.")


def main() -> None:
    """Runs the command."""
    from electra_tf.tokenization import settings
    from electra_tf.tokenization.coverage import coverage_report
    from electra_tf.tokenization.vocabulary_learning import (
        count_words,
        learn_from_counts,
    )

    if not _CORPUS.value:
        raise DataError("--corpus is missing: name a file, directory or quoted glob")
    output = _OUTPUT.value
    if os.path.isdir(output):
        raise DataError(
            f"{output} is a directory; name a file, such as vocab.txt in it"
        )
    if os.path.exists(output) and not _OVERWRITE.value:
        raise DataError(f"{output} is there already; add --overwrite to replace it")
    rules = {"lowercase": _LOWERCASE.value, "strip_accents": _STRIP_ACCENTS.value}
    words = count_words(_lines(), **rules)
    if not words:
        raise DataError(f"{_CORPUS.value}: no text in any file")
    logging.info("learning %d tokens from %d words", _SIZE.value, words.total())
    vocabulary = learn_from_counts(
        words, _SIZE.value, min_frequency=_MIN_FREQUENCY.value
    )
    report = coverage_report(vocabulary, words)
    vocabulary.save(output)
    settings.save_settings(
        output, settings.NormalizationSettings(**rules), report.to_dict()
    )
    if len(vocabulary) < _SIZE.value:
        logging.warning(
            "%d tokens instead of %d: the text has no more pieces that occur %d times",
            len(vocabulary),
            _SIZE.value,
            _MIN_FREQUENCY.value,
        )
    sys.stdout.write(
        f"vocabulary       {len(vocabulary):,} tokens in {output}\n{report}\n"
    )


def _lines():
    """Yields the lines of the corpus, showing progress."""
    from electra_tf.data.corpus import find_files, read_lines
    from electra_tf.runtime.progress import progress

    files = find_files(_CORPUS.value)
    limit = _LIMIT_BYTES.value or float("inf")
    total = min(sum(os.path.getsize(file) for file in files), limit)
    read = 0
    with progress("reading text", total / 1e6, "MB") as advance:
        for file in files:
            for line in read_lines(
                file, text_field=_TEXT_FIELD.value, on_invalid=_report_invalid
            ):
                yield line
                blocks = read // _BLOCK_BYTES
                read += len(line.encode("utf-8")) + 1
                if read >= limit:
                    return
                if read // _BLOCK_BYTES > blocks:
                    advance(read / 1e6)


def _report_invalid(file, line, reason, excerpt):
    message = "%s, line %d: left out: %s in %s (shown for the first lines only)"
    logging.log_first_n(
        logging.WARNING, message, _MAX_WARNINGS, file, line, reason, excerpt
    )


if __name__ == "__main__":
    cli.run(main)
