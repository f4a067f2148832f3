"""The short way to read what nearly every line is: a record with nothing but the usual fields."""

from collections.abc import Mapping
from typing import Final

from schemory.model.edge import Edge
from schemory.model.jsonvalue import Json
from schemory.model.lines.records import EdgeLine, NodeLine, Place
from schemory.model.node import Node
from schemory.model.text import nfc, text_fault

_NODES: Final = {
    "node": (frozenset({"type", "name", "nodeType", "metadata"}), "nodeType", "metadata"),
    "entity": (
        frozenset({"type", "name", "entityType", "observations"}),
        "entityType",
        "observations",
    ),
}
_EDGES: Final = {"edge": "edgeType", "relation": "relationType"}
_NUMBERS: Final = (int, float)


def plain_record(place: Place, found: Mapping[str, Json]) -> NodeLine | EdgeLine | None:
    """Return the node or edge if there is nothing unusual about it, else None.

    What this returns, the long way returns too.
    """
    kind = found.get("type")
    if not isinstance(kind, str):
        return None
    if kind in _NODES:
        return _plain_node(place, found, kind)
    return _plain_edge(place, found, kind) if kind in _EDGES else None


def _plain_node(place: Place, found: Mapping[str, Json], kind: str) -> NodeLine | None:
    keys, type_key, entries_key = _NODES[kind]
    if len(found) != len(keys) or not keys.issuperset(found):
        return None
    name, node_type, items = found["name"], found[type_key], found[entries_key]
    if not isinstance(name, str) or not isinstance(node_type, str) or not isinstance(items, list):
        return None
    entries = [item for item in items if isinstance(item, str)]
    if len(entries) != len(items) or text_fault("\n".join(entries)):
        return None
    if not _are_sound(name, node_type):
        return None
    node = Node(_normal(name), _normal(node_type), tuple(entries))
    return NodeLine(line=place.line, text=place.text, node=node)


def _plain_edge(place: Place, found: Mapping[str, Json], kind: str) -> EdgeLine | None:
    type_key = _EDGES[kind]
    weight = found.get("weight", 1.0)
    count = 5 if "weight" in found else 4
    if len(found) != count or type(weight) not in _NUMBERS:
        return None
    from_name, to_name, edge_type = found.get("from"), found.get("to"), found.get(type_key)
    if not isinstance(from_name, str) or not isinstance(to_name, str):
        return None
    if not isinstance(edge_type, str) or not _are_sound(from_name, to_name, edge_type):
        return None
    if not isinstance(weight, int | float) or abs(weight) > 1:
        return None
    edge = Edge(_normal(from_name), _normal(to_name), _normal(edge_type), float(weight))
    return EdgeLine(line=place.line, text=place.text, edge=edge)


def _are_sound(*texts: str) -> bool:
    return all(map(str.strip, texts)) and not text_fault("\n".join(texts))


def _normal(text: str) -> str:
    return text if text.isascii() else nfc(text)
