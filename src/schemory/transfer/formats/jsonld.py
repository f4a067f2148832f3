"""JSON-LD: nodes with identifiers made from their names, edges as statements with a weight."""

from collections.abc import Iterator
from typing import Final

from schemory.model.jsonvalue import Json, compact, plain_number
from schemory.transfer.walk import GraphWalk

_CONTEXT: Final[dict[str, Json]] = {
    "schemory": "urn:schemory:vocab:",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "Node": "schemory:Node",
    "Edge": "schemory:Edge",
    "name": "schemory:name",
    "nodeType": "schemory:nodeType",
    "edgeType": "schemory:edgeType",
    "metadata": {"@id": "schemory:metadata", "@container": "@list"},
    "from": {"@id": "schemory:from", "@type": "@id"},
    "to": {"@id": "schemory:to", "@type": "@id"},
    "weight": {"@id": "schemory:weight", "@type": "xsd:double"},
}


def jsonld_pieces(walk: GraphWalk) -> Iterator[str]:
    """Yield the document, one object per line inside `@graph`."""
    yield f'{{"@context":{compact(_CONTEXT)},"@graph":['
    separator = "\n"
    for found in _objects(walk):
        yield separator + compact(found)
        separator = ",\n"
    yield "\n]}\n"


def _objects(walk: GraphWalk) -> Iterator[dict[str, Json]]:
    for record in walk.nodes():
        node = record.node
        yield {
            "@id": _identifier(node.name),
            "@type": "Node",
            "name": node.name,
            "nodeType": node.node_type,
            "metadata": list(node.metadata),
        }
    for found in walk.edges():
        edge = found.edge
        yield {
            "@type": "Edge",
            "from": _identifier(edge.from_name),
            "to": _identifier(edge.to_name),
            "edgeType": edge.edge_type,
            "weight": plain_number(edge.weight),
        }


def _identifier(name: str) -> str:
    """Return a name as an identifier that can be turned back.

    >>> _identifier("Bag End")
    'urn:schemory:node:Bag%20End'
    """
    from urllib.parse import quote  # noqa: PLC0415 (only this format needs it)

    return "urn:schemory:node:" + quote(name, safe="")
