"""Projects: the namespaces of memory, and how one was told from a path (memory.md §2)."""

from collections.abc import Mapping
from enum import StrEnum

from schemory.model.frozen import dataclass, field

GIT_PREFIX = "git:"
"""Begins an id that was made from a repository's remote."""

PATH_PREFIX = "pathhash:"
"""Begins an id that was made from a folder's path."""

DEFAULT_PROJECT = "default"
"""The graph space of everything that was started without a project; no project may be called so."""


class ResolvedBy(StrEnum):
    """What told a project's id."""

    ARGUMENT = "argument"
    ENV = "env"
    GIT = "git"
    PATH = "path"
    SERVER = "server"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectIdentity:
    """A project and how it was recognised; nothing in it holds a credential.

    Attributes:
        id: The namespace; equal for every clone, worktree and folder of one repository.
        canonical_path: The real path of the project's own folder (the main work tree of a
            repository), or None when only an id was given.
        folder: The real path of the folder that was asked about; below `canonical_path` for a
            nested folder, elsewhere for a worktree.
        root: The real path that stored source paths are relative to: the top folder of the
            checkout that was asked about, or with an explicit id the folder itself.
        git_remote: Host and path of the remote, without user, token or scheme.
        settings: Project-domain settings of its `.env`, as text.
        warnings: What the caller should tell.
    """

    id: str
    resolved_by: ResolvedBy
    display_name: str
    canonical_path: str | None = None
    folder: str | None = None
    root: str | None = None
    git_remote: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    warnings: tuple[str, ...] = ()


def moved_project_warning(
    project: ProjectIdentity, *, last_path: str | None, last_remote: str | None
) -> str | None:
    """Return what to say when an id from a `.env` was last used from another place, or None.

    A cloned repository is untrusted: its `.env` can name another project. Source: memory.md §2.
    """
    if project.resolved_by is not ResolvedBy.ENV:
        return None
    if last_remote != project.git_remote and last_remote is not None:
        here, there = project.git_remote or project.canonical_path, last_remote
    elif last_path not in {None, project.canonical_path}:
        here, there = project.canonical_path, last_path
    else:
        return None
    return (
        f"The project id {project.id!r} comes from a .env file. It was last used from {there}, "
        f"now from {here}. Pass project_id if this is another project."
    )
