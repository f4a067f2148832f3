"""An entry: what a client is to start, as each client wants it written."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final, cast

from schemory.errors import Problem, SecretDetectedError, UnsupportedError, UsageError
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json
from schemory.safety.secrets import find_secrets
from schemory.setup.clients.client import Client, Shape

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,47}")
_URL_PASSWORD: Final = re.compile(r"://[^/?#@\s]*:[^/?#@\s]+@")
_QUERY_PASSWORD: Final = re.compile(
    r"[?&](?:password|passwd|pwd|sslpassword)=[^&#\s]", re.IGNORECASE
)
_STARTS_US: Final = re.compile(r"(?:^|[/\\])schemory(?:\.exe)?$", re.IGNORECASE)
_RUNS: Final = re.compile(r"(?:^|[/\\])(?:uvx?|pipx)(?:\.exe)?$", re.IGNORECASE)
_PACKAGE: Final = re.compile(r"schemory(?:[@=<>~!\[].*)?")
_CONFIG_FILE: Final = (
    "Put the setting into memory.config.json beside the store, which only you can read; "
    "docs/how-to/configure.md tells how."
)
_ENVIRONMENT: Final = {Shape.OPENCODE: "environment"}


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the environment that a server is started with.

    Attributes:
        value: Its text; None = what it is in the client's own environment.
    """

    name: str
    value: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What a client is to start: an absolute command, its arguments, its variables."""

    command: str
    args: tuple[str, ...]
    env: tuple[Variable, ...] = ()

    def words(self) -> list[str]:
        """Return the whole command line."""
        return [self.command, *self.args]


def check_name(name: str) -> str:
    """Return `name` if every client takes it for an entry.

    Raises:
        UsageError: It has other characters, or more than 48.
    """
    if _NAME.fullmatch(name):
        return name
    message = f"--name is {name!r}; allowed: a letter, then up to 47 letters, digits, - and _"
    raise UsageError.at("--name", message)


def parse_variable(text: str) -> Variable:
    """Return the variable that `NAME` or `NAME=VALUE` says.

    Raises:
        UsageError: The name is none.
    """
    name, equals, value = text.partition("=")
    if not _VARIABLE.fullmatch(name):
        message = "--env takes NAME (handed on by the client) or NAME=VALUE"
        raise UsageError.at("--env", message)
    return Variable(name, value if equals else None)


def refuse_secrets(flags: Sequence[tuple[str, str]], env: Sequence[Variable]) -> None:
    """Refuse what looks like a credential: clients' files are synchronised, shown and committed.

    Raises:
        SecretDetectedError: Each such flag and variable, by its name alone.
    """
    problems = [_secret(flag) for flag, value in flags if _is_secret(flag.lstrip("-"), value)]
    problems += [
        _secret(f"--env {variable.name}")
        for variable in env
        if variable.value is not None and _is_secret(variable.name, variable.value)
    ]
    if not problems:
        return
    names = ", ".join(problem.path for problem in problems)
    raise SecretDetectedError(
        f"{names} looks like it holds a credential, which no client's file should",
        problems=problems,
        suggestions=[str(problem.suggestion) for problem in problems],
    )


def _is_secret(name: str, value: str) -> bool:
    if _URL_PASSWORD.search(value) or _QUERY_PASSWORD.search(value):
        return True
    return bool(find_secrets(f"{name}={value}", precise_only=False))


def _secret(path: str) -> Problem:
    variable = path.rpartition(" ")[2] if path.startswith("--env") else "MEMORY_DB_PATH"
    return Problem(
        code=SecretDetectedError.code,
        path=path,
        message=f"{path} looks like it holds a credential",
        suggestion=f"Set {variable} in your environment and pass --env {variable}: the file then "
        "holds a reference only.",
    )


def shaped(entry: Entry, client: Client, *, is_newer: bool = False) -> dict[str, Json]:
    """Return the entry as `client` wants it; `is_newer` for its newer layout.

    Raises:
        UnsupportedError: A variable is to be handed on and the client has no way to say so.
    """
    value: dict[str, Json]
    if client.shape is Shape.OPENCODE:
        value = {"type": "local", "command": entry.words()}
        if not is_newer:
            value["enabled"] = True
    elif client.shape is Shape.TYPED:
        value = {"type": "stdio", "command": entry.command, "args": list(entry.args)}
    else:
        value = {"command": entry.command, "args": list(entry.args)}
    if entry.env:
        value |= _environment(entry.env, client)
    return value


def _environment(env: Sequence[Variable], client: Client) -> dict[str, Json]:
    handed_on = [variable.name for variable in env if variable.value is None]
    if handed_on and client.reference is None:
        names = ", ".join(handed_on)
        raise UnsupportedError(
            f"{client.title} has no way to refer to a variable ({names}) in its file",
            suggestions=[_CONFIG_FILE],
        )
    key = _ENVIRONMENT.get(client.shape, "env")
    if client.shape is Shape.CODEX:
        fixed: dict[str, Json] = {each.name: each.value for each in env if each.value is not None}
        value: dict[str, Json] = {key: fixed} if fixed else {}
        return {**value, "env_vars": handed_on} if handed_on else value
    reference = client.reference or ""
    return {
        key: {
            each.name: reference.replace("NAME", each.name) if each.value is None else each.value
            for each in env
        }
    }


def command_line(value: object) -> list[str]:
    """Return the command line that an entry of any client's shape starts; empty: none."""
    if not isinstance(value, Mapping):
        return []
    members = cast("Mapping[str, object]", value)
    if isinstance(members.get("transport"), Mapping):  # as Cline's own command writes it
        members = cast("Mapping[str, object]", members["transport"])
    command, args = members.get("command"), members.get("args")
    if isinstance(command, Mapping):  # Zed's older layout: {"path": ..., "args": [...]}
        inner = cast("Mapping[str, object]", command)
        command, args = inner.get("path"), inner.get("args")
    words = [command] if isinstance(command, str) else _texts(command)
    return [*words, *_texts(args)]


def _texts(value: object) -> list[str]:
    if not isinstance(value, list):
        return []
    return [item for item in cast("list[object]", value) if isinstance(item, str)]


def is_ours(value: object) -> bool:
    """Whether an entry starts this product, by whatever Python or script."""
    words = command_line(value)
    if not words:
        return False
    after_m = [second for first, second in pairwise(words) if first == "-m"]
    if "schemory" in after_m or _STARTS_US.search(words[0]):
        return True
    return bool(_RUNS.search(words[0])) and any(map(_PACKAGE.fullmatch, words[1:]))


def is_same(existing: object, wanted: Mapping[str, Json]) -> bool:
    """Whether `existing` starts what `wanted` does; what a person added beside it is no matter."""
    if not isinstance(existing, Mapping):
        return False
    members = cast("Mapping[str, object]", existing)
    for key, value in wanted.items():
        if key in {"type", "enabled"}:
            if members.get(key, value) != value and key == "type":
                return False
        elif isinstance(value, Mapping):
            there = members.get(key)
            if not isinstance(there, Mapping) or not value.items() <= there.items():
                return False
        elif members.get(key) != value:
            return False
    return True


def is_switched_off(existing: object) -> bool:
    """Whether a person has switched the entry off in the client."""
    if not isinstance(existing, Mapping):
        return False
    members = cast("Mapping[str, object]", existing)
    return members.get("disabled") is True or members.get("enabled") is False


def quoted(words: Iterable[str]) -> str:
    """Return a command line for people: in quotes what has spaces or is empty."""
    return " ".join(f'"{word}"' if " " in word or not word else word for word in words)


def told(value: object) -> str:
    """Return what an entry starts, for a message; nothing of it that looks like a secret."""
    words = command_line(value)
    if not words:
        is_remote = isinstance(value, Mapping) and ("url" in value or "httpUrl" in value)
        return "a remote server" if is_remote else "something else"
    text = _URL_PASSWORD.sub("://***@", quoted(words))
    return "a command line with a credential" if find_secrets(text, precise_only=False) else text
