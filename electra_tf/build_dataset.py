r"""Turns text into a dataset of pre-training examples.

Examples:
  python -m electra_tf.build_dataset --corpus 'texts/**/*.txt' --vocab vocab.txt \
      --output data --max_length 128
  python -m electra_tf.build_dataset --corpus dump.jsonl.gz --text_field body \
      --vocab vocab.txt --output data --max_length 512 --num_workers 8

Files are UTF-8, plain or .gz. By default a blank line ends a document, and in files named
.jsonl each line is an object with a document in its field "text". The dataset is a
directory of TFRecord shards, dataset.json, a copy of the vocabulary, and
quarantine.jsonl, which lists lines that could not be read.
"""

import os
import sys

from absl import flags, logging

from electra_tf import cli
from electra_tf.errors import ConfigError

_CORPUS = flags.DEFINE_string(
    "corpus",
    None,
    "File, directory, glob ('**' for any depth), or several with commas.",
)
_VOCAB = flags.DEFINE_string("vocab", None, "Vocabulary file, one token a line.")
_OUTPUT = flags.DEFINE_string("output", None, "Directory of the dataset.")
_MAX_LENGTH = flags.DEFINE_integer("max_length", 128, "Tokens of an example.")
_LOWERCASE = flags.DEFINE_boolean(
    "lowercase", None, "Lower-case the text. Default: as the vocabulary was learned."
)
_STRIP_ACCENTS = flags.DEFINE_boolean(
    "strip_accents", None, "Remove accents of lower-cased text. Default: likewise."
)
_LAYOUT = flags.DEFINE_enum(
    "layout",
    "auto",
    ["auto", "blank_line", "line", "file", "jsonl"],
    "What a document is: lines up to a blank one, each line, each file, each JSON object.",
)
_BLANKS = flags.DEFINE_boolean(
    "blanks_separate_docs", True, "If false, the same as --layout=file."
)
_TEXT_FIELD = flags.DEFINE_string("text_field", "text", "Key of the text in JSON.")
_SPLIT = flags.DEFINE_boolean(
    "split_long_lines", False, "Keep text that the original discards; see the warnings."
)
_HELDOUT = flags.DEFINE_float(
    "heldout_fraction", 0.01, "Share of the documents to hold out for evaluation."
)
_NUM_SHARDS = flags.DEFINE_integer(
    "num_shards", None, "Default: one for 16 MB of text."
)
_NUM_WORKERS = flags.DEFINE_integer(
    "num_workers", None, "Processes. Default: by size, cores."
)
_INVALID = flags.DEFINE_enum(
    "invalid_text", "quarantine", ["quarantine", "refuse"], "Lines that are not UTF-8."
)
_OVERWRITE = flags.DEFINE_boolean(
    "overwrite", False, "Replace a dataset. Other files in the directory stay."
)


def main() -> None:
    """Builds the dataset that the flags ask for."""
    from electra_tf.data.build_report import summarize
    from electra_tf.data.building import build_dataset
    from electra_tf.data.corpus import find_files
    from electra_tf.runtime.progress import progress
    from electra_tf.tokenization.vocabulary import Vocabulary

    for flag in (_CORPUS, _VOCAB, _OUTPUT):
        if not flag.value:
            raise ConfigError(f"--{flag.name} is missing (see --help)")
    layout = _layout()
    vocabulary = Vocabulary.load(_VOCAB.value)
    files = find_files(_CORPUS.value)
    megabytes = sum(os.path.getsize(file) for file in files) / 1e6
    with progress("reading text", megabytes, "MB") as advance:
        manifest = build_dataset(
            files=files,
            vocabulary=vocabulary,
            output_dir=_OUTPUT.value,
            max_length=_MAX_LENGTH.value,
            **_normalization(),
            num_shards=_NUM_SHARDS.value,
            num_workers=_NUM_WORKERS.value,
            heldout_fraction=_HELDOUT.value,
            seed=cli.SEED.value or 0,
            layout=layout,
            text_field=_TEXT_FIELD.value,
            split_long_lines=_SPLIT.value,
            refuse_invalid=_INVALID.value == "refuse",
            overwrite=_OVERWRITE.value,
            progress=lambda done, _: advance(done / 1e6),
        )
    for warning in manifest.warnings:
        logging.warning("%s", warning)
    sys.stdout.write(f"{summarize(manifest)}\ndirectory   {_OUTPUT.value}\n")


def _layout() -> str:
    if _BLANKS.value:
        return _LAYOUT.value
    if _LAYOUT.value not in ("auto", "file"):
        raise ConfigError(
            f"--noblanks_separate_docs contradicts --layout={_LAYOUT.value}; leave one out"
        )
    return "file"


def _normalization() -> dict[str, bool]:
    """The normalisation asked for, else that of the vocabulary, else BERT's."""
    from electra_tf.tokenization.settings import (
        NormalizationSettings,
        check_settings,
        load_settings,
    )

    stored = load_settings(_VOCAB.value) or NormalizationSettings()
    chosen = {
        flag.name: getattr(stored, flag.name) if flag.value is None else flag.value
        for flag in (_LOWERCASE, _STRIP_ACCENTS)
    }
    check_settings(_VOCAB.value, **chosen)
    return chosen


if __name__ == "__main__":
    cli.run(main, cli.SEED)
