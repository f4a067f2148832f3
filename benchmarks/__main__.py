"""Every benchmark: `python -m benchmarks` (arguments as `benchmarks.graph`)."""

import sys

from benchmarks.graph import main

if __name__ == "__main__":
    sys.exit(main())
