"""Addresses of what is stored, as MCP resources have them: `memory://…`, percent-encoded."""

from enum import StrEnum
from typing import Final

from schemory.errors import NotFoundError
from schemory.model.frozen import dataclass, field

SCHEME: Final = "memory://"
_MAX_SHOWN: Final = 200


class Kind(StrEnum):
    """What an address leads to."""

    PROJECT = "project"
    SCOPE = "scope"
    TOPIC = "topic"
    ENTRY = "entry"
    NODE = "node"
    SCHEMA = "schema"


TEMPLATES: Final = {
    Kind.PROJECT: f"{SCHEME}project/{{project_id}}",
    Kind.SCOPE: f"{SCHEME}project/{{project_id}}/scope/{{scope}}",
    Kind.TOPIC: f"{SCHEME}project/{{project_id}}/topic/{{topic}}",
    Kind.ENTRY: f"{SCHEME}entry/{{entry_id}}{{?project_id}}",
    Kind.NODE: f"{SCHEME}graph/node/{{name}}",
    Kind.SCHEMA: f"{SCHEME}graph/schema/{{type}}",
}
"""The form of each address (RFC 6570)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A parsed address.

    Attributes:
        name: The entry's id, the scope, the topic, the node's name, the type; "" for a project.
        project_id: None where the address does not say.
    """

    kind: Kind
    name: str = ""
    project_id: str | None = None
    text: str = field(default="", compare=False)


def project_uri(project_id: str, kind: Kind = Kind.PROJECT, name: str = "") -> str:
    """Return the address of a project, or of a scope or topic in it.

    >>> project_uri("git:github.com/a/b", Kind.SCOPE, "back end")
    'memory://project/git%3Agithub.com%2Fa%2Fb/scope/back%20end'
    """
    start = f"{SCHEME}project/{_quoted(project_id)}"
    return start if kind is Kind.PROJECT else f"{start}/{kind}/{_quoted(name)}"


def graph_uri(kind: Kind, name: str) -> str:
    """Return the address of a node or a schema."""
    return f"{SCHEME}graph/{kind}/{_quoted(name)}"


def parse_uri(uri: str) -> Address:
    """Return what an address means.

    >>> parse_uri("memory://entry/7?project_id=a%2Fb").project_id
    'a/b'

    Raises:
        NotFoundError: It has none of the forms.
    """
    path, _, query = uri.removeprefix(SCHEME).partition("?")
    parts = [_unquoted(part) for part in path.split("/")]
    if uri.startswith(SCHEME) and all(parts):
        match parts:
            case ["project", project_id]:
                return Address(kind=Kind.PROJECT, project_id=project_id, text=uri)
            case ["project", project_id, Kind.SCOPE | Kind.TOPIC as kind, name]:
                return Address(kind=Kind(kind), name=name, project_id=project_id, text=uri)
            case ["entry", name]:
                project = _project_of(query)
                return Address(kind=Kind.ENTRY, name=name, project_id=project, text=uri)
            case ["graph", Kind.NODE | Kind.SCHEMA as kind, name]:
                return Address(kind=Kind(kind), name=name, text=uri)
            case _:
                pass
    raise not_found(uri)


def not_found(uri: str) -> NotFoundError:
    """Return the error for an address that leads nowhere."""
    shown = uri if len(uri) <= _MAX_SHOWN else uri[:_MAX_SHOWN] + "…"
    message = f"There is no resource {shown}"
    hint = f"The forms are {', '.join(TEMPLATES.values())}."
    return NotFoundError.at("$.uri", message, suggestions=[hint])


def _project_of(query: str) -> str | None:
    from urllib.parse import parse_qs  # noqa: PLC0415 (most servers are never asked)

    values = parse_qs(query, errors="replace").get("project_id")
    return values[0] if values else None


def _quoted(text: str) -> str:
    from urllib.parse import quote  # noqa: PLC0415 (as above)

    return quote(text, safe="", errors="replace")


def _unquoted(text: str) -> str:
    from urllib.parse import unquote  # noqa: PLC0415 (as above)

    return unquote(text, errors="replace")
