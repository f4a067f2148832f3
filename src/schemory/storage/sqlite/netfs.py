"""Whether a path lies on a network file system, where SQLite's WAL can lose data (storage.md)."""

import os
import sys

from schemory.errors import StoreError

NETWORK_FILE_SYSTEMS = frozenset(
    {
        "9p2000.l",
        "acfs",
        "afpfs",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "drvfs",
        "fuse.ceph",
        "fuse.davfs2",
        "fuse.glusterfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "orangefs",
        "smb2",
        "smb3",
        "smbfs",
        "webdav",
    }
)
_DRIVE_REMOTE = 4


def network_mount(path: str, mounts: str) -> str | None:
    """Return the network file system that holds `path`, by the text of a mount table, or None.

    Args:
        path: Absolute, symbolic links resolved.
        mounts: Lines of `/proc/mounts` or of the BSD `mount` command; the last line wins where
            one mount covers another.

    >>> network_mount("/home/me/a.db", "srv:/x /home nfs4 rw 0 0")
    'nfs4'
    """
    best, found = -1, None
    for line in mounts.splitlines():
        parsed = _parse_mount(line)
        if parsed is None:
            continue
        point, kind, options = parsed
        prefix = point.rstrip("/") + "/"
        if path.startswith(prefix) and len(prefix) >= best:
            best, found = len(prefix), _network_name(kind, options)
    return found


def _network_name(kind: str, options: str) -> str | None:
    if kind.lower() in NETWORK_FILE_SYSTEMS:
        return kind
    # WSL shows Windows drives as 9p; other 9p mounts (of sandboxes) lock as local disks do.
    if kind == "9p" and "drvfs" in options:
        return "drvfs"
    return None


def _parse_mount(line: str) -> tuple[str, str, str] | None:
    """Return (mount point, type, options) of one line, or None."""
    if " on /" in line and line.endswith(")"):  # BSD: `//me@host/x on /Volumes/x (smbfs, nodev)`
        _, _, rest = line.partition(" on /")
        point, _, details = rest.rpartition(" (")
        kind, _, options = details[:-1].partition(", ")
        return "/" + point, kind, options
    fields = line.split()
    if len(fields) < 4:  # noqa: PLR2004 (device, point, type, options)
        return None
    return _unescape(fields[1]), fields[2], fields[3]


def _unescape(point: str) -> str:
    if "\\" not in point:
        return point
    for escape, character in ((r"\040", " "), (r"\011", "\t"), (r"\012", "\n"), (r"\134", "\\")):
        point = point.replace(escape, character)
    return point


def refuse_network_path(path: str, mounts: str | None = None) -> None:
    """Refuse a database on a network file system.

    Args:
        path: Where it would be.
        mounts: The text of a mount table; None = the system's own.

    Raises:
        StoreError: It is one; says why and what to do instead.
    """
    kind = _network_kind(path) if mounts is None else network_mount(path, mounts)
    if kind is None:
        return
    raise StoreError(
        f"The store would be on a network file system ({kind}), where SQLite can lose data when "
        f"two machines write: {path}",
        context={"fileSystem": kind},
        suggestions=[
            "Put it on a local disk: --db PATH or MEMORY_DB_PATH.",
            "Share between machines with MEMORY_DB_PATH=postgresql://HOST/DATABASE.",
        ],
    )


def _network_kind(path: str) -> str | None:
    resolved = os.path.realpath(path)
    if sys.platform == "win32":
        return _windows_kind(resolved)
    else:  # noqa: RET505 (type checkers see one platform at a time)
        return network_mount(resolved, _mount_table())


def _mount_table() -> str:
    table = "/proc/self/mounts"
    if os.path.exists(table):
        with open(table, encoding="utf-8", errors="replace") as mounts:
            return mounts.read()
    import subprocess  # noqa: PLC0415 (only where there is no /proc)

    try:
        done = subprocess.run(["/sbin/mount"], capture_output=True, check=False, timeout=2)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace")


def _windows_kind(resolved: str) -> str | None:
    if resolved.startswith("\\\\") and not resolved.startswith("\\\\?\\"):
        return "network share"
    import ctypes  # noqa: PLC0415 (Windows only)

    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 (absent from other systems' stubs)
    remote = kernel.GetDriveTypeW(resolved[:3]) == _DRIVE_REMOTE
    return "network drive" if remote else None
