"""A fact's address: text form, parser, and what it still leads to after a change (storage.md)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.errors import InvalidParamError
from schemory.graph.inputs import NodeInput, NodeUpdate
from schemory.graph.service import KnowledgeGraph
from schemory.model.address import (
    FactAddress,
    FactKind,
    digest_line,
    edge_address,
    find_line,
    node_address,
    origin_address,
    parse_address,
    typed_address,
)

WORDS = st.text(min_size=1, max_size=12)


@pytest.mark.covers("address.text")
@given(project=WORDS, item=WORDS, kind=st.sampled_from(FactKind), name=st.none() | WORDS)
def test_an_address_is_read_back_from_its_text(
    project: str, item: str, kind: FactKind, name: str | None
) -> None:
    address = FactAddress(project_id=project, kind=kind, item_id=item, property_name=name)
    assert parse_address(str(address)) == address
    at_line = address.at_line(project)
    assert parse_address(str(at_line)) == at_line
    assert at_line.property_name is None


@pytest.mark.covers("address.text")
def test_the_text_form_is_plain() -> None:
    address = FactAddress(project_id="my/app", kind=FactKind.NODE, item_id="7")
    assert str(address) == "fact:my%2Fapp/node/7"
    assert str(address.at_property("home")) == "fact:my%2Fapp/node/7#property=home"
    # The digest of "a" is well known.
    digest = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    assert str(address.at_line("a")) == f"fact:my%2Fapp/node/7#line={digest}"
    assert digest_line("a") == digest


@pytest.mark.covers("address.text")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "fact:a/node",
        "fact:a/tree/7",
        "fact:/node/7",
        "node:a/node/7",
        "fact:a/node/7#line=abc",
        "fact:a/node/7#other=abc",
        "fact:a/node/7#property=",
        "fact:a/node/7/8",
        "fact:a/node/7#property=a#line=b",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidParamError):
        parse_address(text)


@pytest.mark.covers("address.text")
def test_an_address_means_one_thing() -> None:
    with pytest.raises(InvalidParamError):
        FactAddress(
            project_id="a",
            kind=FactKind.NODE,
            item_id="7",
            property_name="home",
            line_digest=digest_line("a"),
        )
    with pytest.raises(InvalidParamError):
        FactAddress(project_id="", kind=FactKind.NODE, item_id="7")
    with pytest.raises(InvalidParamError):
        FactAddress(project_id="a", kind=FactKind.NODE, item_id="7", property_name="")


@pytest.mark.covers("address.facts")
def test_nodes_edges_typed_values_and_origins_have_addresses(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput("Bree", "place")])
    made = graph.add_entity("hero", {"name": "Sam", "role": "Thief", "home": "Bree", "level": 3})
    sam, edge = made.nodes[0], made.edges[0]
    assert str(node_address("default", sam)) == f"fact:default/node/{sam.id}"
    assert str(edge_address("default", edge)) == f"fact:default/edge/{edge.id}"
    assert typed_address("default", sam, sam.typed[0]).property_name == "level"
    origin = origin_address("default", sam, edge)
    assert origin == node_address("default", sam).at_property("home")


@pytest.mark.covers("address.line")
def test_a_lines_address_survives_a_rename_and_leads_nowhere_once_the_line_changed(
    graph: KnowledgeGraph,
) -> None:
    (node,) = graph.add_nodes([NodeInput("A", "x", ("a: 1", "b: 2"))]).nodes
    address = node_address("default", node).at_line("b: 2")
    renamed = graph.rename_node("A", "B").node
    assert node_address("default", renamed) == node_address("default", node)
    assert find_line(address, renamed) == "b: 2"
    (changed,) = graph.update_nodes([NodeUpdate(name="B", metadata=("a: 1", "b: 3"))]).nodes
    assert find_line(address, changed) is None
    assert find_line(node_address("default", changed), changed) is None
