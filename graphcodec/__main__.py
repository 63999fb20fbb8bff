"""``python -m graphcodec`` does what ``graphcodec`` does."""

import sys

from graphcodec.cli import main

if __name__ == "__main__":
    sys.exit(main())
