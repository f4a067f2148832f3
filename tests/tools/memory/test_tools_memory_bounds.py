"""Answers keep within what was asked for and what the server allows, and say how to go on."""

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.memory.settings import Limits
from schemory.model.jsonvalue import compact
from schemory.tools.registry import Caller

if TYPE_CHECKING:
    from tests.tools.memory.conftest import DeskMaker, MemoryDesk


def all_pages(desk: "MemoryDesk", **arguments: Any) -> list[dict[str, Any]]:
    """Return the pages of a search to its end."""
    pages = [desk.ok("search", **arguments)]
    while "next_cursor" in pages[-1]:
        pages.append(desk.ok("search", **arguments, cursor=pages[-1]["next_cursor"]))
        assert len(pages) < 100
    return pages


def ids_of(pages: list[dict[str, Any]]) -> list[str]:
    return [str(hit["id"]) for page in pages for hit in page["results"]]


@pytest.mark.covers("tools.memory.pages")
def test_pages_give_every_hit_once_in_one_order(desk: "MemoryDesk") -> None:
    for number in range(23):
        desk.add(f"common word, note {number}")
    for query in ("common", ""):
        whole = desk.found(query, limit=50)
        assert len(whole) == 23
        pages = all_pages(desk, query=query, limit=5)
        assert ids_of(pages) == whole
        scores = [hit["score"] for page in pages for hit in page["results"]]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.covers("tools.memory.max_chars")
@pytest.mark.parametrize("max_chars", [1_000, 1_500, 4_000])
@pytest.mark.parametrize("with_content", [False, True])
def test_max_chars_bounds_both_forms_and_loses_nothing(
    desk: "MemoryDesk", max_chars: int, *, with_content: bool
) -> None:
    for number in range(12):
        title = f"Title {number} é" * (number + 1)
        desk.add(f"common {number} " + "text «»\n" * 40, title=title[:200])
    asked = {"query": "common", "max_chars": max_chars, "include_content": with_content}
    pages = all_pages(desk, **asked)
    assert sorted(ids_of(pages)) == sorted(desk.found("common", limit=50))
    for page in pages:
        assert len(page["results"]) >= 1
        assert len(compact(page)) <= max_chars
        if "next_cursor" in page:
            is_cut = page.get("truncated") is True
            assert is_cut or len(page["results"]) == 10
    for cursor in [None, *[page.get("next_cursor") for page in pages[:-1]]]:
        more = {} if cursor is None else {"cursor": cursor}
        assert len(desk.text("search", **asked, **more)) <= max_chars


@pytest.mark.covers("tools.memory.max_chars")
def test_a_first_hit_that_is_too_large_is_cut_and_says_so(desk: "MemoryDesk") -> None:
    desk.add(
        "common " + "x" * 5_000,
        title="t" * 200,
        source_ref="r" * 400,
        tags=[f"tag {n} " + "y" * 60 for n in range(20)],
        scope="s" * 120,
        topic="o" * 200,
    )
    page = desk.ok("search", query="common", max_chars=1_000, include_content=True, explain=True)
    (hit,) = page["results"]
    assert page["truncated"] is True
    assert len(compact(page)) <= 1_000
    assert "content" in hit["omitted"]
    assert len(desk.text("search", query="common", max_chars=1_000, include_content=True)) <= 1_000


@pytest.mark.covers("tools.memory.max_chars")
def test_max_chars_has_a_smallest_value(desk: "MemoryDesk") -> None:
    desk.ok("search", query="a", max_chars=1_000)
    assert desk.fails("search", query="a", max_chars=999)["error_code"] == "INVALID_PARAM"


@pytest.mark.covers("tools.memory.max_chars")
def test_names_beside_no_hit_keep_within_the_bound(desk: "MemoryDesk") -> None:
    for number in range(12):
        desk.add(f"{number}", scope=f"s{number}" + "x" * 100, topic=f"t{number}" + "y" * 180)
    page = desk.ok("search", query="zebra", max_chars=1_000)
    assert len(compact(page)) <= 1_000
    assert len(desk.text("search", query="zebra", max_chars=1_000)) <= 1_000
    assert len(desk.ok("search", query="zebra")["scopes"]) == 10


@pytest.mark.covers("tools.memory.budget")
def test_no_answer_is_larger_than_the_budget(open_desk: "DeskMaker") -> None:
    desk = open_desk(budget=4_000, limits=Limits(max_search_results=100))
    entry_id = desk.add("é\n" * 50_000)
    for number in range(40):
        other = desk.add(
            f"common {number}", scope=f"scope {number} " + "x" * 90, tags=[f"t{number}"]
        )
        ends = {"source_entry_id": entry_id, "target_entry_id": other}
        desk.ok("link_entries", **ends, relation="explains", label="l" * 150)
        if number % 2:
            desk.ok("update_entry", entry_id=entry_id, content=f"{number}" + "é\n" * 50_000)
    pages = all_pages(desk, query="common", limit=100, include_content=True)
    assert len(set(ids_of(pages))) == 40
    for tool in ("list_scopes", "list_tags", "handoff_summary", "status"):
        desk.ok(tool)
    assert desk.ok("list_entry_links", entry_id=entry_id, limit=100)["truncated"] is True
    assert desk.ok("list_scopes")["truncated"] is True
    desk.ok("find_similar", text="common scope", limit=100)
    read = desk.ok("read_entry", entry_id=entry_id, include_history=True)
    assert read["truncated"] is True
    assert read["history_truncated"] is True


@pytest.mark.covers("tools.memory.budget")
def test_a_long_entry_is_read_in_stretches_without_a_gap(open_desk: "DeskMaker") -> None:
    desk = open_desk(budget=3_000)
    content = "".join(f'line {n} «é» "quoted"\n' for n in range(900))
    entry_id = desk.add(content)
    parts: list[str] = []
    offset = 0
    while True:
        read = desk.ok("read_entry", entry_id=entry_id, offset=offset)
        parts.append(read["entry"]["content"])
        if "next_offset" not in read:
            break
        offset = read["next_offset"]
    assert "".join(parts) == content
    assert 5 < len(parts) < 60


CHANGES: list[dict[str, Any]] = [
    {"query": "other"},
    {"limit": 3},
    {"scope": "backend"},
    {"status": "any"},
    {"tags": ["x"]},
    {"explain": True},
    {"max_chars": 2_000},
    {"include_content": True},
    {"project_id": "q"},
    {"mode": "cross_project"},
]


@pytest.mark.covers("tools.memory.cursor")
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_a_cursor_is_bound_to_every_argument(desk: "MemoryDesk", change: dict[str, Any]) -> None:
    for number in range(5):
        desk.add(f"common {number}")
    asked = {"query": "common", "limit": 2}
    cursor = desk.ok("search", **asked)["next_cursor"]
    assert len(desk.ok("search", **asked, cursor=cursor)["results"]) == 2
    error = desk.fails("search", **{**asked, **change}, cursor=cursor)
    assert error["error_code"] == "INVALID_PARAM"
    assert "cursor" in error["detail"]


@pytest.mark.covers("tools.memory.cursor")
def test_a_cursor_belongs_to_its_principal_and_its_store(open_desk: "DeskMaker") -> None:
    desk, other = open_desk(), open_desk()
    for each in (desk, other):
        for number in range(3):
            each.add(f"common {number}")
    asked = {"query": "common", "limit": 1}
    cursor = desk.ok("search", **asked)["next_cursor"]
    desk.caller = Caller(author="tester/1", client="test", principal="mallory")
    assert desk.fails("search", **asked, cursor=cursor)["error_code"] == "INVALID_PARAM"
    assert other.fails("search", **asked, cursor=cursor)["error_code"] == "INVALID_PARAM"


@pytest.mark.covers("tools.memory.cursor")
@given(st.text(max_size=40))
def test_a_made_up_cursor_is_refused(shared_desk: "MemoryDesk", text: str) -> None:
    error = shared_desk.fails("search", query="", cursor=text)
    assert error["error_code"] == "INVALID_PARAM"


@pytest.fixture(scope="module")
def shared_desk(open_desk: "DeskMaker") -> "MemoryDesk":
    return open_desk()


@pytest.mark.covers("tools.memory.limit_clamped")
def test_a_limit_over_the_cap_is_lowered_with_a_warning(open_desk: "DeskMaker") -> None:
    desk = open_desk(limits=Limits(max_search_results=2))
    for number in range(4):
        desk.add(f"common {number}")
    page = desk.ok("search", query="common", limit=500)
    assert len(page["results"]) == 2
    assert any("limit" in warning for warning in page["warnings"])
    assert json.dumps(page)
