"""Reads small text files of a folder that is not trusted: bounded, regular files only."""

import codecs
import os
import stat
from pathlib import Path

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class UnreadableFileError(Exception):
    """The file is there but cannot be used; the message says why, without its content."""


def read_small_text(path: Path, max_bytes: int) -> str | None:
    """Return the text of `path`, or None when there is no such file.

    UTF-8, or UTF-16 with a byte order mark, as Windows shells write it.

    Raises:
        UnreadableFileError: A folder, pipe or device, too large, no permission, or no text.
    """
    # Without O_NONBLOCK a pipe of that name would hold the server for ever.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as fault:
        raise UnreadableFileError(f"cannot be read ({fault.strerror})") from fault
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnreadableFileError("is no regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(max_bytes + 1)
    finally:
        os.close(descriptor)
    if len(data) > max_bytes:
        raise UnreadableFileError(f"is larger than {max_bytes} bytes")
    return _decoded(data)


def is_folder(path: Path) -> bool:
    """Return whether `path` is a folder that can be looked at; never raises."""
    return os.path.isdir(path)  # noqa: PTH112 (Path.is_dir raises where a parent is closed to us)


def is_file(path: Path) -> bool:
    """Return whether `path` is a regular file that can be looked at; never raises."""
    return os.path.isfile(path)  # noqa: PTH113 (Path.is_file raises where a parent is closed to us)


def _decoded(data: bytes) -> str:
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as fault:
        raise UnreadableFileError("is no UTF-8 text") from fault
