"""Which paths may be used: inside an allowed root after links are resolved (memory.md §2, §9)."""

import os
from collections.abc import Sequence
from pathlib import Path

from schemory.errors import InvalidParamError, PathNotAllowedError, Problem
from schemory.model.paths import PathStyle, is_absolute, is_inside, path_fault


def real_path(text: str) -> str:
    """Return `text`, an absolute path, with symbolic links resolved; it need not exist."""
    return os.path.realpath(text)


def absolute_path(text: str, field: str, style: PathStyle, base: str | None = None) -> str:
    """Return the path that a caller gave, made absolute from `base`, links not yet resolved.

    Raises:
        InvalidParamError: Blank, NUL, a device, a drive-relative form, or relative without a base.
    """
    fault = path_fault(text, style)
    if fault is None and base is None and not is_absolute(text, style):
        fault = "must be a full path"
    if fault is not None:
        problem = Problem(code="INVALID_PARAM", path=f"$.{field}", message=f"{field} {fault}")
        raise InvalidParamError(problem.message, problems=[problem])
    # Dots are left to the system: `link/..` means the parent of what the link points to.
    if base is None or is_absolute(text, style):
        return text
    return os.path.join(base, text)  # noqa: PTH118 (Path would drop what realpath must see)


def require_allowed(real: str, field: str, roots: Sequence[str], style: PathStyle) -> None:
    """Pass when `real` lies in one of `roots`, both with links resolved.

    Raises:
        PathNotAllowedError: It does not; whether it exists is not told.
    """
    if not any(is_inside(real, root, style) for root in roots):
        raise PathNotAllowedError(field, real, tuple(roots))


def resolve_allowed(
    text: str,
    *,
    field: str,
    folder: str | None,
    roots: Sequence[str],
    style: PathStyle,
) -> Path:
    """Return the real path of a source, save or import path, once it is known to be allowed.

    Args:
        text: As the caller gave it; relative ones are seen from `folder`.
        field: The argument's name, for messages.
        folder: Real path of the project's folder, itself an allowed root; None = only the
            id is known.
        roots: Real paths of the configured roots.
        style: The system's spelling of paths.

    Raises:
        InvalidParamError: The path cannot be used on this system.
        PathNotAllowedError: It lies outside, also through `..` or a symbolic link.
    """
    real = real_path(absolute_path(text, field, style, folder))
    require_allowed(real, field, [*roots, *([folder] if folder else [])], style)
    return Path(real)
