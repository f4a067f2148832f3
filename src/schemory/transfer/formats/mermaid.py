"""Mermaid flowchart, to be shown in Markdown: names with types, labelled arrows."""

from collections.abc import Iterator

from schemory.transfer.walk import GraphWalk

_PLAIN = frozenset(" -_.,:/()'+!?")


def mermaid_pieces(walk: GraphWalk) -> Iterator[str]:
    """Yield the flowchart; node ids are internal numbers."""
    yield "flowchart LR\n"
    for record in walk.nodes():
        label = f"{_escaped(record.node.name)} ({_escaped(record.node.node_type)})"
        yield f'    n{record.id}["{label}"]\n'
    for found in walk.edges():
        yield f'    n{found.from_id} -->|"{_escaped(found.edge.edge_type)}"| n{found.to_id}\n'


def _escaped(text: str) -> str:
    """Return `text` with all but letters, digits and a few signs as numbered entities.

    >>> _escaped('a "b" <c>')
    'a #34;b#34; #60;c#62;'
    """
    return "".join(c if c.isalnum() or c in _PLAIN else f"#{ord(c)};" for c in text)
