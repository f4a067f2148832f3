"""Completion of arguments of prompts and resource templates: what exists, never more than 100."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

from schemory.errors import SchemoryError
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json
from schemory.model.text import fold
from schemory.tools.registry import Caller
from schemory.tools.resources import Resources
from schemory.tools.uris import Kind

MAX_VALUES: Final = 100
_NODES_ASKED: Final = 50
_SINCE: Final = ("24h", "7d", "14d", "30d", "90d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be completed.

    Attributes:
        argument: The name of the argument or template variable.
        value: What is typed so far.
        known: Arguments that are settled already.
    """

    argument: str
    value: str
    known: Mapping[str, str]


def complete(resources: Resources, asked: Asked, caller: Caller) -> Mapping[str, Json]:
    """Return the values that begin with what is typed, as `completion/complete` shows them.

    Only of projects whose resources the caller has; an argument that cannot be completed has none.
    """
    try:
        values = list(_fitting(_candidates(resources, asked, caller), asked.value))
    except SchemoryError:
        values = []
    return {
        "values": values[:MAX_VALUES],
        "total": len(values),
        "hasMore": len(values) > MAX_VALUES,
    }


def _candidates(resources: Resources, asked: Asked, caller: Caller) -> Iterable[str]:
    match asked.argument:
        case "project_id":
            return (resources.projects(caller) or ()) if resources.memory_tools else ()
        case Kind.SCOPE | Kind.TOPIC as kind:
            return _names(resources, Kind(kind), asked, caller)
        case "since":
            return _SINCE
        case "type":
            return resources.node_types() if resources.serves(Kind.SCHEMA) else ()
        case "name":
            return _nodes(resources, asked.value, caller)
        case _:
            return ()


def _names(resources: Resources, kind: Kind, asked: Asked, caller: Caller) -> Iterable[str]:
    allowed = resources.projects(caller) if resources.memory_tools else ()
    named = asked.known.get("project_id")
    chosen = [each for each in allowed or () if named in {None, each}]
    return dict.fromkeys(
        str(each["name"])
        for project_id in chosen
        for each in resources.names(kind, project_id, caller)
    )


def _nodes(resources: Resources, value: str, caller: Caller) -> Iterable[str]:
    if not resources.serves(Kind.NODE):
        return ()
    arguments = {"query": value, "limit": _NODES_ASKED, "namesOnly": True, "neighbors": False}
    reply = resources.toolbox.call("search_nodes", arguments, caller)
    data = cast("Mapping[str, Json]", reply.structured.get("data") or {})
    return cast("Sequence[str]", data.get("matched") or ())


def _fitting(values: Iterable[str], typed: str) -> Iterable[str]:
    start = fold(typed)
    return (value for value in values if fold(value).startswith(start))
