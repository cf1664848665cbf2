"""The directory of a run: what it was made from, and whether this run may go on in it."""

import importlib.metadata
import json
import os
import pathlib
import platform

import yaml

from electra_tf.config import PretrainConfig
from electra_tf.errors import ConfigError, UserError
from electra_tf.runtime.files import write_atomically

_CONFIG, _RUN = "config.yaml", "run.json"
_PACKAGES = ("tensorflow", "keras", "keras-hub", "tensorflow-text", "numpy")
# What makes the weights: a run with other values is another run.
_IDENTITY = ("model", "generator", "objective", "seed")


class RunDirectory:
    """Files of one run.

    Args:
        path: directory, created if need be.

    Raises:
        UserError: it cannot be created or written.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = pathlib.Path(path)
        self.checkpoints = self.path / "checkpoints"
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            probe = self.path / ".writable"
            probe.touch()
            probe.unlink()
        except OSError as error:
            raise UserError(
                f"--model_dir={path}: cannot be written ({error.strerror or error})"
            ) from error

    def check(
        self, config: PretrainConfig, vocabulary_fingerprint: str | None = None
    ) -> None:
        """Refuses to go on with another model, objective, seed or vocabulary.

        Schedules and lengths may change when a run goes on. A run that failed before
        its first step stands in nobody's way.

        Args:
            config: of the run that is about to begin.
            vocabulary_fingerprint: of its vocabulary, where it is known yet.

        Raises:
            ConfigError: the directory belongs to another run; names what differs.
        """
        known = self._read_run()
        if not known.get("phases"):
            return
        differences = self._differences(config)
        if vocabulary_fingerprint not in (None, known["vocabulary_fingerprint"]):
            differences.append("the vocabulary")
        if differences:
            raise ConfigError(
                f"--model_dir={self.path} belongs to another run, which differs in: "
                f"{', '.join(differences)}. Choose another directory, or repeat the "
                "settings of that run to resume it"
            )

    def claim(self, config: PretrainConfig, vocabulary_fingerprint: str) -> None:
        """Makes this the directory of a run, or checks that it already is.

        Raises:
            ConfigError: see `check`.
        """
        self.check(config, vocabulary_fingerprint)
        known = self._read_run()
        self._write(_CONFIG, config.to_yaml())
        run = {
            "vocabulary_fingerprint": vocabulary_fingerprint,
            "phases": known.get("phases", []),
            "versions": _versions(),
        }
        self._write(_RUN, json.dumps(run, indent=2))

    def start_phase(
        self, step: int, *, max_length: int, batch_size: int, dataset: str
    ) -> int:
        """Notes on what the run trains from `step` on.

        Returns:
            The step at which training on this data, in batches of this size, began: its
            first batch.
        """
        run = self._read_run()
        data = {"max_length": max_length, "batch_size": batch_size, "dataset": dataset}
        phases = [phase for phase in run["phases"] if phase["first_step"] <= step]
        if not phases or {**phases[-1], **data} != phases[-1]:
            phases = [phase for phase in phases if phase["first_step"] < step]
            phases.append({"first_step": step, **data})
        run["phases"] = phases
        self._write(_RUN, json.dumps(run, indent=2))
        return phases[-1]["first_step"]

    @property
    def phases(self) -> list[dict]:
        """`first_step`, `max_length`, `batch_size` and `dataset` of each phase."""
        return self._read_run().get("phases", [])

    def write_json(self, name: str, value) -> None:
        """Writes a result for machines."""
        self._write(name, json.dumps(value, indent=2))

    def _differences(self, config):
        old = yaml.safe_load((self.path / _CONFIG).read_text(encoding="utf-8"))
        new = config.model_dump()
        if new["model"]["vocabulary_size"] is None:  # not known yet
            new["model"].pop("vocabulary_size")
        found = []
        for section in _IDENTITY:
            before, after = old.get(section), new[section]
            if not isinstance(after, dict):
                before, after = {"": before}, {"": after}
            found.extend(
                f"{section}{'.' if key else ''}{key} ({before.get(key)} there, "
                f"{value} here)"
                for key, value in after.items()
                if before.get(key) != value
            )
        return found

    def _read_run(self) -> dict:
        path = self.path / _RUN
        if not path.is_file() or not (self.path / _CONFIG).is_file():
            return {}
        return json.loads(path.read_text(encoding="utf-8"))

    def _write(self, name, text):
        write_atomically(self.path / name, text.encode("utf-8"))


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in ("electra_tf", *_PACKAGES):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found
