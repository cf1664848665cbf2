"""TensorFlow Text, imported when its operations are first needed.

Models, training from ready records and conversion work on machines without it.
"""

from electra_tf.errors import UserError


def text_operations():
    """Returns the module `tensorflow_text`.

    Raises:
        UserError: it is not installed, or does not fit TensorFlow.
    """
    try:
        import tensorflow_text
    except (ImportError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(
            f"tensorflow-text, which tokenizes, cannot be imported ({reason}); "
            "`python -m electra_tf.doctor` says which version is needed"
        ) from error
    return tensorflow_text
