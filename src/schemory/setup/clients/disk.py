"""Reads and replaces clients' files: in one step, with a backup beside them, links followed."""

import os
import stat
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from schemory.errors import ConfigError, StoreReadonlyError
from schemory.setup.clients.client import Client
from schemory.setup.clients.plan import Change, Kind, find_servers
from schemory.storage.files import PRIVATE_MODE, file_error, replace_file

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


def may_mention(file: Path, name: str) -> bool:
    """Whether `name` stands in a file that cannot be understood; also true where it is unread."""
    try:
        return name.encode() in (read_file(file) or b"")
    except ConfigError:
        return file.is_file()


def backups_of(file: Path) -> list[Path]:
    """Return the backups of a file, newest first."""
    names = [f"{file.name}{BACKUP}", *(f"{file.name}{BACKUP}-{n}" for n in range(2, _MAX_BACKUPS))]
    return [file.with_name(name) for name in reversed(names) if file.with_name(name).is_file()]


def apply_change(file: Path, change: Change, *, is_private: bool = True) -> Path | None:
    """Bring a file to what was planned and return its new backup, if one was made.

    The file's mode and owner stay; a link stays one, its target is replaced. A file of several
    names is written in its place, or the others would keep the old text. A new file is for the
    owner's eyes only unless `is_private` is off.

    Raises:
        ConfigError: The file changed since it was read.
        StoreReadonlyError, StoreFullError, StoreError: It is write-protected or cannot be written;
            it is as it was.
    """
    if change.before == change.after:
        return None
    if read_file(file) != change.before:
        raise _unusable(file, "was changed by another program just now; run the command again")
    refuse_protected(file)
    try:
        if change.after is None:
            file.unlink()
            _drop_backups(file, change.needless)
            return None
        kept = None
        if change.before is not None and change.kind is not Kind.RESTORED:
            kept = _keep(file, change.before)
        # A new folder is as open as the umask lets it be: it is the client's, or the project's.
        Path(os.path.realpath(file)).parent.mkdir(parents=True, exist_ok=True)
        if _has_other_names(file):
            _overwrite(file, change.after)
        else:
            replace_file(file, (change.after,), new_mode=PRIVATE_MODE if is_private else None)
    except OSError as fault:
        raise file_error(fault, file) from fault
    if change.kind is Kind.RESTORED:
        _drop_backups(file, (change.after, *change.needless))
    return kept


def _has_other_names(file: Path) -> bool:
    return file.exists() and file.stat().st_nlink > 1


def _overwrite(file: Path, data: bytes) -> None:
    """Write a file in its place; a backup has its earlier bytes if this is cut off."""
    with file.open("r+b") as out:
        out.write(data)
        out.truncate()
        out.flush()
        os.fsync(out.fileno())


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


def _drop_backups(file: Path, needless: Collection[bytes]) -> None:
    for backup in backups_of(file):
        if read_file(backup) in needless:
            with suppress(OSError):  # one too many does no harm
                backup.unlink()


def _take_after(file: Path, like: os.stat_result) -> None:
    """Give a file the owner, if we may, and the mode of another."""
    if hasattr(os, "chown") and (like.st_uid, like.st_gid) != (os.getuid(), os.getgid()):
        with suppress(OSError):  # only root may give files away
            os.chown(file, like.st_uid, like.st_gid)
    file.chmod(stat.S_IMODE(like.st_mode))


def _unusable(file: Path, fault: str) -> ConfigError:
    message = f"{file} {fault}"
    return ConfigError.at(str(file), message)
