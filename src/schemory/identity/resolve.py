"""From a call's arguments to one project: argument, `.env`, git remote, path (memory.md §2)."""

import sys
from collections.abc import Sequence
from pathlib import Path

from schemory.errors import InvalidParamError, LimitExceededError
from schemory.identity.allowed import absolute_path, real_path, require_allowed
from schemory.identity.dotenv import DISPLAY_NAME, PROJECT_ID, ProjectEnv, read_project_env
from schemory.identity.files import is_file, is_folder
from schemory.identity.git import Repository, find_repository
from schemory.model.frozen import dataclass, field, replace
from schemory.model.paths import PathStyle, path_key
from schemory.model.project import (
    DEFAULT_PROJECT,
    GIT_PREFIX,
    PATH_PREFIX,
    ProjectIdentity,
    ResolvedBy,
)
from schemory.model.text import nfc, text_fault

_HASH_DIGITS = 16
DEFAULT_MAX_ID_CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRules:
    """What holds for every call of one server.

    Attributes:
        allowed_roots: Real paths in which a project must lie; none = anywhere.
        server_project: The server's own project, for calls that name none.
        max_id_chars: The longest project id.
        style: How paths are spelled here.
    """

    allowed_roots: tuple[str, ...] = ()
    server_project: ProjectIdentity | None = None
    max_id_chars: int = DEFAULT_MAX_ID_CHARS
    style: PathStyle = field(default_factory=lambda: PathStyle.of(sys.platform))


def real_roots(roots: Sequence[str]) -> tuple[str, ...]:
    """Return configured roots with symbolic links resolved, as `ProjectRules` wants them."""
    return tuple(real_path(root) for root in roots)


def resolve_project(
    project_path: str | None, project_id: str | None, rules: ProjectRules
) -> ProjectIdentity:
    """Return the project that a call means; nothing is written anywhere.

    The id comes from the argument, else from `MEMORY_PROJECT_ID` in the `.env` of the folder or of
    its repository, else from the git remote, else from the path. Without both arguments it is the
    server's own project.

    Raises:
        InvalidParamError: No argument and no server project; a path that is no folder; a bad id.
        LimitExceededError: The id is too long.
        PathNotAllowedError: The folder lies outside the allowed roots.
    """
    given = None if project_id is None else _checked_id(project_id, rules.max_id_chars)
    if project_path is not None:
        return _from_path(project_path, given, rules)
    if given is not None:
        return ProjectIdentity(id=given, resolved_by=ResolvedBy.ARGUMENT, display_name=given)
    if rules.server_project is not None:
        return replace(rules.server_project, resolved_by=ResolvedBy.SERVER)
    raise _missing_project()


def path_id(real: str, style: PathStyle) -> str:
    """Return the id of a folder that has no other: a hash of its normalised real path."""
    import hashlib  # noqa: PLC0415 (projects with a name or a remote need none)

    # `surrogatepass` gives names that are no UTF-8 a hash too.
    data = path_key(real, style).encode("utf-8", "surrogatepass")
    return PATH_PREFIX + hashlib.sha256(data).hexdigest()[:_HASH_DIGITS]


def _from_path(text: str, given: str | None, rules: ProjectRules) -> ProjectIdentity:
    real = real_path(absolute_path(text, "project_path", rules.style))
    if rules.allowed_roots:
        require_allowed(real, "project_path", rules.allowed_roots, rules.style)
    folder = Path(real)
    if not is_folder(folder):
        what = "is no folder" if is_file(folder) else "is no folder that can be read"
        raise _invalid("project_path", f"project_path {what}: {text!r}")
    repository = find_repository(folder)
    env = _env_of(folder, repository)
    return _identity(folder, repository, env, given, rules)


def _env_of(folder: Path, repository: Repository | None) -> ProjectEnv:
    """Return the folder's own `.env`, else the repository's: a nested folder is the repository."""
    own = read_project_env(folder)
    if repository is None or repository.work_tree == folder or PROJECT_ID in own.values:
        return own
    top = read_project_env(repository.work_tree)
    return ProjectEnv(
        values={**top.values, **own.values},
        warnings=tuple(dict.fromkeys([*top.warnings, *own.warnings])),
    )


def _identity(
    folder: Path,
    repository: Repository | None,
    env: ProjectEnv,
    given: str | None,
    rules: ProjectRules,
) -> ProjectIdentity:
    root = repository.main_root if repository else folder
    checkout = repository.work_tree if repository else folder
    remote = repository.remote_id if repository else None
    env_id, env_warnings = (None, ()) if given else _env_id(env, rules.max_id_chars)
    if given is not None:
        project_id, resolved_by = given, ResolvedBy.ARGUMENT
    elif env_id is not None:
        project_id, resolved_by = env_id, ResolvedBy.ENV
    elif remote is not None:
        project_id, resolved_by = remote, ResolvedBy.GIT
    else:
        project_id, resolved_by = path_id(str(root), rules.style), ResolvedBy.PATH
    return ProjectIdentity(
        id=project_id,
        resolved_by=resolved_by,
        display_name=_display_name(env, root, remote),
        canonical_path=str(folder if resolved_by is ResolvedBy.ARGUMENT else root),
        folder=str(folder),
        root=str(folder if resolved_by is ResolvedBy.ARGUMENT else checkout),
        git_remote=remote.removeprefix(GIT_PREFIX) if remote else None,
        settings=env.values,
        warnings=(*env.warnings, *env_warnings, *(repository.warnings if repository else ())),
    )


def _display_name(env: ProjectEnv, root: Path, remote: str | None) -> str:
    named = env.values.get(DISPLAY_NAME)
    if named is not None and text_fault(named) is None:
        return named
    return remote.rpartition("/")[2] if remote else root.name or str(root)


def _env_id(env: ProjectEnv, max_chars: int) -> tuple[str | None, tuple[str, ...]]:
    """Return the id that a `.env` gives, with what to say when it cannot be used.

    Raises:
        InvalidParamError: It takes the form of an id that is derived: a cloned repository could
            slip into another project's memory that way.
    """
    text = env.values.get(PROJECT_ID)
    if text is None:
        return None, ()
    text = nfc(text)
    if text.casefold().startswith((GIT_PREFIX, PATH_PREFIX)):
        raise _invalid(
            "project_path",
            f"{PROJECT_ID} in the project's .env must not start with {GIT_PREFIX} or {PATH_PREFIX}",
            "Choose another id there, remove the line, or pass project_id.",
        )
    fault = _line_fault(text)
    if fault is None and text == DEFAULT_PROJECT:
        fault = f"must not be {DEFAULT_PROJECT!r}, which is reserved"
    if fault is None and len(text) > max_chars:
        fault = f"must have at most {max_chars} characters"
    if fault is not None:
        return None, (f"{PROJECT_ID} in the project's .env is ignored: it {fault}.",)
    return text, ()


def _checked_id(text: str, max_chars: int) -> str:
    composed = nfc(text.strip())
    fault = "must not be empty or blank" if not composed else _line_fault(composed)
    if fault is not None:
        raise _invalid("project_id", f"project_id {fault}")
    if len(composed) > max_chars:
        message = f"project_id must have at most {max_chars} characters, has {len(composed)}"
        raise LimitExceededError.at("$.project_id", message)
    return composed


def _line_fault(text: str) -> str | None:
    """Return why `text` is no id: answers show ids outside the marks that fence stored text."""
    several = len(text.splitlines()) > 1 or "\t" in text
    return text_fault(text) or ("must be one line without tabs" if several else None)


def _missing_project() -> InvalidParamError:
    suggestion = "Pass project_path (the folder you work in) or project_id."
    return _invalid(
        "project_path", "No project: the call names none and the server has none", suggestion
    )


def _invalid(argument: str, message: str, suggestion: str | None = None) -> InvalidParamError:
    return InvalidParamError.at(f"$.{argument}", message, suggestion=suggestion)
