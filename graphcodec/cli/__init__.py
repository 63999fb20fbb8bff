"""The command line; importing it loads neither click nor rich."""

import sys
from collections.abc import Sequence
from importlib.util import find_spec

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> int:
    """Run ``graphcodec`` and return the exit code.

    0 if all is well, 1 if the input is wrong, 2 if the call is wrong.

    Args:
        args: What stands behind the name of the program; by default what does there.
    """
    if find_spec("click") is None or find_spec("rich") is None:
        sys.stderr.write("graphcodec: pip install 'graphcodec[cli]'\n")
        return 2
    from graphcodec.cli._app import run  # noqa: PLC0415 - needs what was looked for

    return run(args)
