"""Random access to the records of some shards."""

import mmap
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from electra_tf.data.examples import Examples
from electra_tf.data.record_format import RecordFormat
from electra_tf.errors import DataError


class RecordReader:
    """Reads records by their number, through memory-mapped files.

    The operating system keeps in memory what fits: a small dataset entirely, of a large
    one what was read last.

    Args:
        paths: the shards.
        num_examples: records of each.
        record_format: `RecordFormat`.

    Raises:
        DataError: a shard is missing or has another size; the message names it.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        num_examples: Sequence[int],
        record_format: RecordFormat,
    ):
        self._paths = list(paths)
        self._format = record_format
        self._shards = [
            self._map(path, count)
            for path, count in zip(self._paths, num_examples, strict=True)
        ]
        self._ends = np.cumsum(num_examples)
        self._begins = self._ends - num_examples

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def read(self, indices: np.ndarray) -> Examples:
        """Returns the examples at `indices` (int `[B]`).

        Raises:
            DataError: a record's checksum is wrong; names the shard and the record.
        """
        shards = np.searchsorted(self._ends, indices, side="right")
        numbers = indices - self._begins[shards]
        records = np.empty((len(indices), self._format.record_bytes), np.uint8)
        for row, (shard, number) in enumerate(zip(shards, numbers, strict=True)):
            records[row] = self._shards[shard][number]
        examples, is_sound = self._format.decode(records)
        if not is_sound.all():
            row = int(np.argmin(is_sound))
            raise DataError(
                f"{self._paths[shards[row]]}, record {numbers[row]}: damaged (its "
                "checksum is wrong); build the dataset again with build_dataset"
            )
        return examples

    def _map(self, path: Path, num_examples: int) -> np.ndarray:
        size = self._format.record_bytes
        try:
            with open(path, "rb") as file:
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise DataError(f"{path}: cannot be read ({error})") from error
        if len(data) != num_examples * size:
            raise DataError(
                f"{path}: {len(data)} bytes instead of {num_examples * size}, so it was "
                "cut short or replaced; build the dataset again with build_dataset"
            )
        return np.frombuffer(data, np.uint8).reshape(num_examples, size)
