"""`python -m surveillance` is `feltwatch`."""

import sys

from surveillance.cli import main

if __name__ == "__main__":
    sys.exit(main())
