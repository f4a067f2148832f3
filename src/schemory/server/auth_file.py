"""The file of static tokens: read whole, or refused with every fault and its place, not a token."""

import hashlib
import hmac
import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, cast

from schemory.config.http import MIN_TOKEN_CHARS
from schemory.errors import ConfigError, Problem
from schemory.model.frozen import dataclass
from schemory.model.likeness import nearest
from schemory.model.text import nfc
from schemory.server.principals import Principal, Scope, held_scopes

_KEYS: Final = ("token", "principal", "scopes", "projects")
_MAX_BYTES: Final = 4 * 1024 * 1024
_MAX_NAME_CHARS: Final = 100
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_EXAMPLE: Final = (
    '[{"token": "…", "principal": "ana", "scopes": ["memory:write"], "projects": ["web"]}]'
)


@dataclass(frozen=True, slots=True)
class StaticTokens:
    """Tokens by their SHA-256, so that none is kept in memory as it is sent."""

    entries: tuple[tuple[bytes, Principal], ...]

    def find(self, token: str) -> Principal | None:
        """Return whom `token` stands for; takes the same time whichever it is, or none."""
        given = _digest(token)
        found = None
        for digest, principal in self.entries:
            if hmac.compare_digest(digest, given):
                found = principal
        return found


def one_token(token: str) -> StaticTokens:
    """Return the one token of the environment, which may do everything."""
    owner = Principal(name="owner", scopes=held_scopes(Scope))
    return StaticTokens(((_digest(token), owner),))


def read_tokens(path: Path) -> StaticTokens:
    """Return the tokens of a file.

    Raises:
        ConfigError: It cannot be read, others can read it, or it holds what it may not; every fault
            with its place.
    """
    raw = _read(path)
    try:
        data: object = json.loads(raw)
    except UnicodeDecodeError:
        raise _refused(path, [("$", "is no UTF-8 text")]) from None
    except json.JSONDecodeError as fault:
        place = f"line {fault.lineno}, column {fault.colno}"
        raise _refused(path, [("$", f"is no JSON ({fault.msg} at {place})")]) from None
    except (ValueError, RecursionError):
        raise _refused(path, [("$", "is no JSON of a sensible shape")]) from None
    if not isinstance(data, list):
        raise _refused(path, [("$", f"must be a list such as {_EXAMPLE}")])
    items = cast("list[object]", data)
    faults = [fault for index, item in enumerate(items) for fault in _faults(item, f"$[{index}]")]
    faults += _twins(items)
    if not items:
        faults.append(("$", "holds no token, so nobody could come in"))
    if faults:
        raise _refused(path, faults)
    entries = [cast("Mapping[str, object]", item) for item in items]
    return StaticTokens(tuple((_digest(str(each["token"])), _principal(each)) for each in entries))


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def _read(path: Path) -> bytes:
    try:
        # Non-blocking: a named pipe in the file's place must not hold up the start.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as fault:
        raise _refused(path, [("$", f"cannot be read: {fault.strerror}")]) from None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise _refused(path, [("$", "is no file")])
        if os.name == "posix":
            _require_private(path, found)
    except ConfigError:
        os.close(descriptor)
        raise
    with os.fdopen(descriptor, "rb") as file:
        raw = file.read(_MAX_BYTES + 1)
    if len(raw) > _MAX_BYTES:
        raise _refused(path, [("$", f"is larger than {_MAX_BYTES:,} bytes")])
    return raw


def _require_private(path: Path, found: os.stat_result) -> None:
    if found.st_uid not in {os.getuid(), 0}:
        raise _refused(path, [("$", "belongs to another user, who could change it")])
    if found.st_mode & _OTHERS:
        mode = stat.S_IMODE(found.st_mode)
        raise _refused(
            path,
            [("$", f"can be used by others than its owner (mode {mode:04o})")],
            f"Run: chmod 600 {path}",
        )


def _refused(
    path: Path, faults: Sequence[tuple[str, str]], suggestion: str | None = None
) -> ConfigError:
    problems = [
        Problem(
            code=ConfigError.code,
            path=f"{path} {place}".removesuffix(" $"),
            message=f"{path}: {'' if place == '$' else place + ' '}{told}",
            suggestion=suggestion,
        )
        for place, told in faults
    ]
    first = problems[0].message
    count = len(problems)
    message = first if count == 1 else f"{count} faults in the token file; the first: {first}"
    return ConfigError(message, problems=problems)


def _faults(item: object, place: str) -> Iterator[tuple[str, str]]:
    if not isinstance(item, dict):
        yield place, f"must be an object with {', '.join(_KEYS[:3])}, and perhaps projects"
        return
    entry = cast("dict[str, object]", item)
    for key in entry:
        if key not in _KEYS:
            # The key is not shown: it might be a token in the wrong place.
            near = nearest(key, _KEYS)
            meant = f" (did you mean {near[0]}?)" if near else ""
            yield place, f"has an unknown key{meant}; allowed: {', '.join(_KEYS)}"
    yield from _token_faults(entry.get("token"), f"{place}.token")
    yield from _name_faults(entry.get("principal"), f"{place}.principal")
    yield from _scope_faults(entry.get("scopes"), f"{place}.scopes")
    if "projects" in entry:
        yield from _project_faults(entry["projects"], f"{place}.projects")


def _token_faults(token: object, place: str) -> Iterator[tuple[str, str]]:
    if not isinstance(token, str) or len(token) < MIN_TOKEN_CHARS:
        yield place, f"must be a text of at least {MIN_TOKEN_CHARS} characters"
    elif not all("!" <= char <= "~" for char in token):
        yield place, "must have visible ASCII characters only"


def _name_faults(name: object, place: str) -> Iterator[tuple[str, str]]:
    fits = isinstance(name, str) and name == name.strip() and 0 < len(name) <= _MAX_NAME_CHARS
    if not fits or not str(name).isprintable():
        yield place, f"must be a name of 1 to {_MAX_NAME_CHARS} printable characters"


def _scope_faults(scopes: object, place: str) -> Iterator[tuple[str, str]]:
    allowed = ", ".join(Scope)
    if not isinstance(scopes, list):
        yield place, f"must be a list of {allowed}; an empty one opens /metrics alone"
        return
    for index, scope in enumerate(cast("list[object]", scopes)):
        if scope not in list(Scope):
            yield f"{place}[{index}]", f"must be one of {allowed}"


def _project_faults(projects: object, place: str) -> Iterator[tuple[str, str]]:
    if not isinstance(projects, list) or not projects:
        yield place, "must be a list of project ids; leave it out to allow every project"
        return
    for index, project in enumerate(cast("list[object]", projects)):
        if not isinstance(project, str) or not project.strip() or project != project.strip():
            yield f"{place}[{index}]", "must be a project's id"


def _twins(items: Sequence[object]) -> Iterator[tuple[str, str]]:
    first: dict[str, int] = {}
    for index, item in enumerate(items):
        token = cast("dict[str, object]", item).get("token") if isinstance(item, dict) else None
        if isinstance(token, str) and first.setdefault(token, index) != index:
            yield f"$[{index}].token", f"is the same as that of $[{first[token]}]"


def _principal(entry: Mapping[str, object]) -> Principal:
    projects = cast("Sequence[str] | None", entry.get("projects"))
    return Principal(
        name=str(entry["principal"]),
        scopes=held_scopes(Scope(each) for each in cast("Sequence[str]", entry["scopes"])),
        projects=None if projects is None else tuple(dict.fromkeys(map(nfc, projects))),
    )
