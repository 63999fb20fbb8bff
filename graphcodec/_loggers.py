"""The loggers of the package, which say nothing until somebody listens."""

import logging

__all__ = ["logger"]

_PACKAGE = "graphcodec"


def logger(name: str) -> logging.Logger:
    """Return the logger of a part of the package.

    Without a handler above them, warnings would go to the standard error; a library is
    not to decide that: https://docs.python.org/3/howto/logging.html#library-config

    Args:
        name: The part: ``cache`` for ``graphcodec.cache``.
    """
    above = logging.getLogger(_PACKAGE)
    if not any(isinstance(each, logging.NullHandler) for each in above.handlers):
        above.addHandler(logging.NullHandler())
    return above.getChild(name)
