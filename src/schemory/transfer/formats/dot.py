"""DOT, for Graphviz: the name is the label, metadata the tooltip."""

from collections.abc import Iterator

from schemory.model.jsonvalue import plain_number
from schemory.transfer.walk import GraphWalk


def dot_pieces(walk: GraphWalk) -> Iterator[str]:
    """Yield the digraph; node ids are internal numbers."""
    yield f"digraph {_quoted(walk.space)} {{\n"
    for record in walk.nodes():
        node = record.node
        yield (
            f"  n{record.id} [label={_quoted(node.name)}, nodeType={_quoted(node.node_type)}, "
            f"tooltip={_quoted(chr(10).join(node.metadata))}];\n"
        )
    for found in walk.edges():
        yield (
            f"  n{found.from_id} -> n{found.to_id} [label={_quoted(found.edge.edge_type)}, "
            f"edgeWeight={_quoted(str(plain_number(found.edge.weight)))}];\n"
        )
    yield "}\n"


def _quoted(text: str) -> str:
    r"""Return a DOT string that shows `text`: in labels a backslash is special, so it is doubled.

    >>> print(_quoted('say "hi" \\N'))
    "say \"hi\" \\N"
    """
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + plain.replace("\r\n", "\\n").replace("\n", "\\n").replace("\r", " ") + '"'
