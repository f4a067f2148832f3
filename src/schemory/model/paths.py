r"""Rules for paths as text, for each system's spelling and without touching a disk (memory.md §9).

Everything here is lexical. Where symbolic links matter, the caller resolves them first and asks
these rules about the result. Windows paths follow the same rules on every platform, so that they
can be tested anywhere.
"""

import unicodedata
from enum import StrEnum

from schemory.model.frozen import dataclass

_DEVICES = frozenset(
    {
        *("con", "prn", "aux", "nul", "conin$", "conout$", "clock$"),
        *(f"{port}{digit}" for port in ("com", "lpt") for digit in "123456789¹²³"),
    }
)
_FORBIDDEN_ON_WINDOWS = frozenset('<>:"|?*')
_FIRST_PRINTABLE = " "


class PathStyle(StrEnum):
    """Whose spelling of paths applies."""

    LINUX = "linux"
    MACOS = "macos"
    WINDOWS = "windows"

    @classmethod
    def of(cls, platform: str) -> "PathStyle":
        """Return the style of a `sys.platform`.

        >>> [PathStyle.of(name).value for name in ("win32", "darwin", "linux", "freebsd14")]
        ['windows', 'macos', 'linux', 'linux']
        """
        return {"win32": cls.WINDOWS, "darwin": cls.MACOS}.get(platform, cls.LINUX)


@dataclass(frozen=True, slots=True)
class _Parts:
    r"""A path taken apart; `anchor` is empty for a relative one.

    A Windows path that depends on the current drive or folder (`C:x`, `\x`) has an anchor but is
    not absolute.
    """

    anchor: str
    segments: tuple[str, ...]
    is_absolute: bool


def path_fault(path: str, style: PathStyle) -> str | None:
    r"""Return why `path` cannot be used, or None; it may be relative and need not exist.

    >>> path_fault("notes/NUL.txt", PathStyle.WINDOWS)
    "must not use the device name 'NUL.txt'"
    >>> path_fault("notes/NUL.txt", PathStyle.LINUX)
    """
    if not path.strip():
        return "must not be empty or blank"
    if "\0" in path:
        return "must not contain the character NUL"
    if any("\ud800" <= char <= "\udfff" for char in path):
        return "must not contain a lone surrogate"
    return _windows_fault(path) if style is PathStyle.WINDOWS else None


def is_absolute(path: str, style: PathStyle) -> bool:
    r"""Return whether `path` names one place, whatever the current folder and drive are.

    >>> [is_absolute(p, PathStyle.WINDOWS) for p in ("C:\\x", "//srv/share/x", "C:x", "/x", "x")]
    [True, True, False, False, False]
    """
    return _parse(path, style).is_absolute


def normal_path(path: str, style: PathStyle) -> str:
    r"""Return `path` with one kind of separator, and without `.`, `..` and empty segments.

    `..` above the root is dropped; at the start of a relative path it stays.

    >>> normal_path("/a//b/../c/", PathStyle.LINUX), normal_path("../x/.", PathStyle.LINUX)
    ('/a/c', '../x')
    >>> normal_path("//?/c:/Work\\..\\Api ", PathStyle.WINDOWS)
    'C:\\Api'
    """
    parts = _parse(path, style)
    separator = "\\" if style is PathStyle.WINDOWS else "/"
    return (parts.anchor + separator.join(_collapsed(parts))) or "."


def join_path(base: str, path: str, style: PathStyle) -> str:
    """Return `path` seen from the folder `base`, in normal form; an absolute one stands alone."""
    if _parse(path, style).anchor:
        return normal_path(path, style)
    return normal_path(f"{base}/{path}", style)


def is_inside(path: str, root: str, style: PathStyle) -> bool:
    r"""Return whether the absolute `path` is the folder `root` or lies below it.

    Letter case counts on Linux and macOS and does not on Windows. Relative paths are inside
    nothing.

    >>> is_inside("c:/work/api/x.md", "C:\\Work", PathStyle.WINDOWS)
    True
    >>> is_inside("/work2", "/work", PathStyle.LINUX), is_inside("/a/../b", "/a", PathStyle.LINUX)
    (False, False)
    """
    if not (is_absolute(path, style) and is_absolute(root, style)):
        return False
    inner, outer = _keys(path, style), _keys(root, style)
    return inner[: len(outer)] == outer


def relative_path(path: str, root: str, style: PathStyle) -> str | None:
    """Return `path` seen from `root`, with `/` on every system, or None when it is not inside.

    >>> relative_path("/work/api/docs/a.md", "/work/api", PathStyle.LINUX)
    'docs/a.md'
    """
    if not is_inside(path, root, style):
        return None
    inner, outer = _collapsed(_parse(path, style)), _collapsed(_parse(root, style))
    return "/".join(inner[len(outer) :]) or "."


def path_key(path: str, style: PathStyle) -> str:
    r"""Return the text in which two spellings of one absolute path are equal; its hash's input.

    Separators become `/`; Windows folds case; macOS composes accents, which its file systems do
    not tell apart. Source: memory.md §2.

    >>> path_key("C:\\Users\\Ann\\", PathStyle.WINDOWS), path_key("/home/Ann/", PathStyle.LINUX)
    ('c:/users/ann', '/home/Ann')
    """
    anchor, *segments = _keys(path, style)
    return (anchor.replace("\\", "/") + "/".join(segments)) or "."


def _keys(path: str, style: PathStyle) -> tuple[str, ...]:
    """Return anchor and segments as they are compared."""
    parts = _parse(path, style)
    return tuple(_fold(text, style) for text in (parts.anchor, *_collapsed(parts)))


def _fold(text: str, style: PathStyle) -> str:
    if style is PathStyle.WINDOWS:
        return text.casefold()
    return unicodedata.normalize("NFC", text) if style is PathStyle.MACOS else text


def _parse(path: str, style: PathStyle) -> _Parts:
    if style is PathStyle.WINDOWS:
        return _parse_windows(path)
    segments = tuple(segment for segment in path.split("/") if segment not in {"", "."})
    is_rooted = path.startswith("/")
    return _Parts("/" if is_rooted else "", segments, is_rooted)


def _parse_windows(path: str) -> _Parts:
    text = path.replace("/", "\\")
    if text[:4] == "\\\\?\\":
        text = text[4:]
        if text[:4].casefold() == "unc\\":
            text = "\\\\" + text[4:]
    if text.startswith("\\\\"):
        server, _, rest = text[2:].partition("\\")
        share, _, rest = rest.partition("\\")
        is_named = all(name.strip(". ") and name.isprintable() for name in (server, share))
        return _Parts(f"\\\\{server}\\{share}\\", _windows_segments(rest), is_named)
    if text[1:2] == ":" and text[0].isascii() and text[0].isalpha():
        drive, rest = text[0].upper() + ":", text[2:]
        is_rooted = rest.startswith("\\")
        return _Parts(drive + ("\\" if is_rooted else ""), _windows_segments(rest), is_rooted)
    return _Parts("\\" if text.startswith("\\") else "", _windows_segments(text), is_absolute=False)


def _windows_segments(text: str) -> tuple[str, ...]:
    """Split, without the trailing dots and blanks that Windows ignores in a name."""
    names = (name if name == ".." else name.rstrip(". ") for name in text.split("\\"))
    return tuple(name for name in names if name)


def _collapsed(parts: _Parts) -> list[str]:
    kept: list[str] = []
    for segment in parts.segments:
        if segment != "..":
            kept.append(segment)
        elif kept and kept[-1] != "..":
            kept.pop()
        elif not parts.is_absolute:
            kept.append(segment)
    return kept


def _windows_fault(path: str) -> str | None:
    text = path.replace("/", "\\")
    if text.startswith("\\\\.\\") or text[:15].casefold() == "\\\\?\\globalroot\\":
        return "must not address a device"
    parts = _parse_windows(path)
    if not parts.is_absolute and (parts.anchor or text.startswith("\\")):
        return "must be a full path (`C:\\folder` or `\\\\server\\share\\folder`) or a relative one"
    for segment in (*parts.anchor[2:].split("\\"), *parts.segments):
        if any(char in _FORBIDDEN_ON_WINDOWS or char < _FIRST_PRINTABLE for char in segment):
            return f'must not use one of <>:"|?* or a control character in {segment!r}'
        if is_device_name(segment):
            return f"must not use the device name {segment!r}"
    return None


def is_device_name(segment: str) -> bool:
    """Return whether Windows takes one segment of a path for a device: `CON`, `nul.txt`.

    >>> [is_device_name(s) for s in ("CON", "nul.tar.gz", "Aux . ", "com¹", "console", "com10")]
    [True, True, True, True, False, False]
    """
    return segment.partition(".")[0].rstrip(" ").casefold() in _DEVICES
