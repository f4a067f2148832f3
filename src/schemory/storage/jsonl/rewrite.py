"""Bring one line of a file up to date: what did not change on it stays byte for byte."""

from collections.abc import Iterator, Mapping

from schemory.model.edge import EdgeKey, EdgeRecord
from schemory.model.frozen import dataclass, field
from schemory.model.jsonvalue import Json
from schemory.model.lines.read import (
    kind_of,
    nested_items,
    plain_nested,
    promoted,
    read_nested,
    read_object,
)
from schemory.model.lines.records import EdgeLine, Fault, NodeLine, Place
from schemory.model.lines.scan import Scanner, Unreadable, Value
from schemory.model.lines.write import render, replace_nested, revise_edge, revise_node, style_of
from schemory.model.node import NodeRecord

_NOWHERE = Place(0, "-")


@dataclass(slots=True)
class LineEdits:
    """What becomes of the nodes and edges on one line; what is not named stays.

    Attributes:
        nodes: By the name on the line; None = goes.
        edges: By the triple on the line; None = goes.
    """

    nodes: dict[str, NodeRecord | None] = field(default_factory=dict[str, NodeRecord | None])
    edges: dict[EdgeKey, EdgeRecord | None] = field(
        default_factory=dict[EdgeKey, EdgeRecord | None]
    )


def rewrite_line(raw: bytes, edits: LineEdits, newline: bytes) -> list[bytes]:
    """Return the lines that replace `raw`: one per record that is left on it.

    The last of them ends as `raw` did.
    """
    texts = [text for piece in Scanner(raw) for text in _rewritten(piece, edits)]
    lines = [text.encode("utf-8", "surrogateescape") + newline for text in texts]
    if lines and not raw.endswith(b"\n"):
        lines[-1] = lines[-1].removesuffix(newline)
    return lines


def _rewritten(piece: Value | Unreadable, edits: LineEdits) -> Iterator[str]:
    """Yield the lines that a piece becomes."""
    if isinstance(piece, Unreadable) or not isinstance(piece.value, dict):
        yield piece.text
        return
    found = piece.value
    kind = kind_of(found)
    if kind == "node":
        yield from _rewritten_node(piece.text, found, edits)
    elif kind == "edge":
        yield from _rewritten_edge(piece.text, found, edits)
    else:
        yield piece.text


def _rewritten_edge(text: str, found: Mapping[str, Json], edits: LineEdits) -> Iterator[str]:
    said = read_object(_NOWHERE, found)
    if not isinstance(said, EdgeLine) or said.edge.key not in edits.edges:
        yield text
        return
    record = edits.edges[said.edge.key]
    if record is not None:
        edits.edges[said.edge.key] = None  # the same triple further on would be a double
        yield render(revise_edge(found, record), style_of(text, found))


def _rewritten_node(text: str, found: Mapping[str, Json], edits: LineEdits) -> Iterator[str]:
    said = read_object(_NOWHERE, found)
    if not isinstance(said, NodeLine):
        yield text
        return
    name = said.node.name
    is_edited = name in edits.nodes
    record = edits.nodes.get(name)
    owner = record.name if record else name
    nested = [_rewritten_nested(item, name, owner, edits) for item in nested_items(found)]
    items = [item for item in nested if item is not None]
    style = style_of(text, found)
    if is_edited and record is None:
        for item in items:
            yield render(promoted(item, name), style)
        return
    new = replace_nested(found, items) if items != nested_items(found) else found
    if record is not None:
        edits.nodes[name] = None  # the same name further on has been merged into this one
        new = revise_node(new, record)
    yield text if new is found else render(new, style)


def _rewritten_nested(
    item: Mapping[str, Json], name: str, owner: str, edits: LineEdits
) -> Mapping[str, Json] | None:
    """Return a relation inside the record of node `name` (now `owner`); None = it goes."""
    inner = read_nested(0, name, item)
    if isinstance(inner, Fault) or inner.edge.key not in edits.edges:
        return item
    record = edits.edges[inner.edge.key]
    if record is None:
        return None
    edits.edges[inner.edge.key] = None
    return revise_edge(plain_nested(item), record, owner=owner)
