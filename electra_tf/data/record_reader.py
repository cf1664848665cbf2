"""Random access to the records of some shards."""

import mmap
from collections.abc import Sequence
from pathlib import Path

import numpy as np

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

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def read(self, indices: np.ndarray) -> np.ndarray:
        """Returns the serialized examples at `indices` (int `[B]`) as objects `[B]`.

        Raises:
            DataError: a record's checksum is wrong; names the shard and the record.
        """
        shards = np.searchsorted(self._ends, indices, side="right")
        records = np.empty(len(indices), object)
        for row, (index, shard) in enumerate(zip(indices, shards, strict=True)):
            number = index - self._ends[shard] + len(self._shards[shard])
            content = self._format.content_of(self._shards[shard][number])
            if content is None:
                raise DataError(
                    f"{self._paths[shard]}, record {number}: damaged (its checksum is "
                    "wrong); build the dataset again with build_dataset"
                )
            records[row] = content
        return records

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
