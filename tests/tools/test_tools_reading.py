"""The three static tools that read: pages, cursors and the response budget."""

import itertools
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schemory import open_store
from schemory.model.jsonvalue import compact
from schemory.schemas.catalog import SchemaCatalog
from schemory.tools.toolbox import ToolSettings, build_toolbox

if TYPE_CHECKING:
    from tests.tools.conftest import Desk, DeskMaker


def names(data: dict[str, Any]) -> list[str]:
    return [node["name"] for node in data["nodes"]]


def pages(desk: "Desk", tool: str, arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    cursor: str | None = None
    while True:
        asked = {**arguments, "cursor": cursor} if cursor else arguments
        data = desk.ok(tool, asked)
        assert ("nextCursor" in data) == data.get("truncated", False)
        yield data
        cursor = data.get("nextCursor")
        if cursor is None:
            return


@pytest.fixture
def chain(desk: "Desk") -> "Desk":
    """A - B - C, as in the specification's own example."""
    nodes = [{"name": name, "nodeType": "letter"} for name in "ABC"]
    desk.ok("add_nodes", {"nodes": nodes})
    edges = [
        {"from": "A", "to": "B", "edgeType": "next"},
        {"from": "B", "to": "C", "edgeType": "next"},
    ]
    desk.ok("add_edges", {"edges": edges})
    return desk


@pytest.fixture(scope="module")
def hub(open_desk: "DeskMaker") -> "Desk":
    """One node with 400 neighbours, in answers of at most 5,000 bytes."""
    desk = open_desk(response_budget=5_000)
    spokes = [
        {"name": f"spoke {i:03}", "nodeType": "spoke", "metadata": ["note: " + "x" * 40]}
        for i in range(400)
    ]
    desk.ok("add_nodes", {"nodes": [{"name": "hub", "nodeType": "hub"}, *spokes]})
    edges = [{"from": "hub", "to": spoke["name"], "edgeType": "has"} for spoke in spokes]
    desk.ok("add_edges", {"edges": edges})
    return desk


@pytest.mark.covers("tools.read.search")
def test_a_search_answers_matches_then_neighbours_and_what_joins_them(chain: "Desk") -> None:
    chain.ok("update_nodes", {"nodes": [{"name": "A", "metadata": ["Note: Straße"]}]})
    data = chain.ok("search_nodes", {"query": "STRASSE"})
    assert names(data) == ["A", "B"]
    assert data["edges"] == [{"from": "A", "to": "B", "edgeType": "next", "weight": 1}]
    assert data["matched"] == ["A"]
    assert data["matchMode"] == "substring"
    assert data["order"] == "rank"
    assert "truncated" not in data


@pytest.mark.covers("tools.read.search")
def test_if_the_whole_text_matches_nothing_all_words_are_looked_for(chain: "Desk") -> None:
    chain.ok("update_nodes", {"nodes": [{"name": "C", "metadata": ["Color: dark red"]}]})
    data = chain.ok("search_nodes", {"query": "red color"})
    assert data["matched"] == ["C"]
    assert data["matchMode"] == "words"


@pytest.mark.covers("tools.read.open")
def test_opening_answers_neighbours_edges_and_what_was_not_found(chain: "Desk") -> None:
    data = chain.ok("open_nodes", {"names": ["A", "Nobody"]})
    assert names(data) == ["A", "B"]
    assert data["edges"] == [{"from": "A", "to": "B", "edgeType": "next", "weight": 1}]
    assert data["notFound"] == ["Nobody"]
    assert set(data) == {"nodes", "edges", "notFound"}


@pytest.mark.covers("tools.read.graph")
def test_reading_the_graph_answers_everything_in_the_order_it_was_made(chain: "Desk") -> None:
    data = chain.ok("read_graph")
    assert names(data) == ["A", "B", "C"]
    assert [edge["to"] for edge in data["edges"]] == ["B", "C"]
    assert set(data) == {"nodes", "edges"}


@pytest.mark.covers("tools.read.options")
def test_neighbours_may_be_left_out_and_metadata_too(chain: "Desk") -> None:
    data = chain.ok("search_nodes", {"query": "B", "neighbors": False, "namesOnly": True})
    assert data["nodes"] == [{"name": "B", "nodeType": "letter"}]
    assert data["edges"] == []


@pytest.mark.covers("tools.read.options")
def test_types_filter_matches_only(chain: "Desk") -> None:
    chain.ok("add_nodes", {"nodes": [{"name": "B2", "nodeType": "digit"}]})
    chain.ok("add_edges", {"edges": [{"from": "B2", "to": "A", "edgeType": "near"}]})
    data = chain.ok("search_nodes", {"query": "B", "nodeTypes": ["digit"]})
    assert data["matched"] == ["B2"]
    assert names(data) == ["B2", "A"]


@pytest.mark.covers("tools.read.options", "tools.read.pages")
def test_limits_make_pages_that_together_hold_everything_once(chain: "Desk") -> None:
    found = list(pages(chain, "search_nodes", {"query": "", "limit": 1}))
    assert len(found) >= 3
    assert [name for page in found for name in page["matched"]] == ["A", "B", "C"]
    edges = [edge["to"] for page in found for edge in page["edges"]]
    assert sorted(edges) == ["B", "C"]


@pytest.mark.covers("tools.budget.pages", "tools.read.pages")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_graph", {}),
        ("search_nodes", {"query": "hub"}),
        ("search_nodes", {"query": "x"}),
        ("search_nodes", {"query": ""}),
        ("open_nodes", {"names": ["hub"]}),
        ("open_nodes", {"names": [f"spoke {i:03}" for i in range(400)]}),
    ],
)
def test_pages_within_the_budget_hold_everything_once(
    hub: "Desk", tool: str, arguments: dict[str, Any]
) -> None:
    nodes: list[str] = []
    edges: list[str] = []
    for count, data in enumerate(pages(hub, tool, arguments), 1):
        nodes += names(data)
        edges += [edge["to"] for edge in data["edges"]]
        assert count < 60
    expected = ["hub", *(f"spoke {i:03}" for i in range(400))]
    assert sorted(nodes) == sorted(expected)
    assert sorted(edges) == expected[1:]


@pytest.mark.covers("tools.budget.pages")
def test_every_page_of_a_hub_is_nearly_full_and_never_over_the_budget(hub: "Desk") -> None:
    cursor: str | None = None
    sizes: list[int] = []
    for _ in itertools.count():
        call: dict[str, Any] = {"names": ["hub"]} | ({"cursor": cursor} if cursor else {})
        reply = hub.call("open_nodes", call)
        sizes.append(len(reply.text.encode()))
        data = reply.structured["data"]
        assert isinstance(data, dict)
        cursor = data.get("nextCursor")
        if cursor is None:
            break
    assert max(sizes) <= 5_000
    assert min(sizes[:-1]) > 3_500


@pytest.mark.covers("tools.budget.lifted")
def test_without_a_budget_everything_comes_at_once(open_desk: "DeskMaker", hub: "Desk") -> None:
    free = open_desk(beside=hub, response_budget=0)
    data = free.ok("open_nodes", {"names": ["hub"]})
    assert len(data["nodes"]) == 401
    assert "truncated" not in data


@pytest.mark.covers("tools.budget.pages")
def test_what_fits_is_not_cut(open_desk: "DeskMaker", hub: "Desk") -> None:
    whole = len(open_desk(beside=hub, response_budget=0).call("read_graph").text.encode())
    roomy = open_desk(beside=hub, response_budget=whole + 400)
    assert "truncated" not in roomy.ok("read_graph")
    tight = open_desk(beside=hub, response_budget=whole - 1)
    reply = tight.call("read_graph")
    assert "truncated" in reply.text
    assert len(reply.text.encode()) < whole


def joined(pages_of: list[dict[str, Any]], name: str) -> list[str]:
    """Return a node's lines out of the stretches in which they came."""
    lines: list[str] = []
    for page in pages_of:
        for node in page["nodes"]:
            if node["name"] == name:
                first, *others = node["metadata"]
                if page.get("cut", {}).get("continuesLine"):
                    lines[-1] += first
                else:
                    lines.append(first)
                lines += others
    return lines


LONG = [
    "short",
    '\u00e9\n"\U0001f642' * 3_000,
    "",
    *(f"k{i}: {'y' * 90}" for i in range(50)),
    "end",
]


@pytest.mark.covers("tools.budget.single")
@pytest.mark.parametrize("tool", ["read_graph", "open_nodes", "search_nodes"])
def test_a_node_larger_than_the_budget_comes_in_stretches(
    open_desk: "DeskMaker", tool: str
) -> None:
    desk = open_desk(response_budget=2_000)
    for name, lines in (("a", ["k: 1"]), ("big", LONG), ("c", ["k: 2"])):
        desk.ok("add_nodes", {"nodes": [{"name": name, "nodeType": "t", "metadata": lines}]})
    desk.ok("add_edges", {"edges": [{"from": "big", "to": "a", "edgeType": "e"}]})
    calls: dict[str, dict[str, Any]] = {
        "read_graph": {},
        "open_nodes": {"names": ["a", "big", "c"]},
        "search_nodes": {"query": "t"},
    }
    found = list(pages(desk, tool, calls[tool]))
    assert all(len(compact({"data": page}).encode()) <= 2_000 for page in found)
    assert joined(found, "big") == LONG
    assert joined(found, "a") == ["k: 1"]
    assert joined(found, "c") == ["k: 2"]
    assert sum(len(page["edges"]) for page in found) == 1
    first = next(page["cut"] for page in found if "cut" in page)
    assert (first["name"], first["fromLine"], first["lines"]) == ("big", 0, len(LONG))
    if tool != "read_graph":
        assert [name for page in found for name in page.get("matched", [])].count("big") <= 1
    for page in found:
        if "cut" in page:
            (node,) = page["nodes"]
            assert page["cut"]["toLine"] - page["cut"]["fromLine"] + 1 == len(node["metadata"])


@pytest.mark.covers("tools.budget.single")
def test_a_long_neighbour_comes_in_stretches_too(open_desk: "DeskMaker") -> None:
    desk = open_desk(response_budget=2_000)
    desk.ok("add_nodes", {"nodes": [{"name": "big", "nodeType": "t", "metadata": LONG}]})
    desk.ok("add_nodes", {"nodes": [{"name": "a", "nodeType": "t"}]})
    desk.ok("add_edges", {"edges": [{"from": "big", "to": "a", "edgeType": "e"}]})
    found = list(pages(desk, "open_nodes", {"names": ["a"]}))
    assert joined(found, "big") == LONG
    assert sum(len(page["edges"]) for page in found) == 1


@pytest.mark.covers("tools.budget.single")
def test_a_node_that_went_between_its_stretches_leaves_the_next_one_whole(
    open_desk: "DeskMaker",
) -> None:
    desk = open_desk(response_budget=2_000)
    desk.ok("add_nodes", {"nodes": [{"name": "big", "nodeType": "t", "metadata": LONG}]})
    desk.ok("add_nodes", {"nodes": [{"name": "c", "nodeType": "t", "metadata": ["k: 2", "l: 3"]}]})
    cursor = desk.ok("read_graph", {})["nextCursor"]
    desk.ok("delete_nodes", {"nodeNames": ["big"]})
    last = desk.ok("read_graph", {"cursor": cursor})
    assert [node["metadata"] for node in last["nodes"]] == [["k: 2", "l: 3"]]
    assert "cut" not in last


@pytest.mark.covers("tools.budget.changed")
@pytest.mark.parametrize("now", [["k: 1"], ["first", *LONG], [*LONG, "last"]])
def test_a_node_that_changed_between_its_stretches_comes_from_its_beginning_again(
    open_desk: "DeskMaker", now: list[str]
) -> None:
    desk = open_desk(response_budget=2_000)
    desk.ok("add_nodes", {"nodes": [{"name": "big", "nodeType": "t", "metadata": LONG}]})
    cursor = desk.ok("read_graph", {})["nextCursor"]
    cursor = desk.ok("read_graph", {"cursor": cursor})["nextCursor"]
    desk.ok("update_nodes", {"nodes": [{"name": "big", "metadata": now}]})
    again = desk.ok("read_graph", {"cursor": cursor})
    assert again.get("cut", {}).get("fromLine", 0) == 0
    rest = pages(desk, "read_graph", {"cursor": again["nextCursor"]}) if len(now) > 1 else ()
    assert joined([again, *rest], "big") == now


@pytest.mark.covers("tools.budget.pages")
def test_thousands_of_names_that_do_not_exist_are_counted(open_desk: "DeskMaker") -> None:
    desk = open_desk(response_budget=4_000)
    reply = desk.call("open_nodes", {"names": [f"nobody {i}" for i in range(5_000)]})
    data = reply.structured["data"]
    assert isinstance(data, dict)
    assert data["notFoundCount"] == 5_000
    assert len(reply.text.encode()) <= 4_000


@pytest.mark.covers("tools.budget.pages")
def test_names_that_do_not_exist_leave_less_room_for_nodes(hub: "Desk") -> None:
    existing = [f"spoke {i:03}" for i in range(100)]
    call = {"names": [*existing, *(f"nobody {i:04}" for i in range(70))], "neighbors": False}
    reply = hub.call("open_nodes", call)
    data = reply.structured["data"]
    assert isinstance(data, dict)
    assert len(data["notFound"]) == 70
    assert 4_500 < len(reply.text.encode()) <= 5_000
    assert "nextCursor" in data


@pytest.mark.covers("tools.budget.pages")
def test_long_names_do_not_make_pages_half_empty(open_desk: "DeskMaker") -> None:
    desk = open_desk(response_budget=20_000)
    long = [f"{i:03} " + "n" * 400 for i in range(40)]
    desk.ok("add_nodes", {"nodes": [{"name": name, "nodeType": "t"} for name in long]})
    call = {"names": long, "neighbors": False}
    assert len(desk.ok("open_nodes", call)["nodes"]) == 40
    tight = open_desk(beside=desk, response_budget=15_000)
    assert len(tight.call("open_nodes", call).text.encode()) > 14_000


@pytest.mark.covers("tools.cursors.bound")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("open_nodes", {"names": ["A"]}),
        ("search_nodes", {"query": "other", "limit": 1}),
        ("search_nodes", {"query": ""}),
    ],
)
def test_a_cursor_of_another_call_is_refused(
    chain: "Desk", tool: str, arguments: dict[str, Any]
) -> None:
    cursor = chain.ok("search_nodes", {"query": "", "limit": 1})["nextCursor"]
    error = chain.fails(tool, {**arguments, "cursor": cursor})
    assert error["error_code"] == "INVALID_CURSOR"
    assert error["suggestions"]


@pytest.mark.covers("tools.cursors.bound")
def test_a_cursor_is_bound_to_its_space(open_desk: "DeskMaker") -> None:
    desk = open_desk(allow_cross_project=True)
    nodes = [{"name": name, "nodeType": "t"} for name in "ABC"]
    desk.ok("add_nodes", {"nodes": nodes})
    cursor = desk.ok("read_graph", {"limit": 1})["nextCursor"]
    other = {"limit": 1, "project_id": "other", "cursor": cursor}
    assert desk.fails("read_graph", other)["error_code"] == "INVALID_CURSOR"


@pytest.mark.covers("tools.cursors.survive")
def test_a_cursor_goes_on_after_writes(chain: "Desk") -> None:
    first = chain.ok("read_graph", {"limit": 1})
    chain.ok("add_nodes", {"nodes": [{"name": "D", "nodeType": "letter"}]})
    chain.ok("delete_nodes", {"nodeNames": ["A"]})
    second = chain.ok("read_graph", {"limit": 1, "cursor": first["nextCursor"]})
    assert names(second) == ["B"]


@pytest.mark.covers("tools.read.file_warnings")
def test_the_first_page_of_a_graph_file_says_what_in_it_is_not_used(tmp_path: Path) -> None:
    file = tmp_path / "torn.jsonl"
    line = '{"type":"node","name":"%s","nodeType":"t","metadata":[]}'
    file.write_text(f"{line % 'A'}\n{line % 'B'}\n{(line % 'C')[:-9]}", encoding="utf-8")
    with open_store(file) as held:
        noon = datetime(2026, 3, 8, 12, tzinfo=UTC)
        toolbox = build_toolbox(held.graph, SchemaCatalog([]), ToolSettings(), lambda: noon)
        first = json.loads(toolbox.call("read_graph", {"limit": 1}).text)["data"]
        assert [node["name"] for node in first["nodes"]] == ["A"]
        (warning,) = first["warnings"]
        assert "line 3" in warning
        rest = toolbox.call("read_graph", {"limit": 1, "cursor": first["nextCursor"]})
        assert "warnings" not in json.loads(rest.text)["data"]
