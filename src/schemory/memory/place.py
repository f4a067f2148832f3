"""The project a call means, and the rules that hold there: the server's, tightened by its `.env`.

A cloned repository is untrusted: its `.env` may name the project, give it a default scope and
allowed tags, and lower limits; whatever else it says does not count. Source: memory.md §2, §3.
"""

from __future__ import annotations

from pathlib import Path

from schemory.errors import InvalidParamError, SecretDetectedError
from schemory.hints import TYPE_CHECKING
from schemory.identity.allowed import real_path, resolve_allowed
from schemory.identity.dotenv import tighter_limits
from schemory.identity.resolve import ProjectRules, real_roots, resolve_project
from schemory.memory.faults import SecretFinding
from schemory.memory.labels import default_fault, normal_label, normal_tag
from schemory.memory.settings import Limits, MemorySettings
from schemory.model.frozen import dataclass, replace
from schemory.model.project import ProjectIdentity, ResolvedBy, moved_project_warning
from schemory.safety.names import find_secrets_in_name

if TYPE_CHECKING:
    from schemory.memory.inputs import ProjectRef
    from schemory.model.entry import Project

_SCOPE_DEFAULT = "MEMORY_SCOPE_DEFAULT"
_ALLOWED_TAGS = "MEMORY_ALLOWED_TAGS"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A project and its rules.

    Attributes:
        limits: The server's, or the project's tighter ones.
        scope_default: Normalised; None = an entry must name its scope.
        allowed_tags: Normalised; none = any tag.
        named_file: See `MemorySettings`.
        warnings: What every answer about this project should tell.
    """

    project: ProjectIdentity
    rules: ProjectRules
    limits: Limits
    scope_default: str | None = None
    allowed_tags: tuple[str, ...] = ()
    named_file: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The project's id."""
        return self.project.id

    @property
    def roots(self) -> tuple[str, ...]:
        """The configured roots as real paths."""
        return self.rules.allowed_roots

    def resolve_path(self, text: str, field: str) -> Path:
        """Return the real path of a source, save or import path that the call may use.

        Raises:
            InvalidParamError: It cannot be used on this system.
            PathNotAllowedError: It lies outside the project's folder and the allowed roots.
        """
        is_named = text == self.named_file and not self.roots
        return resolve_allowed(
            text,
            field=field,
            folder=self.project.folder,
            roots=[str(Path(real_path(text)).parent)] if is_named else self.roots,
            style=self.rules.style,
        )


def project_rules(settings: MemorySettings) -> ProjectRules:
    """Return what identity needs to know of the settings."""
    return ProjectRules(
        allowed_roots=real_roots(settings.allowed_roots),
        server_project=settings.server_project,
        max_id_chars=settings.limits.max_project_id_chars,
    )


def find_place(ref: ProjectRef, settings: MemorySettings, rules: ProjectRules) -> Place:
    """Return the project that `ref` means; nothing is written.

    Raises:
        InvalidParamError: No project is told, or this caller may not use it.
        SecretDetectedError: Its id seems to be a credential.
        LimitExceededError: The id is too long.
        PathNotAllowedError: The folder lies outside the allowed roots.
    """
    if ref.is_remote and ref.project_path is not None and not rules.allowed_roots:
        raise _no_folders()
    project_id = _only_project(ref, rules)
    if ref.is_remote and not (ref.project_path or project_id or rules.server_project):
        raise _no_project(ref.allowed_ids)
    _require_no_secret("project_id", project_id)
    project = _checked(resolve_project(ref.project_path, project_id, rules))
    if ref.allowed_ids is not None and project.id not in ref.allowed_ids:
        raise _not_yours(ref.allowed_ids)
    limits, limit_warnings = _limits(settings, project)
    scope, scope_warnings = _scope_default(settings, project, limits)
    tags, tag_warnings = _allowed_tags(settings, project, limits)
    told = (*project.warnings, *limit_warnings, *scope_warnings, *tag_warnings)
    return Place(
        project=project,
        rules=rules,
        limits=limits,
        scope_default=scope,
        allowed_tags=tags,
        named_file=settings.named_file,
        warnings=tuple(dict.fromkeys(told)),
    )


def _checked(project: ProjectIdentity) -> ProjectIdentity:
    """Return a project whose id and name hold no credential: both are stored and shown."""
    if project.resolved_by not in {ResolvedBy.GIT, ResolvedBy.PATH}:
        _require_no_secret("project_id", project.id)
    if not find_secrets_in_name(project.display_name):
        return project
    warning = "The project's name seems to hold a credential; its id stands for it."
    return replace(project, display_name=project.id, warnings=(*project.warnings, warning))


def _require_no_secret(field: str, text: str | None) -> None:
    """Pass unless the text seems to hold a credential.

    Raises:
        SecretDetectedError: It does.
    """
    found = find_secrets_in_name(text) if text else ()
    if not found:
        return
    rules = ", ".join(dict.fromkeys(finding.rule for finding in found))
    message = f"{field} seems to be a credential ({rules}); it is stored nowhere"
    hint = "Pass the id of a project; if that was a credential, change it where it is valid."
    spots = [SecretFinding(f.rule, field, f.start, f.end).wire() for f in found]
    raise SecretDetectedError.at(
        f"$.{field}", message, suggestion=hint, context={"findings": spots}
    )


def _only_project(ref: ProjectRef, rules: ProjectRules) -> str | None:
    """Return the project that is named, or the one a caller means who may use no other."""
    if ref.project_id is not None or ref.project_path is not None or ref.allowed_ids is None:
        return ref.project_id
    own = rules.server_project
    is_clear = len(ref.allowed_ids) == 1 and (own is None or own.id not in ref.allowed_ids)
    return ref.allowed_ids[0] if is_clear else None


def _no_folders() -> InvalidParamError:
    """Return why a principal cannot name a folder: it would look about on the server's machine."""
    message = "project_path is a folder of the server's machine, and it offers none"
    hint = "Pass project_id instead; the server can be given MEMORY_ALLOWED_ROOTS to offer some."
    return InvalidParamError.at("$.project_path", message, suggestion=hint)


def _no_project(allowed: tuple[str, ...] | None) -> InvalidParamError:
    """Return why a principal must name a project; one on this machine could name its folder."""
    message = "No project: the call names none and the server has none"
    hint = "Pass project_id." if allowed is None else _one_of(allowed)
    return InvalidParamError.at("$.project_id", message, suggestion=hint)


def _one_of(allowed: tuple[str, ...]) -> str:
    return f"Pass project_id: one of {', '.join(allowed)}." if allowed else "It may use none."


def _not_yours(allowed: tuple[str, ...]) -> InvalidParamError:
    message = "This caller may not use that project"
    return InvalidParamError.at(
        "$.project_id", message, nearest=allowed[:3], suggestions=[_one_of(allowed)]
    )


def _limits(settings: MemorySettings, project: ProjectIdentity) -> tuple[Limits, tuple[str, ...]]:
    if not (settings.folder_env or project.settings):
        return settings.limits, ()
    current = settings.limits.by_key()
    warnings: list[str] = []
    for env in (settings.folder_env, project.settings):
        current, told = tighter_limits(env, current)
        warnings += told
    return Limits.of(current), tuple(warnings)


def _scope_default(
    settings: MemorySettings, project: ProjectIdentity, limits: Limits
) -> tuple[str | None, tuple[str, ...]]:
    """Return the first default that an entry can have: the project's, the folder's, the server's.

    One that cannot be used is told of and counts as not given (memory.md §3).
    """
    given = (project.settings.get(_SCOPE_DEFAULT), settings.folder_env.get(_SCOPE_DEFAULT))
    warnings: list[str] = []
    for text in (*given, settings.scope_default):
        if not text:
            continue
        scope = normal_label(text)
        fault = default_fault(scope, limits.max_scope_chars)
        if fault is None:
            return scope, tuple(warnings)
        warnings.append(f"{_SCOPE_DEFAULT} is ignored: it {fault}.")
    return None, tuple(warnings)


def _allowed_tags(
    settings: MemorySettings, project: ProjectIdentity, limits: Limits
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the only tags allowed, and what is odd: a tag that no entry can have stays a wall."""
    text = project.settings.get(_ALLOWED_TAGS) or settings.folder_env.get(_ALLOWED_TAGS)
    given = settings.allowed_tags if text is None else text.split(",")
    tags = tuple(sorted({tag for tag in map(normal_tag, given) if tag}))
    faults = dict.fromkeys(default_fault(tag, limits.max_tag_chars) for tag in tags)
    return tags, tuple(
        f"A tag of {_ALLOWED_TAGS} can be given to no entry: it {fault}."
        for fault in faults
        if fault is not None
    )


def moved_warning(place: Place, stored: Project | None) -> tuple[str, ...]:
    """Return what to say when an id from a `.env` was last used from another place."""
    if stored is None:
        return ()
    warning = moved_project_warning(
        place.project, last_path=stored.canonical_path, last_remote=stored.git_remote
    )
    return (warning,) if warning else ()
