"""Checks that the installed packages fit together, and shows the devices.

Exits with 1 if something is missing or has the wrong version, and says how to mend it.

Example:
  python -m electra_tf.doctor
"""

import sys

from electra_tf import cli


def main() -> int:
    """Runs the command."""
    from electra_tf.runtime.environment import check_environment

    checks = check_environment()
    for check in checks:
        mark = "!!" if check.problem else "ok"
        needed = f"(needed: {check.needed})" if check.needed else ""
        sys.stdout.write(f"{mark}  {check.subject:<26} {check.found:<12} {needed}\n")
    problems = [check for check in checks if check.problem]
    for check in problems:
        sys.stdout.write(f"problem: {check.subject} {check.found}: {check.problem}\n")
    if problems:
        return cli.EXIT_FAILURE

    from electra_tf.runtime.tensorflow_start import import_tensorflow

    tf = import_tensorflow()
    names = [device.name for device in tf.config.list_physical_devices()]
    sys.stdout.write(f"devices: {', '.join(names)}\nall is well\n")
    return 0


if __name__ == "__main__":
    cli.run(main)
