"""Builds a dataset from text: plan the shards, do the work, publish the result.

The corpus is cut into parts of about equal size, one a shard. A pool of processes works
on them when there are several; what comes out depends only on the inputs, never on the
number of processes.
"""

import contextlib
import dataclasses
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from electra_tf.data.build_report import find_warnings
from electra_tf.data.dataset_directory import (
    check_output,
    existing_dataset,
    publish,
    staging,
)
from electra_tf.data.manifest import (
    QUARANTINE_FILE,
    VOCABULARY_FILE,
    BuildInputs,
    DatasetManifest,
    SpecialIds,
)
from electra_tf.data.partition import partition
from electra_tf.data.shard_jobs import (
    HASH_RANGE,
    ShardJob,
    ShardResult,
    ShardSettings,
    add_counts,
)
from electra_tf.data.worker_pool import run_jobs
from electra_tf.errors import ConfigError, DataError
from electra_tf.tokenization.settings import NormalizationSettings, save_settings
from electra_tf.tokenization.vocabulary import Vocabulary

# Called with (bytes of corpus read, bytes in all).
Progress = Callable[[int, int], None]

# A new process needs seconds to start, in which one that runs already does this much.
_BYTES_PER_WORKER = 100 << 20


def build_dataset(
    *,
    files: Sequence[Path],
    vocabulary: Vocabulary,
    output_dir: str | os.PathLike,
    max_length: int,
    lowercase: bool = True,
    strip_accents: bool = True,
    num_shards: int | None = None,
    num_workers: int | None = None,
    heldout_fraction: float = 0.01,
    seed: int = 0,
    layout: str = "auto",
    text_field: str = "text",
    split_long_lines: bool = False,
    refuse_invalid: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> DatasetManifest:
    """Builds the dataset, or finds that it is there already.

    With several workers, call it below `if __name__ == "__main__":`, because each worker
    starts Python anew.

    Args:
        files: the corpus (`corpus.find_files`).
        vocabulary: `Vocabulary` with all special tokens.
        output_dir: new or empty, or holding a dataset. One of equal inputs is reused.
        max_length: int, tokens of an example.
        lowercase: bool, as in `WordPieceTokenizer`.
        strip_accents: likewise.
        num_shards: int, at most so many; by default one for every 16 MB of text.
        num_workers: int, processes; by default one for every 100 MB of text, but not
            more than cores. With one, the work is done in this process.
        heldout_fraction: float in [0, 1), share of the documents to hold out. If it is
            above 0 and there are several documents, at least one is.
        seed: int in [0, 2³²).
        layout: as in `corpus.read_documents`.
        text_field: likewise.
        split_long_lines: bool, as in `ExampleBuilder`: keep what the original discards.
        refuse_invalid: bool, stop at the first line that cannot be read, rather than
            leave it out and list it in `quarantine.jsonl`.
        overwrite: bool, replace the files of another dataset.
        progress: called often.

    Returns:
        The `DatasetManifest`, as written.

    Raises:
        ConfigError: an option is out of range.
        DataError: corpus or output directory cannot be used.
        WorkError: the result could not be written, or a worker died.
    """
    _check_options(max_length, num_shards, num_workers, heldout_fraction, seed)
    output_dir = Path(output_dir)
    check_output(output_dir, overwrite=overwrite)
    parts, sources = partition(
        files, layout=layout, text_field=text_field, num_parts=num_shards
    )
    normalization = NormalizationSettings(
        lowercase=lowercase, strip_accents=strip_accents
    )
    inputs = BuildInputs(
        sources=sources,
        text_field=text_field,
        split_long_lines=split_long_lines,
        vocabulary_fingerprint=vocabulary.fingerprint,
        **dataclasses.asdict(normalization),
        max_length=max_length,
        heldout_fraction=float(heldout_fraction),
        seed=seed,
        num_shards=len(parts),
    )
    existing = existing_dataset(output_dir, inputs, overwrite=overwrite)
    if existing and not (refuse_invalid and existing.quarantined_lines):
        return existing
    jobs = [ShardJob(index, len(parts), spans) for index, spans in enumerate(parts)]
    total_bytes = sum(source.bytes for source in sources)
    if num_workers is None:
        num_workers = min(os.cpu_count() or 1, 1 + total_bytes // _BYTES_PER_WORKER)

    def run(settings):
        return run_jobs(
            jobs,
            settings,
            num_workers=min(num_workers, len(parts)),
            on_progress=lambda done: progress and progress(done, total_bytes),
        )

    with staging(output_dir) as staged:
        settings = ShardSettings(
            vocabulary=vocabulary,
            lowercase=lowercase,
            strip_accents=strip_accents,
            max_length=max_length,
            text_field=text_field,
            heldout_below=int(heldout_fraction * HASH_RANGE),
            seed=seed,
            split_long_lines=split_long_lines,
            refuse_invalid=refuse_invalid,
            directory=staged,
        )
        results = _results(run, settings, len(files))
        manifest = _manifest(results, inputs, vocabulary)
        _collect_quarantine(results, staged / QUARANTINE_FILE)
        vocabulary.save(staged / VOCABULARY_FILE)
        save_settings(staged / VOCABULARY_FILE, normalization)
        publish(staged, output_dir, manifest)
    return manifest


def _check_options(max_length, num_shards, num_workers, heldout_fraction, seed):
    bounds = (
        ("max_length", max_length, 5, 1 << 15),
        ("num_shards", num_shards, 1, 99_999),
        ("num_workers", num_workers, 1, 1_024),
        ("seed", seed, 0, (1 << 32) - 1),
    )
    for name, value, lowest, highest in bounds:
        if value is not None and not lowest <= value <= highest:
            raise ConfigError(f"{name}={value} must be between {lowest} and {highest}")
    if not 0 <= heldout_fraction < 1:
        raise ConfigError(
            f"heldout_fraction={heldout_fraction} must be at least 0 and below 1"
        )


def _results(
    run: Callable[[ShardSettings], list[ShardResult]],
    settings: ShardSettings,
    num_files: int,
) -> list[ShardResult]:
    """Does all jobs; the results are in the order of the shards."""
    results = run(settings)
    train, heldout = _totals(results)
    lowest = min(result.lowest_hash for result in results)
    highest = max(result.highest_hash for result in results)
    # Copies of one document are all on the same side.
    if heldout.examples == 0 and settings.heldout_below and lowest < highest:
        # So few documents that chance held out none: hold out the one that is closest.
        for path in settings.directory.iterdir():
            path.unlink()
        settings = dataclasses.replace(settings, heldout_below=lowest + 1)
        results = run(settings)
        train, heldout = _totals(results)
    if train.examples == 0:
        raise DataError(
            f"corpus: no text in {num_files} file(s)"
            if heldout.examples == 0
            else f"corpus: all {heldout.documents} documents were held out; lower "
            "heldout_fraction or use more text"
        )
    return results


def _totals(results):
    return [
        add_counts([result.counts[split] for result in results])
        for split in ("train", "heldout")
    ]


def _manifest(results, inputs, vocabulary):
    train, heldout = _totals(results)
    quarantined_lines = sum(result.quarantined_lines for result in results)
    warnings = find_warnings(
        train,
        heldout,
        max_length=inputs.max_length,
        heldout_fraction=inputs.heldout_fraction,
        split_long_lines=inputs.split_long_lines,
        cut_documents=sum(result.cut_documents for result in results),
        quarantined_lines=quarantined_lines,
    )
    return DatasetManifest(
        inputs=inputs,
        vocabulary_size=len(vocabulary),
        special_ids=SpecialIds(
            pad=vocabulary.pad_id,
            unknown=vocabulary.unknown_id,
            cls=vocabulary.cls_id,
            sep=vocabulary.sep_id,
            mask=vocabulary.mask_id,
        ),
        train=train,
        heldout=heldout,
        quarantined_lines=quarantined_lines,
        warnings=warnings,
        shards=sorted(
            (shard for result in results for shard in result.shards),
            key=lambda shard: (shard.split != "train", shard.file),
        ),
    )


def _collect_quarantine(results, path):
    lists = [result.quarantine for result in results if result.quarantine]
    if lists:
        with open(path, "wb") as whole:
            for part in lists:
                with open(part, "rb") as file:
                    shutil.copyfileobj(file, whole)
    for part in lists:
        with contextlib.suppress(OSError):
            part.unlink()
