"""What Python's `zipfile` says of archives that cannot be read."""

import zipfile
import zlib
from typing import Final

BROKEN_ZIP: Final = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OSError,
)
"""Raised at any step, of opening as of unpacking: damaged, locked, or of an unknown kind."""
