"""The work of one shard: read, tokenize, assemble and write its part of the corpus."""

import json
import random
from collections.abc import Callable

import numpy as np
import tensorflow as tf

from electra_tf.data.corpus import MAX_DOCUMENT_CHARACTERS, read_span
from electra_tf.data.examples import ExampleBuilder
from electra_tf.data.manifest import Shard, SplitCounts
from electra_tf.data.record_format import RecordFormat
from electra_tf.data.records import ShardWriter
from electra_tf.data.shard_jobs import (
    HASH_RANGE,
    SPLITS,
    ShardJob,
    ShardResult,
    ShardSettings,
    add_counts,
    document_hash,
)
from electra_tf.errors import DataError
from electra_tf.tokenization.wordpiece import WordPieceTokenizer

# Large enough to amortize a call of the tokenizer, small enough for the caches.
_LINES_PER_BATCH = 4096
_CHARACTERS_PER_BATCH = 1 << 20


class ShardBuilder:
    """Does jobs, one after another, with a tokenizer that is made once.

    Args:
        settings: `ShardSettings`.
        on_bytes: called with the number of corpus bytes read since the last call.
    """

    def __init__(self, settings: ShardSettings, on_bytes: Callable[[int], None]):
        self._settings = settings
        self._on_bytes = on_bytes
        self._tokenizer = WordPieceTokenizer(
            settings.vocabulary,
            lowercase=settings.lowercase,
            strip_accents=settings.strip_accents,
        )

    def build(self, job: ShardJob) -> ShardResult:
        """Builds a shard: files `train-…` and `heldout-…`, unless they would be empty.

        Raises:
            DataError: the corpus cannot be read.
            OSError: a file cannot be written.
        """
        settings = self._settings
        quarantine = _Quarantine(settings, job.index)
        splits = {
            split: _SplitBuilder(split, job, settings, self._tokenizer)
            for split in SPLITS
        }
        lowest_hash, highest_hash, cut_documents = HASH_RANGE, -1, 0
        train, heldout = (splits[split] for split in SPLITS)
        with quarantine, train.writer, heldout.writer:
            for span in job.spans:
                for document in read_span(
                    span,
                    text_field=settings.text_field,
                    on_invalid=quarantine.add,
                    on_bytes=self._on_bytes,
                ):
                    number = document_hash(document)
                    lowest_hash = min(lowest_hash, number)
                    highest_hash = max(highest_hash, number)
                    split = heldout if number < settings.heldout_below else train
                    cut_documents += split.add(document)
            train.flush()
            heldout.flush()
        return ShardResult(
            index=job.index,
            shards=[split.shard for split in splits.values() if split.shard],
            counts={name: split.counts for name, split in splits.items()},
            quarantined_lines=quarantine.lines,
            quarantine=quarantine.path if quarantine.lines else None,
            lowest_hash=lowest_hash,
            highest_hash=highest_hash,
            cut_documents=cut_documents,
        )


class _Quarantine:
    """Lists unusable lines in a file, or refuses them."""

    def __init__(self, settings, index):
        self.path = settings.directory / f"quarantine-{index:05d}.jsonl"
        self.lines = 0
        self._refuse = settings.refuse_invalid
        self._file = None

    def add(self, file, line, reason, excerpt):
        if self._refuse:
            raise DataError(f"{file}, line {line}: {reason} in {excerpt}")
        if self._file is None:
            # The escapes of what is not UTF-8 (in a file's name) are JSON's own.
            self._file = open(  # noqa: SIM115
                self.path, "w", encoding="utf-8", errors="backslashreplace"
            )
        entry = {"file": file, "line": line, "reason": reason, "excerpt": excerpt}
        self._file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        self.lines += 1

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self._file is not None:
            self._file.close()


class _SplitBuilder:
    """Collects documents of a split and writes their examples batch by batch."""

    def __init__(self, split, job, settings, tokenizer):
        self.counts = SplitCounts()
        self._split = split
        self._tokenizer = tokenizer
        self._vocabulary = settings.vocabulary
        self._file = f"{split}-{job.index:05d}-of-{job.num_shards:05d}.tfrecord"
        record_format = RecordFormat(settings.max_length, len(self._vocabulary))
        self.writer = ShardWriter(settings.directory / self._file, record_format)
        # A stream for each file. That of the first one is the seed's own: a dataset of
        # one shard is what the original writes with this seed.
        stream = SPLITS.index(split) + len(SPLITS) * job.index
        self._examples = ExampleBuilder(
            max_length=settings.max_length,
            cls_id=self._vocabulary.cls_id,
            sep_id=self._vocabulary.sep_id,
            pad_id=self._vocabulary.pad_id,
            dtype=record_format.token_dtype,
            rng=random.Random(settings.seed + (stream << 32)),
            split_long_lines=settings.split_long_lines,
        )
        self._reset()

    def add(self, document):
        """Adds a document; returns whether it is a part of a longer one."""
        self._lines += document
        self._document_ends.append(len(self._lines))
        characters = sum(map(len, document))
        self._characters += characters
        if (
            len(self._lines) >= _LINES_PER_BATCH
            or self._characters >= _CHARACTERS_PER_BATCH
        ):
            self.flush()
        return characters >= MAX_DOCUMENT_CHARACTERS

    @property
    def shard(self):
        """The file written, `None` if it would have been empty."""
        if not self.writer.examples:
            return None
        return Shard(
            file=self._file,
            split=self._split,
            examples=self.writer.examples,
            bytes=self.writer.bytes,
            crc32c=self.writer.crc32c,
        )

    def _reset(self):
        self._lines, self._document_ends, self._characters = [], [], 0

    def flush(self):
        if not self._lines:
            return
        pieces = self._tokenizer.tokenize(tf.constant(self._lines))
        token_ids = pieces.values.numpy()
        examples = self._examples.build(
            token_ids,
            np.diff(pieces.row_splits.numpy()),
            np.asarray(self._document_ends),
        )
        self.writer.write(examples)
        lengths = examples.segment_lengths
        tokens = int(lengths.sum(dtype=np.int64))
        num_examples = len(lengths)
        num_special = 2 * num_examples + int(np.count_nonzero(lengths[:, 1]))
        batch = SplitCounts(
            documents=len(self._document_ends),
            lines=len(self._lines),
            text_tokens=len(token_ids),
            examples=num_examples,
            tokens=tokens,
            kept_text_tokens=tokens - num_special,
            unknown_tokens=int(
                np.count_nonzero(token_ids == self._vocabulary.unknown_id)
            ),
        )
        self.counts = add_counts([self.counts, batch])
        self._reset()
