"""The configuration of a pre-training run: typed, frozen, strict.

A preset or a file is complete; `--set section.key=value` changes single values. Every
problem is reported at once, with the file and line or the flag that it came from.
"""

import difflib
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pydantic
import yaml
from pydantic import Field, model_validator

from electra_tf.config_sources import Origins, parse_override, read_yaml
from electra_tf.errors import ConfigError

# Names from other code bases, for the hint that follows an unknown key.
_FOREIGN_NAMES = {
    "hidden_size": "hidden_dim",
    "vocab_size": "vocabulary_size",
    "num_hidden_layers": "num_layers",
    "num_attention_heads": "num_heads",
    "intermediate_size": "intermediate_dim",
    "embedding_size": "embedding_dim",
    "max_position_embeddings": "max_sequence_length",
    "type_vocab_size": "num_segments",
    "hidden_dropout_prob": "dropout",
    "attention_probs_dropout_prob": "attention_dropout",
    "generator_hidden_size": "hidden_dim_fraction",
    "generator_layers": "num_layers_fraction",
    "gen_weight": "generator_weight",
    "disc_weight": "discriminator_weight",
    "mask_prob": "mask_rate",
    "max_seq_length": "max_length",
    "train_batch_size": "batch_size",
    "weight_decay_rate": "weight_decay",
    "save_checkpoints_steps": "checkpoint_every",
    "keep_checkpoint_max": "keep_checkpoints",
    "do_lower_case": "lowercase",
}
# What `compat: official` changes: behaviour of the original that we do otherwise.
_OFFICIAL = {("objective", "mask_with_replacement"): True}


class Section(pydantic.BaseModel):
    """Base of all sections: no unknown keys, no silent conversions, no changes."""

    model_config = pydantic.ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False
    )


class ModelConfig(Section):
    """The encoder that is kept (paper Table 6)."""

    vocabulary_size: int | None = Field(
        None, gt=0, description="Rows of the word table; null: as the vocabulary has."
    )
    num_layers: int = Field(gt=0)
    hidden_dim: int = Field(gt=0)
    num_heads: int = Field(gt=0)
    intermediate_dim: int = Field(gt=0)
    embedding_dim: int = Field(gt=0)
    max_sequence_length: int = Field(512, gt=0, description="Rows of the positions.")
    num_segments: int = Field(2, ge=2)
    dropout: float = Field(0.1, ge=0, lt=1)
    attention_dropout: float = Field(0.1, ge=0, lt=1)
    initializer_range: float = Field(0.02, gt=0)

    @model_validator(mode="after")
    def _heads_divide_width(self):
        _check_heads("model.", self.hidden_dim, self.num_heads)
        return self


class GeneratorConfig(Section):
    """The generator, sized as fractions of the discriminator (official rounding)."""

    kind: Literal["masked_lm", "two_tower", "uniform"] = "masked_lm"
    tying: Literal["none", "embeddings", "all"] = "embeddings"
    hidden_dim_fraction: float = Field(gt=0, le=4)
    num_layers_fraction: float = Field(1.0, gt=0, le=4)
    num_heads: int | None = Field(
        None, gt=0, description="null: one head for every 64 units, at least one."
    )


class ObjectiveConfig(Section):
    """What is learned, and from which corruption (paper §2, Table 6)."""

    name: Literal["replaced_token_detection", "masked_lm", "electric"] = (
        "replaced_token_detection"
    )
    mask_rate: float = Field(gt=0, lt=1)
    generator_weight: float = Field(1.0, ge=0)
    discriminator_weight: float = Field(50.0, ge=0)
    temperature: float = Field(1.0, gt=0)
    disallow_correct: bool = False
    mask_with_replacement: bool = False


class TrainingConfig(Section):
    """How long, how fast, and what is written on the way."""

    num_train_steps: int = Field(gt=0)
    num_warmup_steps: int = Field(ge=0)
    batch_size: int = Field(gt=0, description="Sequences a step, over all replicas.")
    learning_rate: float = Field(gt=0, description="Before warm-up and decay.")
    decay_power: float = Field(1.0, ge=0)
    weight_decay: float = Field(0.01, ge=0)
    beta_1: float = Field(0.9, ge=0, lt=1)
    beta_2: float = Field(0.999, ge=0, lt=1)
    epsilon: float = Field(1e-6, gt=0)
    global_clipnorm: float | None = Field(1.0, gt=0)
    log_every: int = Field(100, gt=0)
    checkpoint_every: int = Field(1_000, gt=0)
    keep_checkpoints: int = Field(5, gt=0)
    evaluate_every: int = Field(0, ge=0, description="Steps; 0: at the end only.")
    num_evaluation_batches: int = Field(
        100, gt=0, description="At most, when held out."
    )
    peak_flops_per_second: float | None = Field(
        None, gt=0, description="Of one device, to log which share of it is used."
    )

    @model_validator(mode="after")
    def _warmup_ends_before_training(self):
        if self.num_warmup_steps >= self.num_train_steps:
            raise ValueError(
                f"training.num_warmup_steps={self.num_warmup_steps} must be below "
                f"training.num_train_steps={self.num_train_steps}; lower it or train longer"
            )
        return self


class DataConfig(Section):
    """How text becomes examples."""

    max_length: int = Field(ge=5, description="Tokens of an example.")
    learned_vocabulary_size: int = Field(
        30_522, ge=100, description="When no vocabulary is given."
    )
    lowercase: bool = True
    strip_accents: bool = True
    layout: Literal["auto", "blank_line", "line", "file", "jsonl"] = "auto"
    text_field: str = "text"
    split_long_lines: bool = Field(
        False, description="Keep what the original discards of long lines."
    )
    heldout_fraction: float = Field(0.01, gt=0, lt=0.5)


class PretrainConfig(Section):
    """Everything that a pre-training run needs to know."""

    compat: Literal["official"] | None = None
    seed: int = Field(0, ge=0, lt=2**32)
    model: ModelConfig
    generator: GeneratorConfig
    objective: ObjectiveConfig
    training: TrainingConfig
    data: DataConfig

    @model_validator(mode="after")
    def _fits_together(self):
        problems = [*self._generator_problems(), *self._length_problems()]
        if problems:
            raise ValueError("; ".join(problems))
        return self

    @property
    def generator_hidden_dim(self) -> int:
        """Width of the generator; halves round to even, as in the original."""
        return round(self.model.hidden_dim * self.generator.hidden_dim_fraction)

    @property
    def generator_num_layers(self) -> int:
        """Depth of the generator."""
        return round(self.model.num_layers * self.generator.num_layers_fraction)

    @property
    def generator_num_heads(self) -> int:
        """Attention heads of the generator."""
        return self.generator.num_heads or max(1, self.generator_hidden_dim // 64)

    def _generator_problems(self):
        kind, tying, name = (
            self.generator.kind,
            self.generator.tying,
            self.objective.name,
        )
        if tying == "all" and kind != "masked_lm":
            yield f"generator.tying=all needs generator.kind=masked_lm, not {kind}"
        if name == "electric" and kind != "two_tower":
            yield f"objective.name=electric needs generator.kind=two_tower, not {kind}"
        if name == "masked_lm" and kind != "masked_lm":
            yield f"objective.name=masked_lm needs generator.kind=masked_lm, not {kind}"
        if tying == "all" or kind == "uniform" or name == "masked_lm":
            return
        width, layers = self.generator_hidden_dim, self.generator_num_layers
        if width < 1:
            yield (
                f"generator.hidden_dim_fraction={self.generator.hidden_dim_fraction} of "
                f"model.hidden_dim={self.model.hidden_dim} leaves a generator without "
                "width or heads; raise the fraction"
            )
        elif width % self.generator_num_heads:
            yield (
                f"the generator's width {width} (generator.hidden_dim_fraction="
                f"{self.generator.hidden_dim_fraction} of model.hidden_dim="
                f"{self.model.hidden_dim}) is not divisible by its "
                f"{self.generator_num_heads} heads; change the fraction or set "
                "generator.num_heads"
            )
        if layers < 1:
            yield (
                f"generator.num_layers_fraction={self.generator.num_layers_fraction} of "
                f"model.num_layers={self.model.num_layers} leaves no layer; raise it"
            )

    def _length_problems(self):
        length, positions = self.data.max_length, self.model.max_sequence_length
        if length > positions:
            yield (
                f"data.max_length={length} exceeds model.max_sequence_length={positions}; "
                "shorten the examples or give the model more positions"
            )

    def with_vocabulary_size(self, size: int) -> "PretrainConfig":
        """The same with a word table for `size` tokens."""
        model = self.model.model_copy(update={"vocabulary_size": size})
        return self.model_copy(update={"model": model})

    def to_yaml(self) -> str:
        """The resolved configuration as a file that `load_config` reads."""
        return yaml.safe_dump(self.model_dump(), sort_keys=False)


def preset_names() -> list[str]:
    """Names that `--config` understands, from the smallest to the largest model."""
    sizes = ("tiny", "small", "base", "large")

    def key(name):
        size = name.split("_")[0]
        return (sizes.index(size) if size in sizes else len(sizes), name)

    return sorted((p.stem for p in _preset_directory().glob("*.yaml")), key=key)


def load_config(
    source: str = "tiny",
    overrides: Sequence[str] = (),
    *,
    vocabulary_size: int | None = None,
) -> PretrainConfig:
    """Reads a preset or a file, applies overrides and checks everything.

    Args:
        source: name of a preset, or path of a YAML file.
        overrides: strings of the form "section.key=value".
        vocabulary_size: int, number of tokens of the vocabulary in use, where it is
            known: a `model.vocabulary_size` that differs is refused, null becomes it.

    Returns:
        `PretrainConfig`.

    Raises:
        ConfigError: names every problem with its file and line, or its flag.
    """
    path = _find(source)
    values, origins = read_yaml(path)
    assignments = [parse_override(text) for text in overrides]
    asked = dict(assignments).get(("compat",))
    if "official" in (asked, values.get("compat")):
        for field, value in _OFFICIAL.items():
            # A file that says both means both: a resolved configuration does.
            if asked or not origins.knows(field):
                _assign(values, field, value)
                origins.set(field, "compat=official")
    for field, value in assignments:
        _assign(values, field, value)
        origins.set(field, f"--set {'.'.join(field)}={value}")
    problems = []
    config = _validate(values, origins, problems)
    chosen = _vocabulary_setting(values)
    if vocabulary_size and chosen and chosen != vocabulary_size:
        problems.append(
            f"{origins.of(('model', 'vocabulary_size'))}: model.vocabulary_size={chosen}, "
            f"but the vocabulary has {vocabulary_size} tokens; leave the setting out"
        )
    if problems:
        raise ConfigError("; ".join(problems))
    return config.with_vocabulary_size(vocabulary_size) if vocabulary_size else config


def _vocabulary_setting(values: Mapping[str, Any]) -> int | None:
    section = values.get("model")
    return section.get("vocabulary_size") if isinstance(section, dict) else None


def _preset_directory() -> pathlib.Path:
    package = pathlib.Path(__file__).parent
    installed = package / "configs" / "pretrain"
    return installed if installed.is_dir() else package.parent / "configs" / "pretrain"


def _find(source: str) -> pathlib.Path:
    names = preset_names()
    if source in names:
        return _preset_directory() / f"{source}.yaml"
    path = pathlib.Path(source)
    if path.is_file():
        return path
    what = "is a directory, not a file" if path.is_dir() else "is no preset and no file"
    raise ConfigError(
        f"--config={source} {what}{_did_you_mean(source, names)}; presets: "
        f"{', '.join(names)}"
    )


def _did_you_mean(
    name: str, names: Sequence[str], section: type[Section] | None = None
) -> str:
    foreign = _FOREIGN_NAMES.get(name)
    if foreign in names:
        near = [foreign]
    else:
        elsewhere = section and section is PretrainConfig and _homes(name)
        near = elsewhere or difflib.get_close_matches(name, names, 1)
    return f"; did you mean '{near[0]}'?" if near else ""


def _homes(name: str) -> list[str]:
    """Settings of this name, or of its name here, as "section.key"."""
    return [
        f"{section}.{key}"
        for section, field in PretrainConfig.model_fields.items()
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section)
        for key in field.annotation.model_fields
        if key in (name, _FOREIGN_NAMES.get(name))
    ]


def _assign(values: dict[str, Any], field: tuple[str, ...], value: Any) -> None:
    *sections, key = field
    for section in sections:
        values = values.setdefault(section, {})
        if not isinstance(values, dict):
            raise ConfigError(f"'{section}' is not a section, but {values!r}")
    values[key] = value


def _validate(
    values: dict[str, Any], origins: Origins, problems: list[str]
) -> PretrainConfig | None:
    """Validates, appending to `problems`.

    A misspelt key is reported and then read as its nearest name, so that what is wrong
    with its value is reported too.
    """
    problems.extend(_correct_unknown(values, PretrainConfig, (), origins))
    try:
        return PretrainConfig.model_validate(values)
    except pydantic.ValidationError as error:
        known = len(problems)
        for detail in error.errors():
            text = _describe(detail, origins)
            if known == 0 or detail["type"] != "missing":
                problems.append(text)
    return None


def _correct_unknown(values, section, prefix, origins):
    fields = section.model_fields
    for key in list(values):
        path = (*prefix, str(key))
        if key not in fields:
            hint = _did_you_mean(str(key), list(fields), section) or (
                f"; known: {', '.join(fields)}"
            )
            yield f"{origins.of(path)}: unknown key '{'.'.join(path)}'{hint}"
            value = values.pop(key)
            nearest = hint.split("'")[1] if "did you mean" in hint else key
            if nearest in fields and not isinstance(values.get(nearest), dict):
                values[nearest] = value
                origins.set((*prefix, nearest), origins.of(path))
            continue
        inner = fields[key].annotation
        is_section = isinstance(inner, type) and issubclass(inner, Section)
        if is_section and isinstance(values[key], dict):
            yield from _correct_unknown(values[key], inner, path, origins)


def _describe(detail: Mapping[str, Any], origins: Origins) -> str:
    path = tuple(str(part) for part in detail["loc"])
    message = detail["msg"].removeprefix("Value error, ")
    where = origins.of_message(message) or origins.of(path)
    if detail["type"] == "value_error":
        return f"{where}: {message}"
    if detail["type"] == "missing":
        return f"{where}: '{'.'.join(path)}' is missing"
    return f"{where}: {'.'.join(path)}={detail['input']!r}: {_plain(message)}"


def _plain(message: str) -> str:
    plain = message.replace("Input should be", "should be")
    return plain.replace("a valid integer", "an integer").replace("a valid ", "a ")


def _check_heads(prefix: str, width: int, heads: int) -> None:
    if width % heads:
        raise ValueError(
            f"{prefix}hidden_dim={width} is not divisible by {prefix}num_heads={heads}"
        )
