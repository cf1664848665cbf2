"""Stopping a long run in an orderly way."""

import contextlib
import signal
from collections.abc import Iterator


class StopRequest:
    """Whether somebody asked the run to stop, and how."""

    def __init__(self):
        self.signal_name: str | None = None

    def __bool__(self):
        return self.signal_name is not None


@contextlib.contextmanager
def stop_on_signals() -> Iterator[StopRequest]:
    """Turns the first Ctrl-C or SIGTERM into a request that a loop can look at.

    A second Ctrl-C interrupts as usual.
    """
    request = StopRequest()

    def remember(number, _):
        if request and number == signal.SIGINT:
            raise KeyboardInterrupt
        request.signal_name = signal.Signals(number).name

    handled = (signal.SIGINT, signal.SIGTERM)
    previous = {number: signal.signal(number, remember) for number in handled}
    try:
        yield request
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
