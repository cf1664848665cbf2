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

from absl import flags

from electra_tf import cli
from electra_tf.errors import DataError

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
    from electra_tf.data.corpus import find_files
    from electra_tf.data.vocabulary_building import build_vocabulary
    from electra_tf.runtime.files import check_writable

    if not _CORPUS.value:
        raise DataError("--corpus is missing: name a file, directory or quoted glob")
    output = _OUTPUT.value
    if os.path.isdir(output):
        raise DataError(
            f"{output} is a directory; name a file, such as vocab.txt in it"
        )
    if os.path.exists(output) and not _OVERWRITE.value:
        raise DataError(f"{output} is there already; add --overwrite to replace it")
    check_writable(output)
    vocabulary, report = build_vocabulary(
        find_files(_CORPUS.value),
        output,
        size=_SIZE.value,
        lowercase=_LOWERCASE.value,
        strip_accents=_STRIP_ACCENTS.value,
        min_frequency=_MIN_FREQUENCY.value,
        limit_bytes=_LIMIT_BYTES.value,
        text_field=_TEXT_FIELD.value,
    )
    sys.stdout.write(
        f"vocabulary       {len(vocabulary):,} tokens in {output}\n{report}\n"
    )


if __name__ == "__main__":
    cli.run(main)
