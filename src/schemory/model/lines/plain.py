"""The short way to read what nearly every line is: a record with nothing but the usual fields."""

from collections.abc import Mapping
from typing import Final

from schemory.model.edge import Edge
from schemory.model.jsonvalue import Json
from schemory.model.lines.records import EdgeLine, NodeLine, Place
from schemory.model.lines.scan import Value
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


class PlainReader:
    """Reads the usual records of one file; a name that comes again is judged and kept once."""

    def __init__(self) -> None:
        self._sound: dict[str, str] = {}

    def read(self, place: Place | Value, found: Mapping[str, Json]) -> NodeLine | EdgeLine | None:
        """Return the node or edge if there is nothing unusual about it, else None.

        What this returns, the long way returns too.
        """
        kind = found.get("type")
        if not isinstance(kind, str):
            return None
        if kind in _EDGES:
            return self._edge(place, found, kind)
        return self._node(place, found, kind) if kind in _NODES else None

    def _node(self, place: Place | Value, found: Mapping[str, Json], kind: str) -> NodeLine | None:
        keys, type_key, entries_key = _NODES[kind]
        if len(found) != len(keys) or not keys.issuperset(found):
            return None
        name, node_type = self._known(found["name"]), self._known(found[type_key])
        items = found[entries_key]
        if name is None or node_type is None or not isinstance(items, list):
            return None
        entries = tuple([item for item in items if isinstance(item, str)])
        if len(entries) != len(items) or text_fault("".join(entries)):
            return None
        return NodeLine(line=place.line, text=place.text, node=Node(name, node_type, entries))

    def _edge(self, place: Place | Value, found: Mapping[str, Json], kind: str) -> EdgeLine | None:
        weight = found.get("weight", 1.0)
        count = 5 if "weight" in found else 4
        if len(found) != count or not (type(weight) is float or type(weight) is int):
            return None
        from_name, to_name = self._known(found.get("from")), self._known(found.get("to"))
        edge_type = self._known(found.get(_EDGES[kind]))
        if from_name is None or to_name is None or edge_type is None or abs(weight) > 1:
            return None
        edge = Edge(from_name, to_name, edge_type, float(weight))
        return EdgeLine(line=place.line, text=place.text, edge=edge)

    def _known(self, text: Json) -> str | None:
        """Return a name or type in NFC, or None where it is not one."""
        if not isinstance(text, str):
            return None
        known = self._sound.get(text)
        if known is None and text and not text.isspace() and not text_fault(text):
            known = self._sound[text] = text if text.isascii() else nfc(text)
        return known
