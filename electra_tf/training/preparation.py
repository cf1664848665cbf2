"""From what the user named (text, records, a vocabulary or nothing) to batches."""

import dataclasses
import hashlib
import os
from pathlib import Path

from absl import logging

from electra_tf.config import PretrainConfig
from electra_tf.data.corpus import find_files
from electra_tf.data.installed_documentation import write_corpus
from electra_tf.data.manifest import (
    VOCABULARY_FILE,
    DatasetManifest,
    check_dataset,
    open_dataset,
)
from electra_tf.errors import ConfigError, DataError
from electra_tf.tokenization.settings import check_settings
from electra_tf.tokenization.vocabulary import Vocabulary

_CORPUS_FILE = "corpus.txt"
_DECIDED_BY_RECORDS = (
    "lowercase",
    "strip_accents",
    "text_field",
    "split_long_lines",
    "heldout_fraction",
)


@dataclasses.dataclass(frozen=True)
class Sources:
    """What a run learns from, as far as it is known before any work is done.

    Attributes:
        files: the corpus; None with ready records, empty for the embedded default.
        records: directory of ready records, or None.
        manifest: of the ready records, or None.
        vocabulary: `Vocabulary`, or None when it is to be learned.
        vocabulary_path: where the vocabulary is or will be.
    """

    files: tuple[Path, ...] | None
    records: Path | None
    manifest: DatasetManifest | None
    vocabulary: Vocabulary | None
    vocabulary_path: Path


@dataclasses.dataclass(frozen=True)
class PreparedData:
    """Records that are complete and fit the run.

    Attributes:
        directory: of the records.
        manifest: of the records.
        vocabulary: that the records were built with.
    """

    directory: Path
    manifest: DatasetManifest
    vocabulary: Vocabulary

    def resolve(self, config: PretrainConfig) -> PretrainConfig:
        """The configuration with what the records decide: vocabulary and normalisation.

        Says which settings ready records overrule.
        """
        inputs = self.manifest.inputs
        decided = {name: getattr(inputs, name) for name in _DECIDED_BY_RECORDS}
        for name, value in decided.items():
            asked = getattr(config.data, name)
            if value != asked:
                logging.info(
                    "data.%s=%s, as the records were built, instead of %s",
                    name,
                    value,
                    asked,
                )
        data = config.data.model_copy(update=decided)
        config = config.with_vocabulary_size(len(self.vocabulary))
        return config.model_copy(update={"data": data})

    @property
    def fingerprint(self) -> str:
        """Equal for equal records."""
        inputs = self.manifest.inputs.model_dump_json()
        return hashlib.sha256(inputs.encode("utf-8")).hexdigest()[:16]

    def training_batches(self, config: PretrainConfig, start_step: int):
        """Endless `tf.data.Dataset`, from the batch of step `start_step` on."""
        from electra_tf.data.pipeline import training_batches

        return training_batches(
            self.directory,
            self.manifest,
            batch_size=config.training.batch_size,
            seed=config.seed,
            start_step=start_step,
        )

    def heldout_batches(self, config: PretrainConfig):
        """Held-out `tf.data.Dataset`, the last batch filled up with padding."""
        from electra_tf.data.pipeline import heldout_batches

        return heldout_batches(
            self.directory, self.manifest, batch_size=config.training.batch_size
        )


def find_sources(
    *, corpus: str | None, data: str | None, vocab: str | None, model_dir: Path
) -> Sources:
    """Looks at what was named, without TensorFlow and before any work.

    Args:
        corpus: file, directory or glob, or None.
        data: directory of ready records, or None.
        vocab: vocabulary file, or None.
        model_dir: the run's directory, where a learned vocabulary is kept.

    Raises:
        UserError: something is missing, unreadable or contradictory.
    """
    if corpus and data:
        raise ConfigError("--corpus and --data exclude each other; give one of them")
    records = Path(data) if data else None
    manifest = open_dataset(records) if records else None
    files = None if records else tuple(find_files(corpus)) if corpus else ()
    path = Path(vocab) if vocab else (records or model_dir) / VOCABULARY_FILE
    known = vocab or records or path.exists()
    vocabulary = Vocabulary.load(path) if known else None
    return Sources(files, records, manifest, vocabulary, path)


def prepare_data(
    config: PretrainConfig, sources: Sources, model_dir: Path
) -> PreparedData:
    """Makes what is missing: the embedded corpus, the vocabulary, the records.

    What an earlier run left in `model_dir` is used again if it fits.

    Raises:
        UserError: text or records cannot be used.
        WorkError: something could not be written.
    """
    if sources.records:
        data = PreparedData(sources.records, sources.manifest, sources.vocabulary)
        logging.info("checking the records in %s", sources.records)
        check_dataset(
            data.directory,
            data.manifest,
            vocabulary_fingerprint=data.vocabulary.fingerprint,
            max_length=config.data.max_length,
            batch_size=config.training.batch_size,
        )
    else:
        data = _build(config, sources, model_dir)
    if not data.manifest.heldout.examples:
        raise DataError(
            f"{data.directory}: no text is held out to measure on "
            f"({data.manifest.train.documents} document(s)); separate documents by blank "
            "lines, raise data.heldout_fraction, or name more text"
        )
    return data


def records_directory(model_dir: Path, max_length: int) -> Path:
    """Where a run keeps the records that it made from text.

    One directory for each length: a run may go on with longer examples.
    """
    return model_dir / f"records-{max_length}"


def _build(config, sources, model_dir):
    files = sources.files or (_embedded_corpus(model_dir),)
    vocabulary = sources.vocabulary
    if vocabulary:
        path = sources.vocabulary_path
        logging.info("vocabulary: %s (%d tokens)", path, len(vocabulary))
    else:
        vocabulary = _learn(config, files, sources.vocabulary_path)
    settings = config.data
    check_settings(
        sources.vocabulary_path,
        lowercase=settings.lowercase,
        strip_accents=settings.strip_accents,
    )
    directory = records_directory(model_dir, settings.max_length)
    manifest = _build_records(config, files, vocabulary, directory)
    for warning in manifest.warnings:
        logging.warning("%s", warning)
    logging.info(
        "records: %s examples of %d tokens, %s held out (%s)",
        f"{manifest.train.examples:,}",
        manifest.max_length,
        f"{manifest.heldout.examples:,}",
        directory,
    )
    return PreparedData(directory, manifest, vocabulary)


def _embedded_corpus(model_dir):
    path = model_dir / _CORPUS_FILE
    if not path.exists():
        logging.info("collecting the documentation installed on this machine")
        write_corpus(path)
    logging.info("corpus: %s (%.1f MB)", path, os.path.getsize(path) / 1e6)
    return path


def _learn(config, files, path):
    from electra_tf.data.vocabulary_building import build_vocabulary

    settings = config.data
    size = config.model.vocabulary_size or settings.learned_vocabulary_size
    vocabulary, _ = build_vocabulary(
        files,
        path,
        size=size,
        lowercase=settings.lowercase,
        strip_accents=settings.strip_accents,
        layout=settings.layout,
        text_field=settings.text_field,
    )
    if config.model.vocabulary_size not in (None, len(vocabulary)):
        raise ConfigError(
            f"model.vocabulary_size={config.model.vocabulary_size}, but this text gives "
            f"only {len(vocabulary)} tokens; leave the setting out"
        )
    return vocabulary


def _build_records(config, files, vocabulary, directory):
    from electra_tf.data.building import build_dataset
    from electra_tf.data.manifest import check_batch_size
    from electra_tf.runtime.progress import progress

    settings = config.data
    megabytes = sum(os.path.getsize(file) for file in files) / 1e6
    with progress("building records", megabytes, "MB") as advance:
        manifest = build_dataset(
            files=files,
            vocabulary=vocabulary,
            output_dir=directory,
            max_length=settings.max_length,
            lowercase=settings.lowercase,
            strip_accents=settings.strip_accents,
            heldout_fraction=settings.heldout_fraction,
            seed=config.seed,
            layout=settings.layout,
            text_field=settings.text_field,
            split_long_lines=settings.split_long_lines,
            progress=lambda done, _: advance(done / 1e6),
        )
    check_batch_size(manifest, config.training.batch_size)
    return manifest
