"""The files of a folder to move in: found in order, read bounded, links out of it refused."""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from schemory.errors import InvalidParamError
from schemory.model.frozen import dataclass
from schemory.model.moment import moment_text
from schemory.model.paths import PathStyle, is_inside, relative_path
from schemory.model.text import encodable
from schemory.transfer.foreign.draft import Place, SourceFile, Tally
from schemory.transfer.foreign.text import BinaryError, UnreadableTextError, clean, decode

MAX_FILE_BYTES: Final = 16 * 1024 * 1024
"""A Markdown file over this size is no note."""

_MAX_DEPTH: Final = 40
_MAX_FILES: Final = 200_000
_NEVER: Final = frozenset(
    {
        *(".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox"),
        *(".obsidian", ".trash", ".idea", ".vscode", "dist", "build", "target", "vendor"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """What is moved in.

    Attributes:
        path: The file or folder, links resolved.
        folder: The folder that nothing may lead out of.
        project_root: Source paths inside it are stored relative to it; None = all absolute.
        allowed_roots: Other folders whose files entries may name as their source.
        style: The system's spelling of paths.
    """

    path: Path
    folder: Path
    project_root: str | None
    style: PathStyle
    allowed_roots: tuple[str, ...] = ()

    def is_allowed(self, path: Path) -> bool:
        """Whether entries may name a file as their source."""
        roots = (*self.allowed_roots, *((self.project_root,) if self.project_root else ()))
        return any(is_inside(str(path), root, self.style) for root in roots)

    def stored_path(self, path: Path) -> str:
        """Return a file's path as entries store it."""
        inside = None
        if self.project_root is not None:
            inside = relative_path(str(path), self.project_root, self.style)
        return inside if inside is not None else path.as_posix()

    def shown(self, path: Path) -> str:
        """Return a file's path as people want to read it: from the folder that was named."""
        return path.relative_to(self.folder).as_posix()


@dataclass(frozen=True, slots=True)
class RawFile:
    """A file's bytes, its name for people, and when it was changed last."""

    shown: str
    data: bytes
    changed_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """A file that was read: its cleaned text, where it is, and when it was changed last."""

    path: Path
    shown: str
    text: str
    source: SourceFile
    changed_at: str


def open_root(
    path: Path,
    *,
    project_root: str | None,
    style: PathStyle,
    allowed_roots: tuple[str, ...] = (),
) -> Root:
    """Return what a person named; a link named outright is followed.

    Raises:
        InvalidParamError: There is nothing of that name, or it is neither file nor folder.
    """
    try:
        real = path.resolve(strict=True)
        mode = real.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise _not_usable(path, "does not exist") from None
    except (OSError, RuntimeError) as fault:
        raise _not_usable(path, f"cannot be read ({fault})") from fault
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise _not_usable(path, "is neither a file nor a folder")
    folder = real if stat.S_ISDIR(mode) else real.parent
    return Root(
        path=real,
        folder=folder,
        project_root=project_root,
        style=style,
        allowed_roots=allowed_roots,
    )


def find_files(root: Root, wanted: Callable[[Path], bool], tally: Tally) -> Iterator[Path]:
    """Yield the files of a root that are wanted, by path; what is passed over is counted.

    Hidden folders and those of tools (`.git`, `node_modules` …) are not entered, links are not
    followed: inside they lead to what is read anyway, outside they lead where nobody said.
    """
    if root.path.is_file():
        yield root.path
        return
    count = 0
    for path in _walk(root, root.folder, tally, 0):
        if not wanted(path):
            tally.skipped["other files"] += 1
            continue
        count += 1
        if count > _MAX_FILES:
            raise _not_usable(root.path, f"holds more than {_MAX_FILES:,} files to move in")
        yield path


def read_file(root: Root, path: Path, tally: Tally) -> RawFile | None:
    """Return a file as it is, None when it cannot be read; the tally says why."""
    shown = root.shown(path)
    if encodable(shown) != shown:
        tally.refuse(Place(encodable(shown)), "has a name that is no text")
        return None
    try:
        data, changed = _read(path)
    except OSError as fault:
        tally.refuse(Place(shown), f"cannot be read ({fault.strerror})")
        return None
    if data is None:
        tally.refuse(Place(shown), f"is larger than {MAX_FILE_BYTES // 1024 // 1024} MiB")
        return None
    tally.files += 1
    return RawFile(shown, data, moment_text(datetime.fromtimestamp(changed, UTC)))


def read_text_file(root: Root, path: Path, tally: Tally) -> TextFile | None:
    """Return a file's text, None when it is not for us; the tally says why."""
    raw = read_file(root, path, tally)
    if raw is None:
        return None
    try:
        cleaned = clean(decode(raw.data))
    except BinaryError:
        tally.skipped["binary files"] += 1
        tally.files -= 1
        return None
    except UnreadableTextError as fault:
        tally.refuse(Place(raw.shown), str(fault))
        tally.files -= 1
        return None
    tally.removed.update(cleaned.removed)
    return TextFile(
        path=path,
        shown=raw.shown,
        text=cleaned.text,
        source=_fingerprint(root, path, raw.data),
        changed_at=raw.changed_at,
    )


def _fingerprint(root: Root, path: Path, data: bytes) -> SourceFile:
    """Return a source file with what its bytes are."""
    # git names a content by the SHA-1 of a header and the bytes; no safety rests on it.
    blob = hashlib.sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    blob.update(data)
    sha = hashlib.sha256(data).hexdigest()
    place = root.stored_path(path)
    return SourceFile(place, sha, len(data), blob.hexdigest(), is_allowed=root.is_allowed(path))


def _walk(root: Root, folder: Path, tally: Tally, depth: int) -> Iterator[Path]:
    if depth > _MAX_DEPTH:
        tally.refuse(Place(root.shown(folder)), "lies too deep")
        return
    try:
        with os.scandir(folder) as scan:
            items = sorted(scan, key=lambda item: item.name)
    except OSError as fault:
        tally.refuse(Place(root.shown(folder)), f"cannot be read ({fault.strerror})")
        return
    for item in items:
        if item.is_symlink():
            _count_link(root, item, tally)
        elif item.is_dir(follow_symlinks=False):
            if _is_entered(item.name):
                yield from _walk(root, Path(item.path), tally, depth + 1)
        elif item.is_file(follow_symlinks=False):
            yield Path(item.path)
        else:
            tally.skipped["pipes and devices"] += 1


def _is_entered(name: str) -> bool:
    shown = {".cursor", ".claude", ".github", ".clinerules", ".roo", ".codex", ".gemini"}
    return name not in _NEVER and (not name.startswith(".") or name in shown)


def _count_link(root: Root, item: "os.DirEntry[str]", tally: Tally) -> None:
    target = os.path.realpath(item.path)
    if relative_path(target, str(root.folder), root.style) is None:
        tally.refuse(Place(root.shown(Path(item.path))), "is a link that leads out of the folder")
    else:
        tally.skipped["links to files that are read anyway"] += 1


def _read(path: Path) -> tuple[bytes | None, float]:
    # Without O_NONBLOCK a pipe put there meanwhile would hold us for ever.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(descriptor, "rb") as file:
        facts = os.fstat(file.fileno())
        data = file.read(MAX_FILE_BYTES + 1) if stat.S_ISREG(facts.st_mode) else b""
    return (None if len(data) > MAX_FILE_BYTES else data), facts.st_mtime


def _not_usable(path: Path, fault: str) -> InvalidParamError:
    return InvalidParamError.at("PATH", fault, headline=f"{path} {fault}")
