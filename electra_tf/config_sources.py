"""Reading YAML files and `--set` values, remembering where each value stands."""

import pathlib
import re
from typing import Any

import yaml

from electra_tf.errors import ConfigError

Field = tuple[str, ...]


class Origins:
    """Where each field was set, for error messages.

    Args:
        source: what to name for a field that nobody set.
    """

    def __init__(self, source: str):
        self._source = source
        self._origins: dict[Field, str] = {}

    def set(self, field: Field, origin: str) -> None:
        """Remembers that `field` was set at `origin` last."""
        self._origins[field] = origin

    def of(self, field: Field) -> str:
        """Origin of the field, or of the closest section around it."""
        while field:
            if field in self._origins:
                return self._origins[field]
            field = field[:-1]
        return self._source

    def knows(self, field: Field) -> bool:
        """Whether the field itself was set anywhere."""
        return field in self._origins

    def of_message(self, message: str) -> str | None:
        """Origins of the fields that a message names as `section.key=value`."""
        named = re.findall(r"([a-z_]+(?:\.[a-z_0-9]+)+)=", message)
        origins = [self._origins.get(tuple(name.split("."))) for name in named]
        return ", ".join(dict.fromkeys(filter(None, origins))) or None


class _Loader(yaml.SafeLoader):
    """Reads `5e-4` as a number, as YAML 1.2 does; YAML 1.1 makes it text."""


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(\d[\d_]*)(\.\d*)?[eE][-+]?\d+$"),
    list("-+0123456789"),
)


def read_yaml(path: pathlib.Path) -> tuple[dict[str, Any], Origins]:
    """Reads a mapping of sections.

    Returns:
        The values, and the line of each.

    Raises:
        ConfigError: unreadable, not YAML, a key given twice, or not a mapping.
    """
    origins = Origins(path.name)
    try:
        text = path.read_text(encoding="utf-8-sig")
        loader = _Loader(text)
        node = loader.get_single_node()
        if not isinstance(node, yaml.MappingNode):
            raise ConfigError(
                f"{path}: should hold sections such as 'model:', 'training:'"
            )
        _remember(node, (), path, origins)
        return loader.construct_document(node), origins
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 text ({error.reason})") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        what = getattr(error, "problem", None) or "malformed"
        raise ConfigError(f"{path}{line}: is not YAML ({what})") from error
    except (ValueError, RecursionError) as error:  # a 13th month, an alias of itself
        raise ConfigError(
            f"{path}: has a value that cannot be read ({error})"
        ) from error


def _remember(
    node: yaml.MappingNode, prefix: Field, path: pathlib.Path, origins: Origins
) -> None:
    seen: dict[str, int] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        name = str(key.value)
        if name in seen:
            raise ConfigError(
                f"{path.name}, line {line}: '{'.'.join((*prefix, name))}' is already "
                f"given in line {seen[name]}"
            )
        seen[name] = line
        origins.set((*prefix, name), f"{path.name}, line {line}")
        if isinstance(value, yaml.MappingNode):
            _remember(value, (*prefix, name), path, origins)


def parse_override(text: str) -> tuple[Field, Any]:
    """Splits "section.key=value"; the value is written as in YAML.

    Raises:
        ConfigError: not of this form.
    """
    name, equals, value = text.partition("=")
    name = name.strip()
    if not equals or not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", name):
        raise ConfigError(
            f"--set {text}: should have the form section.key=value, for example "
            "--set training.learning_rate=2e-4"
        )
    try:
        return tuple(name.split(".")), yaml.load(value, Loader=_Loader)
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"--set {text}: the value cannot be read") from error
