"""Converting large models one at a time."""

import functools
import gc
from collections.abc import Callable


def free_networks(function: Callable) -> Callable:
    """Frees the networks that a function has built when it returns.

    They refer to themselves, so that Python would free them at some later time, when the
    next one is in memory already.
    """

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        finally:
            gc.collect()

    return wrapper
