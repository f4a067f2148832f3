"""Appending and removing lines: graph.md §1 and §2."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.errors import InvalidParamError, NodeNotFoundError, SecretDetectedError
from schemory.graph.inputs import MetadataItem, NodeInput
from schemory.graph.service import KnowledgeGraph
from schemory.model.metadata import parse_line

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"  # the shape of one, made up here


def lines(graph: KnowledgeGraph, name: str) -> tuple[str, ...]:
    return graph.open_nodes([name]).nodes[0].node.metadata


@pytest.mark.covers("graph.metadata.add")
def test_lines_are_appended_in_order_unless_the_exact_text_stands_there(
    graph: KnowledgeGraph,
) -> None:
    graph.add_nodes([NodeInput("A", "x", ("Role: Wizard",))])
    given = ("b", "Role: Wizard", "role: Wizard", "a", "b")
    (result,) = graph.add_metadata([MetadataItem("A", given)])
    assert result.added == ("b", "role: Wizard", "a")
    assert result.already_there == ("Role: Wizard", "b")
    assert lines(graph, "A") == ("Role: Wizard", "b", "role: Wizard", "a")
    assert result.node.revision == 2


@pytest.mark.covers("graph.metadata.add")
def test_adding_only_what_is_there_writes_nothing(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput("A", "x", ("a",))])
    (result,) = graph.add_metadata([MetadataItem("A", ("a",))])
    assert (result.added, result.already_there, result.node.revision) == ((), ("a",), 1)


@pytest.mark.covers("graph.metadata.delete")
def test_lines_are_removed_by_exact_text_and_the_order_of_the_rest_is_kept(
    graph: KnowledgeGraph,
) -> None:
    graph.add_nodes([NodeInput("A", "x", ("a", "b", "c", "b", "e\u0301"))])
    (result,) = graph.delete_metadata([MetadataItem("A", ("b", "z", "\u00e9"))])
    assert result.removed == ("b",)
    assert result.not_there == ("z", "\u00e9")
    assert lines(graph, "A") == ("a", "c", "e\u0301")


@pytest.mark.covers("graph.metadata.several")
def test_several_nodes_change_in_one_call_or_none_does(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput("A", "x"), NodeInput("B", "x", ("b",))])
    items = [
        MetadataItem("A", ("a",)),
        MetadataItem("B", ("b", "c")),
        MetadataItem("A", ("a", "d")),
    ]
    results = graph.add_metadata(items)
    assert [(r.added, r.already_there) for r in results] == [
        (("a",), ()),
        (("c",), ("b",)),
        (("d",), ("a",)),
    ]
    assert lines(graph, "A") == ("a", "d")
    with pytest.raises(NodeNotFoundError) as caught:
        graph.delete_metadata(
            [
                MetadataItem("A", ("a",)),
                MetadataItem("Z", ("a",), name_path="$.deletions[1].nodeName"),
            ]
        )
    assert [p.path for p in caught.value.problems] == ["$.deletions[1].nodeName"]
    assert lines(graph, "A") == ("a", "d")


@pytest.mark.covers("graph.metadata.text", "graph.secrets")
def test_lines_are_held_to_the_rules_of_text(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput("A", "x")])
    with pytest.raises(InvalidParamError) as caught:
        graph.add_metadata([MetadataItem("A", ("fine\t\n\r", "a\x00", "b\ud800"))])
    assert [p.path for p in caught.value.problems] == ["$.metadata[1]", "$.metadata[2]"]
    with pytest.raises(SecretDetectedError):
        graph.add_metadata([MetadataItem("A", (f"key {TOKEN}",))])
    (result,) = graph.add_metadata([MetadataItem("A", (f"key {TOKEN}",))], allow_secret=True)
    assert len(result.warnings) == 1


@pytest.mark.covers("graph.metadata.typed")
def test_a_typed_value_counts_only_while_its_line_is_unchanged(graph: KnowledgeGraph) -> None:
    graph.add_entity("hero", {"name": "Sam", "role": "Thief", "traits": ["loyal, kind", "brave"]})
    (typed,) = graph.open_nodes(["Sam"]).nodes[0].typed
    assert (typed.line, typed.value) == ("Traits: loyal, kind, brave", ["loyal, kind", "brave"])
    graph.add_metadata([MetadataItem("Sam", ("note",))])
    assert graph.open_nodes(["Sam"]).nodes[0].typed == (typed,)
    graph.delete_metadata([MetadataItem("Sam", (typed.line,))])
    graph.add_metadata([MetadataItem("Sam", (typed.line,))])
    assert graph.open_nodes(["Sam"]).nodes[0].typed == ()


@pytest.mark.covers("graph.metadata.free-text")
def test_free_text_survives_every_update_byte_for_byte(graph: KnowledgeGraph) -> None:
    odd = ("no colon", "Jose\u0301: e\u0301", "  spaces  ", "", "a: b: c", "emoji 👩‍👩‍👧\t")
    graph.add_nodes([NodeInput("A", "hero", ("Role: Thief", *odd))])
    graph.update_entity("hero", {"name": "A", "role": "Wizard", "level": 3})
    graph.add_metadata([MetadataItem("A", ("new",))])
    assert lines(graph, "A") == ("Role: Wizard", *odd, "Level: 3", "new")


@pytest.mark.covers("graph.metadata.parse")
@given(line=st.text(max_size=30))
def test_any_line_can_be_parsed_and_nothing_of_it_is_lost(line: str) -> None:
    key, value = parse_line(line)
    if ": " in line:
        assert f"{key}: {value}" == line
        assert ": " not in key
    elif line.endswith(":"):
        assert (f"{key}:", value) == (line, "")
    else:
        assert (key, value) == ("", line)
