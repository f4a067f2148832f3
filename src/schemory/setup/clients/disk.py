"""Reads and replaces clients' files: in one step, with a backup beside them, links followed."""

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from schemory.errors import ConfigError, Problem, StoreReadonlyError
from schemory.setup.clients.client import Client
from schemory.setup.clients.plan import Change, Kind, find_servers

BACKUP: Final = ".schemory-backup"
"""Ends the name of a backup; a number follows where there are several."""

_MAX_BYTES: Final = 64 * 1024 * 1024
_MAX_BACKUPS: Final = 20


def read_file(file: Path) -> bytes | None:
    """Return a file's bytes, or None when there is none.

    Raises:
        ConfigError: It is no regular file, cannot be read, or is larger than 64 MiB.
    """
    try:
        state = file.stat()  # follows links: dotfiles often are some
        if not stat.S_ISREG(state.st_mode):
            raise _unusable(file, "is no regular file")
        if state.st_size > _MAX_BYTES:
            raise _unusable(file, "is larger than 64 MiB")
        return file.read_bytes()
    except FileNotFoundError:
        if file.is_symlink():
            raise _unusable(file, "is a link that leads nowhere") from None
        return None
    except NotADirectoryError:
        raise _unusable(file, "lies below something that is no folder") from None
    except OSError as fault:
        raise _unusable(file, f"cannot be read ({fault.strerror})") from None


def read_servers(client: Client, file: Path) -> Mapping[str, object]:
    """Return the servers that a file of `client` names; none where there is no file.

    Raises:
        ConfigError: The file cannot be read or understood.
    """
    data = read_file(file)
    return {} if data is None else find_servers(client, data, str(file)).servers


def backups_of(file: Path) -> list[Path]:
    """Return the backups of a file, newest first."""
    names = [f"{file.name}{BACKUP}", *(f"{file.name}{BACKUP}-{n}" for n in range(2, _MAX_BACKUPS))]
    return [file.with_name(name) for name in reversed(names) if file.with_name(name).is_file()]


def apply_change(file: Path, change: Change, *, is_private: bool = True) -> Path | None:
    """Bring a file to what was planned and return its new backup, if one was made.

    The file's mode and owner stay; a link stays one, its target is replaced. A new file is for the
    owner's eyes only unless `is_private` is off.

    Raises:
        ConfigError: The file changed since it was read.
        StoreReadonlyError: It is write-protected or cannot be written; it is as it was.
    """
    if change.before == change.after:
        return None
    if read_file(file) != change.before:
        raise _unusable(file, "was changed by another program just now; run the command again")
    refuse_protected(file)
    try:
        if change.after is None:
            file.unlink()
            return None
        kept = None
        if change.before is not None and change.kind is not Kind.RESTORED:
            kept = _keep(file, change.before)
        _replace(Path(os.path.realpath(file)), change.after, is_private=is_private)
    except OSError as fault:
        reason = fault.strerror or type(fault).__name__
        raise StoreReadonlyError(
            f"Cannot write {file}: {reason}; it is as it was", context={"path": str(file)}
        ) from fault
    if change.kind is Kind.RESTORED:
        _drop_backup(file, change.after)
    return kept


def refuse_protected(file: Path) -> None:
    """Refuse a file that somebody protected; putting another in its place would go around that.

    Raises:
        StoreReadonlyError: It may not be written.
    """
    try:
        is_writable = file.stat().st_mode & 0o222 and os.access(file, os.W_OK)
    except FileNotFoundError:
        return
    if not is_writable:
        raise StoreReadonlyError(
            f"{file} is write-protected; it was left as it is",
            context={"path": str(file)},
            suggestions=["Give yourself write permission on it, then run the command again."],
        )


def remove_empty_folders(file: Path, top: Path) -> None:
    """Remove the folders of a deleted file, below `top`, that hold nothing else."""
    for folder in file.parents:
        if folder == top or not folder.is_relative_to(top):
            return
        try:
            folder.rmdir()
        except OSError:  # not empty, or not ours to remove
            return


def _keep(file: Path, data: bytes) -> Path | None:
    """Write a backup beside the file; None when one has these bytes already."""
    taken = backups_of(file)
    if any(read_file(backup) == data for backup in taken):
        return None
    number = len(taken) + 1
    while True:
        backup = file.with_name(f"{file.name}{BACKUP}" + (f"-{number}" if number > 1 else ""))
        if not os.path.lexists(backup):
            break
        number += 1
    handle = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    _take_after(backup, file.stat())
    return backup


def _drop_backup(file: Path, data: bytes) -> None:
    for backup in backups_of(file):
        if read_file(backup) == data:
            with suppress(OSError):  # one too many does no harm
                backup.unlink()


def _replace(target: Path, data: bytes, *, is_private: bool) -> None:
    """Replace or create a file so that it is never half-written."""
    import tempfile  # noqa: PLC0415 (a few milliseconds of start-up, for what few runs do)

    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}-", suffix=".tmp", dir=target.parent)
    new = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        if target.exists():
            _take_after(new, target.stat())
        elif not is_private:
            new.chmod(0o666 & ~_umask())
        new.replace(target)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise


def _take_after(file: Path, like: os.stat_result) -> None:
    """Give a file the owner, if we may, and the mode of another."""
    if hasattr(os, "chown") and (like.st_uid, like.st_gid) != (os.getuid(), os.getgid()):
        with suppress(OSError):  # only root may give files away
            os.chown(file, like.st_uid, like.st_gid)
    file.chmod(stat.S_IMODE(like.st_mode))


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _unusable(file: Path, fault: str) -> ConfigError:
    message = f"{file} {fault}"
    return ConfigError(
        message, problems=[Problem(code=ConfigError.code, path=str(file), message=message)]
    )
