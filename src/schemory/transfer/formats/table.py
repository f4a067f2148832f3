"""CSV: one table for nodes and edges, told apart by its first column."""

from collections.abc import Iterator
from typing import Final

from schemory.model.jsonvalue import compact, plain_number
from schemory.transfer.walk import GraphWalk

COLUMNS: Final = ("kind", "name", "type", "from", "to", "weight", "metadata")


def csv_pieces(walk: GraphWalk) -> Iterator[str]:
    """Yield the rows (RFC 4180); metadata is a JSON array."""
    yield _text_of(COLUMNS)
    for record in walk.nodes():
        node = record.node
        metadata = compact(list(node.metadata))
        yield _text_of(("node", node.name, node.node_type, "", "", "", metadata))
    for found in walk.edges():
        edge = found.edge
        weight = str(plain_number(edge.weight))
        row = ("edge", "", edge.edge_type, edge.from_name, edge.to_name, weight, "")
        yield _text_of(row)


def _text_of(row: tuple[str, ...]) -> str:
    return ",".join(map(_field, row)) + "\r\n"


def _field(text: str) -> str:
    """Return one field, quoted where it must be.

    >>> _field('say "hi", you')
    '"say ""hi"", you"'
    """
    if any(sign in text for sign in ',"\r\n') or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text
