"""What every command shares: flags, exit codes and how errors are shown.

Status 0 is success, 1 a failure of the work itself, 2 a request that was wrong.
Nothing heavy is imported here: `--help` has to answer in under a second.
"""

import logging as python_logging
import os
import sys
from collections.abc import Callable, Sequence

from absl import app, flags, logging

from electra_tf.errors import UserError, WorkError

EXIT_FAILURE = 1
EXIT_USAGE = 2

SEED = flags.DEFINE_integer(
    "seed",
    None,
    "Decides every random number; by default the configuration's.",
    lower_bound=0,
    upper_bound=2**32 - 1,
)
STRATEGY = flags.DEFINE_string(
    "strategy", "auto", "Devices: auto, cpu, gpu, mirrored or tpu."
)
PRECISION = flags.DEFINE_string(
    "precision", "float32", "Number format: float32, bfloat16 or float16."
)
LOGICAL_CPUS = flags.DEFINE_integer(
    "logical_cpus", 1, "Replicas on one CPU, to try distribution anywhere.", 1
)
SET = flags.DEFINE_multi_string(
    "set",
    [],
    "Changes one setting, as in --set training.learning_rate=2e-4; repeatable.",
)
# A command that declares one of these lists it in its own `--help`.
flags.disclaim_key_flags()


def run(
    main: Callable[..., int | None], *shared_flags, names: Sequence[str] = ()
) -> None:
    """Runs a command: parses flags strictly, then calls `main()`.

    Args:
        main: called once the flags are parsed; what it returns is the exit status
            (`None` is 0).
        *shared_flags: flag holders defined in another module (`cli` itself) that
            `--help` of this command has to list.
        names: what the one argument of a command like `benchmark NAME` may be; `main`
            is called with it. Without names there are no arguments but flags.
    """
    for holder in shared_flags:
        flags.declare_key_flag(holder.name)
    # Both are read when TensorFlow is first imported.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    app.run(
        lambda arguments: _guarded(lambda: main(*arguments[1:])),
        flags_parser=lambda arguments: _parse_flags(arguments, shared_flags, names),
    )


def _parse_flags(arguments, shared_flags, names) -> list[str]:
    program = _program_name()
    try:
        rest = flags.FLAGS(arguments)
    except flags.Error as error:
        _fail(f"{' '.join(str(error).split())} (see '{program} --help')", EXIT_USAGE)
    if flags.FLAGS.help or flags.FLAGS.helpshort or flags.FLAGS.helpfull:
        return rest  # absl prints the help and exits
    taken = {holder.name for holder in shared_flags}
    for holder in (SEED, STRATEGY, PRECISION, LOGICAL_CPUS, SET):
        if holder.present and holder.name not in taken:
            _fail(
                f"--{holder.name} means nothing here (see '{program} --help')",
                EXIT_USAGE,
            )
    if names and (len(rest) < 2 or rest[1] not in names):
        given = f"not {rest[1]!r}" if len(rest) > 1 else "nothing was given"
        _fail(f"name one of {', '.join(names)}; {given}", EXIT_USAGE)
    expected = 2 if names else 1
    if len(rest) > expected:
        _fail(
            f"unexpected argument {rest[expected]!r}; every option is written "
            f"--name=value (quote values that contain spaces or '*'; see "
            f"'{program} --help')",
            EXIT_USAGE,
        )
    return rest


def _guarded(main: Callable[[], int | None]) -> None:
    logging.use_absl_handler()
    logging.set_verbosity(logging.INFO)
    # absl opens the root logger too, and libraries tell things there for their authors.
    logging.get_absl_logger().setLevel("INFO")
    python_logging.getLogger().setLevel("WARNING")
    logging.get_absl_handler().setFormatter(None)
    logging.get_absl_handler().addFilter(_is_for_users)
    try:
        status = main()
    except UserError as error:
        _fail(str(error), EXIT_USAGE)
    except WorkError as error:
        _fail(str(error), EXIT_FAILURE)
    except KeyboardInterrupt:
        _fail("interrupted", EXIT_FAILURE)
    sys.exit(status or 0)


def _is_for_users(record: python_logging.LogRecord) -> bool:
    # TensorFlow writes to absl's logger too, for example how long it took to save.
    is_ours = os.path.dirname(__file__) in record.pathname
    return is_ours or record.levelno >= python_logging.WARNING


def _fail(message: str, status: int) -> None:
    print(f"{_program_name()}: error: {message}", file=sys.stderr, flush=True)
    sys.exit(status)


def _program_name() -> str:
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return spec.name if spec else os.path.basename(sys.argv[0])
