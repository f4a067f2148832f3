"""Reading the graph on the command line: plain, as JSON, and when nothing is there."""

import json
from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.covers("cli.nodes")
def test_nodes_are_listed_in_creation_order_with_tabs_for_a_pipe(story: Callable[..., Any]) -> None:
    assert story("nodes").out.splitlines() == [
        "Gandalf\tnpc\tRole: Wizard; Status: Active",
        "Rivendell\tlocation\tAtmosphere: hushed",
        "Bilbo\tnpc\t",
    ]


@pytest.mark.covers("cli.nodes")
def test_nodes_can_be_of_one_type_and_limited(story: Callable[..., Any]) -> None:
    cut = story("nodes", "--type", "npc", "--limit", "1", "--json")
    assert cut.data == {
        "nodes": [
            {
                "name": "Gandalf",
                "nodeType": "npc",
                "metadata": ["Role: Wizard", "Status: Active"],
            }
        ],
        "truncated": True,
    }
    everything = story("nodes", "--type", "npc", "--limit", "0", "--json").data
    assert [node["name"] for node in everything["nodes"]] == ["Gandalf", "Bilbo"]
    assert "truncated" not in everything


@pytest.mark.covers("cli.edges")
def test_edges_can_be_chosen_by_type_and_ends(story: Callable[..., Any]) -> None:
    assert story("edges").out.splitlines() == [
        "Gandalf\tlocated_in\tRivendell\t1",
        "Gandalf\tmentors\tBilbo\t0.5",
    ]
    assert len(story("edges", "--type", "mentors", "--json").data["edges"]) == 1
    assert len(story("edges", "--from", "Gandalf", "--json").data["edges"]) == 2
    to_bilbo = story("edges", "--to", "Bilbo", "--json").data["edges"]
    assert to_bilbo == [{"from": "Gandalf", "to": "Bilbo", "edgeType": "mentors", "weight": 0.5}]
    both = story("edges", "--from", "Gandalf", "--to", "Rivendell", "--json").data["edges"]
    assert [edge["edgeType"] for edge in both] == ["located_in"]
    assert story("edges", "--from", "Nobody").out == ""


@pytest.mark.covers("cli.open")
def test_open_shows_a_node_with_everything_around_it(story: Callable[..., Any]) -> None:
    assert story("open", "Gandalf").out.splitlines() == [
        "Gandalf (npc)",
        "  Role: Wizard",
        "  Status: Active",
        "  -> located_in Rivendell",
        "  -> mentors Bilbo  0.5",
    ]
    assert "  <- mentors Gandalf  0.5" in story("open", "Bilbo").out


@pytest.mark.covers("cli.open")
def test_open_says_what_is_not_there_and_exits_1(story: Callable[..., Any]) -> None:
    plain = story("open", "Bilbo", "Sauron")
    assert plain.code == 1
    assert "not found: Sauron" in plain.err
    assert "Bilbo (npc)" in plain.out
    assert story("open", "Gandolf").err == "not found: Gandolf; nearest: Gandalf\n"
    as_json = story("open", "Bilbo", "Sauron", "--json")
    assert as_json.code == 1
    assert as_json.data["notFound"] == ["Sauron"]


@pytest.mark.covers("cli.find")
def test_find_shows_where_the_query_is_held(story: Callable[..., Any]) -> None:
    assert story("find", "ACTIVE").out == "Gandalf\tnpc\tStatus: Active\n"
    assert story("find", "hushed", "--json").data["matched"] == ["Rivendell"]
    words = story("find", "active", "wizard")
    assert words.out.startswith("Gandalf")
    assert "all its words" in words.err
    nothing = story("find", "balrog")
    assert (nothing.code, nothing.out) == (1, "")


@pytest.mark.covers("cli.path")
def test_path_draws_the_shortest_way(story: Callable[..., Any]) -> None:
    assert story("path", "Rivendell", "Bilbo").out == (
        "Rivendell <-[located_in]- Gandalf -[mentors]-> Bilbo\n"
    )
    assert story("path", "Rivendell", "Bilbo", "--json").data["cost"] == 2
    missing = story("path", "Rivendell", "Sauron")
    assert missing.code == 1
    assert "Sauron" in missing.err


def test_text_that_could_drive_a_terminal_is_written_out(cli: Callable[..., Any]) -> None:
    nasty = {"name": "a\u202eb\u009b31m", "nodeType": "t", "metadata": ["x\ty\nz"]}
    assert cli("call", "add_nodes", json.dumps({"nodes": [nasty]})).code == 0
    assert cli("nodes").out == "a\\u202eb\\x9b31m\tt\tx y ⏎ z\n"
    assert "\u202e" not in cli("open", nasty["name"]).out


@pytest.mark.covers("cli.space")
def test_without_a_project_the_default_space_is_meant(story: Callable[..., Any]) -> None:
    assert story("nodes", "--project", "acme").out == ""
    assert story("nodes", "--project", "default").out == story("nodes").out


@pytest.mark.covers("cli.validate")
def test_validate_lists_what_does_not_fit_with_a_fix_and_exits_1(
    story: Callable[..., Any],
) -> None:
    broken = {"name": "Sauron", "nodeType": "npc", "metadata": ["Role: Tyrant"]}
    assert story("call", "add_nodes", json.dumps({"nodes": [broken]})).code == 0
    found = story("validate", "npc", "--pack", "rpg", "--json")
    assert found.code == 1
    by_node = {fault["node"]: fault["problems"] for fault in found.data["faults"]}
    assert set(by_node) == {"Sauron", "Bilbo"}
    assert found.data["checked"] == 3
    plain = story("validate", "npc", "--pack", "rpg")
    assert plain.code == 1
    assert "Sauron (npc)" in plain.out
    assert story("validate", "location", "--pack", "rpg").code == 0
