"""Errors that a user can mend, as opposed to programming mistakes.

`cli.run` turns a `UserError` into one line on standard error and exit status 2;
everything else keeps its traceback. They are `ValueError`s too, so that callers
of the Python API can treat a wrong value as they do elsewhere in Keras.
"""


class UserError(ValueError):
    """The request or its input is wrong: the message says what, where and the remedy."""


class ConfigError(UserError):
    """A setting is unknown, of the wrong type, out of range or contradicts another."""


class DataError(UserError):
    """A corpus, vocabulary, record file, checkpoint or preset cannot be used."""


class WorkError(RuntimeError):
    """The request was right and the work failed (disk full, training diverged): status 1.

    The message says what happened, what is still intact and how to go on.
    """
