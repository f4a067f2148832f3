"""The file an entry speaks of: where it is, what it was, and whether it is still so (memory.md §4).

A fingerprint is taken when the entry is written, so that a later read can say that the file has
changed since.
"""

import hashlib
import os
import stat
from pathlib import Path

from schemory.errors import SchemoryError
from schemory.identity.allowed import resolve_allowed
from schemory.memory.place import Place
from schemory.memory.results import SourceState
from schemory.model.entry import Entry, Project
from schemory.model.frozen import dataclass
from schemory.model.paths import is_absolute, is_inside, relative_path

MAX_HASHED_BYTES = 64 * 1024 * 1024
"""Larger files are named, not fingerprinted."""

_CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a file was: hex SHA-256, size, and git's id of its content."""

    sha256: str
    size: int
    blob: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A source file as it is stored with an entry.

    Attributes:
        path: Relative to the project when inside it, `/`-separated; else absolute.
        fingerprint: None = no such file, or none that can be read.
    """

    path: str
    fingerprint: Fingerprint | None = None
    warnings: tuple[str, ...] = ()


def locate_source(place: Place, text: str) -> Source:
    """Return the source that a caller names by `text`; it need not exist.

    Raises:
        InvalidParamError: It cannot be a path on this system.
        PathNotAllowedError: It lies outside the project's folder and the allowed roots.
    """
    real = place.resolve_path(text, "source_path")
    style = place.rules.style
    base = place.project.root
    inside = relative_path(str(real), base, style) if base is not None else None
    stored = inside if inside is not None else real.as_posix()
    try:
        return Source(path=stored, fingerprint=fingerprint(real))
    except _TooLargeError:
        limit = f"{MAX_HASHED_BYTES // (1024 * 1024)} MiB"
        warning = f"source_path is larger than {limit}; later changes to it will not be noticed."
        return Source(path=stored, warnings=(warning,))


def source_state(place: Place, entry: Entry, stored: Project | None) -> SourceState | None:
    """Return how the entry's file stands to what it was; None = not known, or not to be looked at.

    With only a project id the file is looked for where the project was last seen, and only inside
    the configured roots.
    """
    if entry.source_path is None or entry.source_sha256 is None:
        return None
    real = _allowed_place(place, entry.source_path, stored)
    if real is None:
        return None
    if entry.source_bytes is not None and _size(real) not in {None, entry.source_bytes}:
        return "changed"
    try:
        now = fingerprint(real)
    except _TooLargeError:
        return "changed"
    if now is None:
        return "missing"
    return "unchanged" if now.sha256 == entry.source_sha256 else "changed"


def fingerprint(path: Path) -> Fingerprint | None:
    """Return what a regular file is now; None when there is none that can be read.

    Raises:
        _TooLargeError: It is larger than `MAX_HASHED_BYTES`.
    """
    # Without O_NONBLOCK a pipe of that name would hold the server for ever.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except (OSError, ValueError):
        return None
    try:
        told = os.fstat(descriptor)
        if not stat.S_ISREG(told.st_mode):
            return None
        if told.st_size > MAX_HASHED_BYTES:
            raise _TooLargeError
        return _hashed(descriptor, told.st_size)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _hashed(descriptor: int, told_size: int) -> Fingerprint:
    whole = hashlib.sha256()
    # git names a content by the SHA-1 of a header and the bytes; no safety rests on it.
    blob = hashlib.sha1(b"blob %d\0" % told_size, usedforsecurity=False)
    size = 0
    while chunk := os.read(descriptor, _CHUNK):
        whole.update(chunk)
        blob.update(chunk)
        size += len(chunk)
    return Fingerprint(whole.hexdigest(), size, blob.hexdigest())


class _TooLargeError(Exception):
    """The file is too large to be read for a hash."""


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return None


def _allowed_place(place: Place, source_path: str, stored: Project | None) -> Path | None:
    """Return where the file is, if this call may look there."""
    style = place.rules.style
    base = place.project.root
    if base is None and stored is not None:
        base = stored.canonical_path
    if base is None and not is_absolute(source_path, style):
        return None
    folder = place.project.root
    if base is not None and any(is_inside(base, root, style) for root in place.roots):
        folder = base
    try:
        return resolve_allowed(
            str(Path(base) / source_path) if base is not None else source_path,
            field="source_path",
            folder=folder,
            roots=place.roots,
            style=style,
        )
    except SchemoryError:
        return None
