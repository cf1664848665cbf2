"""One pre-training run from request to report."""

import dataclasses
import glob
import pathlib
import time

from absl import logging

from electra_tf.config import PretrainConfig, load_config
from electra_tf.errors import ConfigError
from electra_tf.runtime.interruption import stop_on_signals
from electra_tf.runtime.memory import peak_memory_bytes
from electra_tf.runtime.precision import dtype_policy
from electra_tf.runtime.progress import format_seconds
from electra_tf.runtime.strategies import Devices, check_batch_size, make_devices
from electra_tf.training.preparation import (
    PreparedData,
    Sources,
    find_sources,
    prepare_data,
)
from electra_tf.training.run_directory import RunDirectory

SUMMARY_FILE = "summary.json"


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunRequest:
    """What a user asked for.

    Attributes:
        config: preset or file.
        overrides: "section.key=value" strings.
        model_dir: directory of the run.
        corpus: file, directory or glob of text, or None.
        data: directory of ready records, or None.
        vocab: vocabulary file, or None.
        strategy: one of `STRATEGIES`.
        precision: one of `PRECISIONS`.
        logical_cpus: int, replicas on one CPU.
        resume: "auto" (go on from the last checkpoint) or "never" (refuse to).
        seed: int, or None for the configuration's.
        init_discriminator: path of weights to start from, or None.
        init_generator: likewise.
    """

    config: str = "tiny"
    overrides: tuple[str, ...] = ()
    model_dir: str = "runs/tiny"
    corpus: str | None = None
    data: str | None = None
    vocab: str | None = None
    strategy: str = "auto"
    precision: str = "float32"
    logical_cpus: int = 1
    resume: str = "auto"
    seed: int | None = None
    init_discriminator: str | None = None
    init_generator: str | None = None


def pretrain(request: RunRequest) -> None:
    """Prepares data, trains, measures on held-out text and reports.

    Raises:
        UserError: something about the request or its data is wrong; said before the
            first step.
        WorkError: the disk is full, or the loss became NaN.
    """
    began = time.monotonic()
    # As far as the next blank line nothing needs TensorFlow, which takes seconds to
    # import: a request that is wrong is refused at once.
    model_dir = pathlib.Path(request.model_dir)
    sources = find_sources(
        corpus=request.corpus,
        data=request.data,
        vocab=request.vocab,
        model_dir=model_dir,
    )
    config = _load_config(request, sources)
    check_batch_size(config.training.batch_size, request.logical_cpus)
    dtype_policy(request.precision)
    directory = RunDirectory(model_dir)
    directory.check(config, sources.vocabulary and sources.vocabulary.fingerprint)
    for name in ("init_discriminator", "init_generator"):
        path = getattr(request, name)
        if path and not glob.glob(f"{glob.escape(path)}*"):
            raise ConfigError(f"--{name}={path}: no such file or directory")
    if request.resume == "never" and any(directory.checkpoints.glob("*.index")):
        raise ConfigError(
            f"--model_dir={directory.path} holds checkpoints; resume them with "
            "--resume=auto or choose another directory"
        )

    devices = make_devices(request.strategy, logical_cpus=request.logical_cpus)
    check_batch_size(config.training.batch_size, devices.num_replicas)
    logging.info("devices: %s; precision: %s", devices.description, request.precision)
    data = prepare_data(config, sources, directory.path)
    config = data.resolve(config)
    directory.claim(config, data.vocabulary.fingerprint)
    logging.info("configuration: %s", directory.path / "config.yaml")
    _train(config, request, directory, devices, data, began)


def _load_config(request: RunRequest, sources: Sources) -> PretrainConfig:
    overrides = list(request.overrides)
    if request.seed is not None:
        overrides.append(f"seed={request.seed}")
    return load_config(
        request.config,
        overrides,
        vocabulary_size=sources.vocabulary and len(sources.vocabulary),
    )


def _start(config, request, directory, devices, vocabulary):
    """The compiled pretrainer, its checkpoints and the step at which it stands."""
    from electra_tf.optimization.factory import make_optimizer
    from electra_tf.pretraining.masking import SpecialTokens
    from electra_tf.pretraining.pretrainer import ElectraPretrainer
    from electra_tf.training.checkpoints import Checkpoints

    training = config.training
    with devices.strategy.scope():
        pretrainer = ElectraPretrainer(
            config, SpecialTokens.of(vocabulary), dtype=dtype_policy(request.precision)
        )
        loss_scaling = request.precision == "float16"
        pretrainer.compile(make_optimizer(training, loss_scaling=loss_scaling))
        checkpoints = Checkpoints(
            directory.checkpoints, pretrainer, training.keep_checkpoints
        )
        step = checkpoints.restore_latest()
    logging.info("parameters: %s", f"{pretrainer.count_params():,}")
    if step:
        logging.info("resuming from the checkpoint of step %d", step)
    elif request.init_discriminator or request.init_generator:
        # Needs KerasHub, which takes seconds to import.
        from electra_tf.training.initialization import initialize

        initialize(
            pretrainer,
            config,
            vocabulary,
            discriminator=request.init_discriminator,
            generator=request.init_generator,
        )
    return pretrainer, checkpoints, step


def _train(
    config: PretrainConfig,
    request: RunRequest,
    directory: RunDirectory,
    devices: Devices,
    data: PreparedData,
    began: float,
) -> None:
    from electra_tf.analysis.flops import train_example_flops
    from electra_tf.training.health import HealthMonitor
    from electra_tf.training.loop import Progress, TrainingLoop
    from electra_tf.training.metrics_log import MetricsLog, read_metrics

    training = config.training
    pretrainer, checkpoints, step = _start(
        config, request, directory, devices, data.vocabulary
    )
    if step >= training.num_train_steps and (directory.path / SUMMARY_FILE).exists():
        logging.info("this run is finished; raise training.num_train_steps to go on")
        return
    metrics_log = MetricsLog(directory.path, first_step=step)
    earlier = [r for r in read_metrics(directory.path) if "tokens" in r]
    progress = Progress.after(step, earlier)
    seconds_before = progress.seconds
    health = HealthMonitor(config)
    health.replay(earlier)
    first_step = directory.start_phase(
        step,
        max_length=config.data.max_length,
        batch_size=training.batch_size,
        dataset=data.fingerprint,
    )
    evaluate = _make_evaluate(pretrainer, devices, data, config)
    loop = TrainingLoop(
        pretrainer=pretrainer,
        devices=devices,
        training=training,
        checkpoints=checkpoints,
        metrics_log=metrics_log,
        health=health,
        flops_per_step=train_example_flops(config) * training.batch_size,
        evaluate=lambda: _logged(evaluate()),
    )
    batches = data.training_batches(config, start_step=step - first_step)
    with stop_on_signals() as stop:
        loop.run(batches, progress, stop)
    if stop:
        metrics_log.close()
        logging.info(
            "stopped by %s at step %d of %d; run the same command to go on",
            stop.signal_name,
            progress.step,
            training.num_train_steps,
        )
        return
    heldout = evaluate()
    metrics_log.write(progress.step, _logged(heldout))
    metrics_log.close()
    seconds = seconds_before + time.monotonic() - began
    _finish(config, directory, devices, data, pretrainer, progress, heldout, seconds)


def _make_evaluate(pretrainer, devices, data, config):
    """A function that measures held-out text, traced once for the whole run."""
    from electra_tf.pretraining.evaluation import HeldoutEvaluator

    evaluator = HeldoutEvaluator(
        pretrainer.outcome,
        pretrainer.corruption.special,
        strategy=devices.strategy if devices.num_replicas > 1 else None,
    )
    limit = config.training.num_evaluation_batches
    return lambda: evaluator.evaluate(data.heldout_batches(config).take(limit))


def _logged(heldout):
    return {f"heldout_{name}": value for name, value in heldout.measures.items()}


def _finish(config, directory, devices, data, pretrainer, progress, heldout, seconds):
    """Saves both towers and tells the result."""
    from electra_tf.pretraining.heldout_summary import print_summary
    from electra_tf.tokenization.tokenizer import ElectraTokenizer
    from electra_tf.training.artifacts import save_towers
    from electra_tf.training.metrics_log import read_metrics
    from electra_tf.training.report import REPORT_FILE, write_report

    tokens = data.vocabulary.tokens
    tokenizer = ElectraTokenizer(
        vocabulary=tokens,
        lowercase=data.manifest.inputs.lowercase,
        strip_accents=data.manifest.inputs.strip_accents,
    )
    save_towers(pretrainer, tokenizer, directory.path)
    rate = progress.tokens / progress.seconds if progress.seconds else None
    directory.write_json(
        SUMMARY_FILE,
        {
            "steps": progress.step,
            "tokens": progress.tokens,
            "seconds": seconds,
            "tokens_per_second": rate,
            "parameters": pretrainer.count_params(),
            "peak_memory_bytes": peak_memory_bytes(),
            "heldout": heldout.measures,
            "heldout_by_frequency": heldout.bands,
        },
    )
    facts = {
        "steps": f"{progress.step:,}",
        "tokens seen": f"{progress.tokens:,.0f}",
        "time, data preparation included": format_seconds(seconds),
        "tokens a second while training": f"{rate:,.0f}" if rate else "none",
        "parameters": f"{pretrainer.count_params():,}",
        "devices": devices.description,
    }
    write_report(
        directory.path / REPORT_FILE,
        config=config,
        records=read_metrics(directory.path),
        heldout=heldout,
        tokens=tokens,
        facts=facts,
        phases=directory.phases,
    )
    print_summary(heldout, tokens)
    _say_where(directory.path, seconds)


def _say_where(path: pathlib.Path, seconds: float) -> None:
    logging.info(
        "done in %s (peak memory %.1f GB): %s",
        format_seconds(seconds),
        peak_memory_bytes() / 1e9,
        ", ".join(
            str(path / name)
            for name in ("report.html", SUMMARY_FILE, "discriminator", "generator")
            if (path / name).exists()
        ),
    )
