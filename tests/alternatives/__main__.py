"""Print what the alternatives do, as in the docs: ``python -m tests.alternatives``."""

from __future__ import annotations

import logging
import sys
import warnings

from tests.alternatives.table import table


def main() -> None:
    """Print the table."""
    logging.disable()
    warnings.simplefilter("ignore")
    sys.stdout.write(table())


if __name__ == "__main__":
    main()
