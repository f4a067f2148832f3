"""MCP resources over the tools: what they list, what they answer, what has changed (memory.md §10).

SDK-free: plain values in, plain JSON out; `server/` only moves them. Every resource is the text of
a tool's answer, so that hosts without resources miss nothing.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

from schemory.errors import SchemoryError
from schemory.model.frozen import dataclass, field
from schemory.model.jsonvalue import Json, compact
from schemory.tools.cursors import CURSOR_ARGUMENT, Cursors
from schemory.tools.registry import Call, Caller, Reply, Tool
from schemory.tools.uris import (
    TEMPLATES,
    Address,
    Kind,
    graph_uri,
    not_found,
    parse_uri,
    project_uri,
)

if TYPE_CHECKING:
    from schemory.memory.service import ProjectMemory
    from schemory.tools.toolbox import Toolbox

PAGE_SIZE: Final = 50
_NAMES_LISTED: Final = 500
_ENTRIES_READ: Final = 50
_TEXT_TYPE: Final = "text/plain"
_JSON_TYPE: Final = "application/json"

_WORDS: Final[Mapping[Kind, tuple[str, str]]] = {
    Kind.PROJECT: ("Project", "What a project's memory holds, with its scopes and topics."),
    Kind.SCOPE: ("Scope", "The newest entries of a scope."),
    Kind.TOPIC: ("Topic", "The newest entries of a topic."),
    Kind.ENTRY: ("Entry", "One entry in full."),
    Kind.NODE: ("Node", "A node of the graph with its edges and neighbours."),
    Kind.SCHEMA: ("Node type", "The schema of a node type."),
}
_GRAPH_KINDS: Final = frozenset({Kind.NODE, Kind.SCHEMA})


@dataclass(frozen=True, slots=True)
class ResourcePage:
    """A page of the list; `next_cursor` None = the end."""

    resources: Sequence[Mapping[str, Json]]
    next_cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What a server offers beside its tools.

    Attributes:
        toolbox: Answers for the graph; lists the node types.
        memory_tools: The memory's tools by name, without a bound; empty = no memory.
        open_memory: Returns the memory.
        node_types: Returns the types that have a schema.
        signing_key: Of the store; signs the list's cursors.
    """

    toolbox: "Toolbox"
    memory_tools: Mapping[str, Tool]
    open_memory: "Callable[[], ProjectMemory]"
    node_types: Callable[[], Sequence[str]]
    signing_key: bytes

    def templates(self) -> list[Mapping[str, Json]]:
        """Return the forms of address, as `resources/templates/list` shows them."""
        return [
            {
                "uriTemplate": template,
                "name": kind.value,
                "title": _WORDS[kind][0],
                "description": _WORDS[kind][1],
                "mimeType": _JSON_TYPE if kind in _GRAPH_KINDS else _TEXT_TYPE,
            }
            for kind, template in TEMPLATES.items()
            if self.serves(kind)
        ]

    def serves(self, kind: Kind) -> bool:
        """Return whether this server has such resources."""
        if kind in _GRAPH_KINDS:
            return "open_nodes" in self.toolbox.registry
        return bool(self.memory_tools)

    def page(self, cursor: str | None, caller: Caller) -> ResourcePage:
        """Return a page of the caller's projects, their scopes and topics, and the node types.

        Never contents; nodes and entries are found by searching.

        Raises:
            InvalidCursorError: The cursor is none of this list.
        """
        cursors, bound = Cursors(self.signing_key), {CURSOR_ARGUMENT: None}
        space = caller.principal
        start = 0
        if cursor is not None:
            place = cursors.open(cursor, tool="resources/list", space=space, arguments=bound)
            start = int(place[0])
        everything = list(self._listed(caller))
        end = start + PAGE_SIZE
        more = None
        if end < len(everything):
            more = cursors.seal((end,), tool="resources/list", space=space, arguments=bound)
        return ResourcePage(everything[start:end], more)

    def read(self, uri: str, caller: Caller) -> list[Mapping[str, Json]]:
        """Return what an address leads to, as the `contents` of `resources/read`.

        Raises:
            NotFoundError: It leads nowhere, or out of what the caller may see.
        """
        address = parse_uri(uri)
        if not self.serves(address.kind):
            raise not_found(uri)
        is_graph = address.kind in _GRAPH_KINDS
        text = self._graph_text(address, caller) if is_graph else self._text(address, caller)
        return [{"uri": uri, "mimeType": _JSON_TYPE if is_graph else _TEXT_TYPE, "text": text}]

    def projects(self, caller: Caller) -> tuple[str, ...] | None:
        """Return the projects whose resources the caller has; None = whichever it names."""
        own = self.open_memory().settings.server_project
        if caller.projects is not None:
            return caller.projects
        return None if own is None else (own.id,)

    def names(self, kind: Kind, project_id: str, caller: Caller) -> Sequence[Mapping[str, Json]]:
        """Return a project's scopes or topics with their counts."""
        arguments: dict[str, Json] = {**self._named(project_id), "limit": _NAMES_LISTED}
        reply = self._memory_reply(f"memory_list_{kind}s", arguments, caller)
        return cast("Sequence[Mapping[str, Json]]", reply.structured["items"])

    def _listed(self, caller: Caller) -> Iterator[Mapping[str, Json]]:
        for project_id in (self.projects(caller) or ()) if self.memory_tools else ():
            yield _item(Kind.PROJECT, project_uri(project_id), project_id)
            for kind in (Kind.SCOPE, Kind.TOPIC):
                for each in self.names(kind, project_id, caller):
                    name, count = str(each["name"]), each["count"]
                    yield _item(
                        kind, project_uri(project_id, kind, name), name, f"Active entries: {count}."
                    )
        if self.serves(Kind.SCHEMA):
            for node_type in self.node_types():
                yield _item(Kind.SCHEMA, graph_uri(Kind.SCHEMA, node_type), node_type)

    def _text(self, address: Address, caller: Caller) -> str:
        project = self._named(self._project(address, caller))
        if address.kind is Kind.ENTRY:
            arguments = {**project, "entry_id": address.name}
            return self._memory_reply("memory_read_entry", arguments, caller).text
        if address.kind is Kind.PROJECT:
            names = ("memory_status", "memory_list_scopes", "memory_list_topics")
            return "\n\n".join(self._memory_reply(n, dict(project), caller).text for n in names)
        search = {**project, "query": "", "limit": _ENTRIES_READ, address.kind.value: address.name}
        return self._memory_reply("memory_search", search, caller).text

    def _project(self, address: Address, caller: Caller) -> str:
        """Return the project that the address means, if the caller may see it there."""
        allowed = self.projects(caller)
        asked = address.project_id
        if asked is None and allowed is not None and len(allowed) == 1:
            return allowed[0]
        if asked is None or (allowed is not None and asked not in allowed):
            raise not_found(address.text)
        return asked

    def _named(self, project_id: str) -> dict[str, Json]:
        """Return the argument that means this project; none for the server's own."""
        own = self.open_memory().settings.server_project
        return {} if own is not None and own.id == project_id else {"project_id": project_id}

    def _memory_reply(self, name: str, arguments: Mapping[str, Json], caller: Caller) -> Reply:
        return self.memory_tools[name].handle(Call(arguments=arguments, caller=caller))

    def _graph_text(self, address: Address, caller: Caller) -> str:
        if address.kind is Kind.SCHEMA:
            reply = self.toolbox.call("describe_schema", {"nodeType": address.name}, caller)
        else:
            reply = self.toolbox.call("open_nodes", {"names": [address.name]}, caller)
        data = cast("Mapping[str, Json]", reply.structured.get("data") or {})
        if reply.is_error or data.get("notFound"):
            raise not_found(address.text)
        return compact(data)


def _item(kind: Kind, uri: str, name: str, description: str = "") -> dict[str, Json]:
    title = f"{_WORDS[kind][0]} {name}"
    return {
        "uri": uri,
        "name": f"{kind}: {name}",
        "title": title,
        "description": description or _WORDS[kind][1],
        "mimeType": _JSON_TYPE if kind in _GRAPH_KINDS else _TEXT_TYPE,
    }


@dataclass(slots=True)
class Watched:
    """Addresses that a client wants to hear of, each with what it led to last."""

    resources: Resources
    caller: Caller
    _marks: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def __bool__(self) -> bool:
        return bool(self._marks)

    def add(self, *uris: str) -> None:
        """Watch addresses; they need not lead anywhere yet.

        Raises:
            NotFoundError: One has none of the forms; none is watched.
        """
        for uri in uris:
            parse_uri(uri)
        for uri in uris:
            self._marks[uri] = self._mark(uri)

    def remove(self, uri: str) -> None:
        """Stop watching an address."""
        self._marks.pop(uri, None)

    def changed(self) -> list[str]:
        """Return the addresses that lead to something else than when this was asked last."""
        found: list[str] = []
        for uri, before in list(self._marks.items()):
            now = self._mark(uri)
            if now != before:
                self._marks[uri] = now
                found.append(uri)
        return found

    def _mark(self, uri: str) -> bytes:
        try:
            contents = self.resources.read(uri, self.caller)
        except SchemoryError as error:
            return error.code.encode()
        text = "".join(str(each["text"]) for each in contents)
        return hashlib.sha256(text.encode("utf-8", "replace")).digest()
