"""Finds the repository a folder lies in and its remote, by reading files; git is never run.

A folder is untrusted, and git runs what a repository's configuration names (hooks, helpers,
`fsmonitor`); reading a few files cannot. Source: memory.md §2.
"""

import os
from pathlib import Path

from schemory.identity.files import UnreadableFileError, is_file, is_folder, read_small_text
from schemory.identity.gitconfig import ConfigValue, parse_git_config
from schemory.identity.remotes import canonical_remote
from schemory.model.frozen import dataclass

_GIT = ".git"
_MAX_CONFIG_BYTES = 1024 * 1024
_MAX_LINK_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A repository on disk.

    Attributes:
        work_tree: The top folder of the work tree that was asked about; a bare repository itself.
        main_root: The top folder of the main work tree; the same unless this is a linked one.
        remote_id: The canonical id of `origin`, else of the only remote; None = none is usable.
        warnings: What could not be read.
    """

    work_tree: Path
    main_root: Path
    remote_id: str | None
    warnings: tuple[str, ...] = ()


def find_repository(folder: Path) -> Repository | None:
    """Return the repository that `folder`, a real path, lies in, or None."""
    for place in (folder, *folder.parents):
        marker = place / _GIT
        if _is_git_folder(marker):
            return _repository(place, marker)
        if is_file(marker):
            return _linked(place, marker)
        if _is_git_folder(place) and is_file(place / "config"):
            return _repository(_tree_of(place), place)
    return None


def _is_git_folder(folder: Path) -> bool:
    """Return whether git would take `folder` for a repository: HEAD, objects and refs."""
    return is_file(folder / "HEAD") and all(is_folder(folder / n) for n in ("objects", "refs"))


def _tree_of(git_folder: Path) -> Path:
    """Return the work tree whose git folder this is; a bare repository is its own."""
    return git_folder.parent if git_folder.name == _GIT else git_folder


def _linked(place: Path, marker: Path) -> Repository:
    """Follow a `.git` file, as worktrees, submodules and separate git folders have it."""
    target = _link(marker, place, "gitdir:")
    if target is None or not is_folder(target):
        warning = f"{marker} points to no git folder; the folder's own path is used."
        return Repository(work_tree=place, main_root=place, remote_id=None, warnings=(warning,))
    common = _link(target / "commondir", target, "")
    if common is None:
        return _repository(place, target)
    return _repository(place, common, link=target)


def _link(file: Path, base: Path, prefix: str) -> Path | None:
    """Return the real path that a one-line file names, relative to `base`, or None."""
    try:
        text = read_small_text(file, _MAX_LINK_BYTES)
    except UnreadableFileError:
        return None
    if text is None or not text.startswith(prefix):
        return None
    name = text[len(prefix) :].strip()
    if not name or "\0" in name:
        return None
    return Path(os.path.realpath(base / name))


def _repository(place: Path, git_folder: Path, *, link: Path | None = None) -> Repository:
    """Return the repository with that git folder; `link` is the worktree's own part of it."""
    try:
        text = read_small_text(git_folder / "config", _MAX_CONFIG_BYTES) or ""
        warnings: tuple[str, ...] = ()
    except UnreadableFileError as fault:
        text, warnings = "", (f"{git_folder / 'config'} {fault}; the folder's path is used.",)
    values = list(parse_git_config(text))
    return Repository(
        work_tree=place,
        main_root=_main_root(place, git_folder, link, values) if link else place,
        remote_id=_remote_id(values),
        warnings=warnings,
    )


def _main_root(place: Path, common: Path, link: Path, values: list[ConfigValue]) -> Path:
    """Return the main work tree of a linked one, once each side is seen to name the other.

    Otherwise a folder could claim the path, and so the memory, of a repository that knows nothing
    of it.
    """
    is_known = (
        link.parent == common / "worktrees" and _link(link / "gitdir", link, "") == place / _GIT
    )
    if not is_known:
        return place
    named = [v.value for v in values if (v.section, v.key) == ("core", "worktree")]
    root = _tree_of(common)
    if named and named[-1] and "\0" not in named[-1]:
        root = Path(os.path.realpath(common / named[-1]))
    marker = root / _GIT
    is_its_own = root == common or common in {marker, _link(marker, root, "gitdir:")}
    return root if is_its_own else place


def _remote_id(values: list[ConfigValue]) -> str | None:
    """Return the id of `origin`, else of the only remote; the first address of several counts."""
    addresses: dict[str, str] = {}
    for value in values:
        if (value.section, value.key) == ("remote", "url") and value.value:
            addresses.setdefault(value.subsection, value.value)
    if "origin" in addresses:
        return canonical_remote(addresses["origin"])
    return canonical_remote(*addresses.values()) if len(addresses) == 1 else None
