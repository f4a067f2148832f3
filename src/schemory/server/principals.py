"""Who acts over HTTP: a principal with scopes and projects, and what each scope opens."""

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from enum import StrEnum
from typing import Final

from schemory.model.frozen import dataclass
from schemory.tools.registry import Effect, Family, Tool


class Scope(StrEnum):
    """What a token may do; each holds those before it."""

    READ = "memory:read"
    WRITE = "memory:write"
    ADMIN = "memory:admin"

    @property
    def held(self) -> frozenset["Scope"]:
        """This scope and all that it holds."""
        order = list(Scope)
        return frozenset(order[: order.index(self) + 1])


_ADMIN_TOOLS: Final = frozenset({"memory_export_project"})
"""Tools of a milder kind by their annotations that still need the highest scope: they write files
on the server's machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Whom a token stands for.

    Attributes:
        name: Stored with what it writes, as far as it is printable.
        scopes: With all that they hold.
        projects: The only projects it may use; None = all.
        can_step_up: Its client can get a token with more scopes from an authorization server.
        expires_at: Seconds since the epoch; None = the token does not end by itself.
        issuer: The authorization server that vouches for the name; "" = this server itself.
    """

    name: str
    scopes: frozenset[Scope]
    projects: tuple[str, ...] | None = None
    can_step_up: bool = False
    expires_at: float | None = None
    issuer: str = ""

    @property
    def key(self) -> str:
        """What sessions, cursors and rates are bound to: one name of two issuers is two people."""
        return f"{self.issuer}\n{self.name}" if self.issuer else self.name


class KeysUnavailableError(Exception):
    """The issuer's keys cannot be had now, so nobody can tell whether a token is good."""


acting: ContextVar[Principal | None] = ContextVar("acting", default=None)
"""The principal of the request that is being answered; None where nobody has to name themselves."""


def held_scopes(given: Iterable[Scope]) -> frozenset[Scope]:
    """Return `given` with all that they hold."""
    return frozenset(each for scope in given for each in scope.held)


def scope_for(tool: Tool) -> Scope:
    """Return the scope that a call of `tool` needs.

    By its annotations: reading tools need `memory:read`, writing ones `memory:write`. What deletes
    from the graph is everyday work that the ledger can show and undo, so it needs no more; every
    other destructive tool, those about schemas, and those that write files need `memory:admin`.
    """
    if tool.name in _ADMIN_TOOLS:
        return Scope.ADMIN
    if tool.effect is Effect.READ:
        return Scope.READ
    if tool.toolset == "admin":
        return Scope.ADMIN
    if tool.effect is Effect.DESTRUCTIVE and tool.family is Family.MEMORY:
        return Scope.ADMIN
    return Scope.WRITE


def scope_for_request(
    method: str, params: Mapping[str, object], tools: Mapping[str, Tool]
) -> Scope | None:
    """Return the scope that a request needs; None = any token will do (handshake, ping).

    Lists, resources, prompts, completions and subscriptions are reading.
    """
    if method == "tools/call":
        name = params.get("name")
        tool = tools.get(name) if isinstance(name, str) else None
        return Scope.READ if tool is None else scope_for(tool)
    is_open = method in _OPEN_METHODS or method.startswith("notifications/")
    return None if is_open else Scope.READ


_OPEN_METHODS: Final = frozenset(
    {"initialize", "ping", "server/discover", "logging/setLevel", "tools/list"}
)
