"""Writes schema files so that a crash leaves the old or the new one, never half of either."""

import contextlib
import os
from pathlib import Path

from schemory.errors import StoreError, StoreReadonlyError

_PRIVATE_FOLDER = 0o700


def make_private_folder(folder: Path) -> None:
    """Create `folder` and its parents if they are missing; only the owner may look into it.

    Raises:
        StoreReadonlyError: It cannot be created.
    """
    try:
        folder.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error


def write_file(path: Path, text: str) -> None:
    """Replace `path` by `text` in one step, on disk when this returns.

    Raises:
        StoreReadonlyError: It cannot be written; the old file is untouched.
    """
    import tempfile  # noqa: PLC0415 (a few milliseconds of start-up, for what few runs do)

    try:
        handle, name = tempfile.mkstemp(prefix=".new-", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            if path.exists():
                Path(name).chmod(path.stat().st_mode & 0o777)
            Path(name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
        _sync_folder(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error


def remove_file(path: Path) -> None:
    """Delete `path`; gone from disk when this returns.

    Raises:
        StoreReadonlyError: It cannot be deleted.
    """
    try:
        path.unlink(missing_ok=True)
        _sync_folder(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":  # elsewhere a folder cannot be opened
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _unwritable(path: Path, error: OSError) -> StoreError:
    reason = error.strerror or type(error).__name__
    return StoreReadonlyError(f"Cannot write {path}: {reason}", context={"path": str(path)})
