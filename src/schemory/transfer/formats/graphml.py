"""GraphML, for graph viewers: names, types and weights as attributes, metadata as a JSON array."""

import re
from collections.abc import Iterator
from typing import Final

from schemory.model.jsonvalue import compact, plain_number
from schemory.transfer.walk import GraphWalk

_HEAD: Final = """\
<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="label" for="node" attr.name="label" attr.type="string"/>
<key id="nodeType" for="node" attr.name="nodeType" attr.type="string"/>
<key id="metadata" for="node" attr.name="metadata" attr.type="string"/>
<key id="edgeType" for="edge" attr.name="edgeType" attr.type="string"/>
<key id="weight" for="edge" attr.name="weight" attr.type="double"/>
<graph id="G" edgedefault="directed">
"""
_SPECIAL: Final = re.compile("[&<>\r\ufffe\uffff]")
# A bare carriage return would be read as a line feed; the last two are no XML characters at all.
_SPELT: Final = {
    "&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;", "\ufffe": "\ufffd", "\uffff": "\ufffd"
}  # fmt: skip


def graphml_pieces(walk: GraphWalk) -> Iterator[str]:
    """Yield the document; node ids are internal numbers, the name is the label."""
    yield _HEAD
    for record in walk.nodes():
        node = record.node
        yield (
            f'<node id="n{record.id}">{_data("label", node.name)}'
            f"{_data('nodeType', node.node_type)}"
            f"{_data('metadata', compact(list(node.metadata)))}</node>\n"
        )
    for found in walk.edges():
        yield (
            f'<edge id="e{found.id}" source="n{found.from_id}" target="n{found.to_id}">'
            f"{_data('edgeType', found.edge.edge_type)}"
            f"{_data('weight', str(plain_number(found.edge.weight)))}</edge>\n"
        )
    yield "</graph>\n</graphml>\n"


def _data(key: str, text: str) -> str:
    return f'<data key="{key}">{_SPECIAL.sub(lambda found: _SPELT[found.group()], text)}</data>'
