"""Items of answers written straight as JSON text."""

from hypothesis import given
from hypothesis import strategies as st

from schemory.model.edge import Edge, EdgeRecord
from schemory.model.jsonvalue import compact
from schemory.model.node import Node, NodeRecord
from schemory.tools.wire import edge_text, edge_wire, node_text, node_wire

_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_WEIGHTS = st.floats(0, 1)


@given(
    name=_TEXTS,
    node_type=_TEXTS,
    lines=st.lists(_TEXTS, max_size=3),
    info=st.booleans(),
    names_only=st.booleans(),
)
def test_a_node_written_as_text_is_its_wire_form_as_compact_json(
    *, name: str, node_type: str, lines: list[str], info: bool, names_only: bool
) -> None:
    record = NodeRecord(
        id=1,
        node=Node(name, node_type, tuple(lines)),
        typed=(),
        extra={},
        created_at="2026-01-01T00:00:00.000Z",
        updated_at="2026-01-02T00:00:00.000Z",
        revision=3,
        author=name,
    )
    wire = node_wire(record, info=info, names_only=names_only)
    assert node_text(record, info=info, names_only=names_only) == compact(wire)


@given(start=_TEXTS, end=_TEXTS, edge_type=_TEXTS, weight=_WEIGHTS, info=st.booleans())
def test_an_edge_written_as_text_is_its_wire_form_as_compact_json(
    *, start: str, end: str, edge_type: str, weight: float, info: bool
) -> None:
    record = EdgeRecord(
        id=1,
        from_id=1,
        to_id=2,
        edge=Edge(start, end, edge_type, weight),
        property_name=None,
        extra={},
        created_at="2026-01-01T00:00:00.000Z",
        updated_at="2026-01-02T00:00:00.000Z",
        revision=3,
        author=end,
    )
    assert edge_text(record, info=info) == compact(edge_wire(record, info=info))
