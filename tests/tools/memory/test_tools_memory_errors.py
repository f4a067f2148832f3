"""Every error code, reached through the tools; its shape, its words, its trace in the audit."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from schemory.errors import (
    ConflictError,
    InvalidCursorError,
    Problem,
    UndoConflictError,
)
from schemory.memory.inputs import ProjectRef
from schemory.memory.settings import Limits
from schemory.tools.memory_replies import memory_error
from schemory.tools.registry import Caller

if TYPE_CHECKING:
    from tests.tools.memory.conftest import DeskMaker, MemoryDesk

CODES = {
    *("INVALID_PARAM", "NOT_FOUND", "CONFLICT", "LIMIT_EXCEEDED", "CONFIRM_REQUIRED"),
    *("PATH_NOT_ALLOWED", "SECRET_DETECTED", "STORE_BUSY", "STORE_FULL", "STORE_READONLY"),
    *("STORE_CORRUPT", "STORE_ERROR", "UNSUPPORTED", "INTERNAL"),
}
NEW: dict[str, Any] = {"scope": "s", "topic": "t", "content": "c", "source_type": "handoff"}
TOKEN = "ghp_" + "aB3dE5fG7hJ9" * 3


@pytest.mark.covers("tools.memory.error")
def test_an_error_has_the_specified_shape(desk: "MemoryDesk") -> None:
    reply = desk.call("memory_read_entry", {"project_id": "p", "entry_id": "nope"})
    assert set(reply.structured) == {"ok", "error_code", "detail", "project_id", "hint"}
    assert reply.structured["project_id"] == "p"
    for part in ("error_code", "detail", "hint"):
        assert str(reply.structured[part]) in reply.text


@pytest.mark.covers("tools.memory.error.all_problems")
def test_arguments_that_break_the_schema_are_all_told(desk: "MemoryDesk") -> None:
    arguments = {
        "project_id": "p",
        "topic": 7,
        "source_type": "decsion",
        "tags": "x",
        "importance": 9,
        "colour": "red",
    }
    error = desk.call("memory_add_entry", arguments)
    assert error.structured["error_code"] == "INVALID_PARAM"
    detail = str(error.structured["detail"])
    for word in ("content", "topic", "source_type", "decision", "tags", "array", "colour"):
        assert word in detail
    assert "importance" in detail
    assert desk.found() == []


@pytest.mark.covers("tools.memory.error.all_problems")
def test_fields_that_break_the_rules_are_all_told(desk: "MemoryDesk") -> None:
    error = desk.fails(
        "add_entry", topic=" ", content="\0", source_type="handoff", scope="s", title="x" * 201
    )
    assert error["error_code"] == "INVALID_PARAM"
    for word in ("topic", "content", "title", "200"):
        assert word in error["detail"]


@pytest.mark.covers("tools.memory.error.no_project")
def test_without_any_project_every_tool_says_what_to_pass(desk: "MemoryDesk") -> None:
    error = desk.call("memory_status", {}).structured
    assert error["error_code"] == "INVALID_PARAM"
    assert "project_path" in str(error["hint"])
    assert "project_id" not in error


@pytest.mark.covers("tools.memory.error.arguments")
@pytest.mark.parametrize("arguments", [[], 7, "x", "[]", [1]])
def test_arguments_that_are_no_object_are_an_error(desk: "MemoryDesk", arguments: object) -> None:
    reply = desk.call("memory_status", arguments)
    assert reply.structured["error_code"] == "INVALID_PARAM"


@pytest.mark.covers("tools.memory.error.codes")
def test_each_refusal_of_a_call_has_its_code(open_desk: "DeskMaker", tmp_path: Path) -> None:
    desk = open_desk(limits=Limits(max_tags=2), allowed_roots=(str(tmp_path),))
    first, second = desk.add("one"), desk.add("two")
    ends = {"source_entry_id": first, "target_entry_id": second}
    desk.ok("link_entries", **ends, relation="supersedes")
    inside = {"project_path": str(tmp_path)}
    refusals: list[tuple[str, str, dict[str, Any]]] = [
        ("INVALID_PARAM", "handoff_summary", {"since": "yesterday"}),
        ("LIMIT_EXCEEDED", "search", {"query": "x" * 4_001}),
        ("INVALID_PARAM", "search", {"query": "x", "created_after": "soon"}),
        ("INVALID_PARAM", "search", {"query": "x", "tags_match": "some"}),
        ("INVALID_PARAM", "search", {"query": "x", "limit": 0}),
        ("INVALID_PARAM", "find_similar", {}),
        ("INVALID_PARAM", "unlink_entries", {"relation": "explains"}),
        ("INVALID_PARAM", "update_entry", {"entry_id": first}),
        ("INVALID_PARAM", "status", {"project_path": "relative/path"}),
        ("NOT_FOUND", "read_entry", {"entry_id": "nope"}),
        ("NOT_FOUND", "read_entry", {"entry_id": first, "project_id": "q"}),
        ("NOT_FOUND", "delete_entry", {"entry_id": "nope", "confirm": True}),
        ("NOT_FOUND", "list_entry_links", {"entry_id": "nope"}),
        ("NOT_FOUND", "unlink_entries", {"link_id": "nope"}),
        ("CONFLICT", "update_entry", {"entry_id": first, "title": "T", "expected_revision": 9}),
        ("CONFLICT", "restore_entry", {"entry_id": second}),
        ("CONFLICT", "link_entries", {**_reversed(ends), "relation": "supersedes"}),
        ("LIMIT_EXCEEDED", "add_entry", {**NEW, "tags": ["a", "b", "c"]}),
        ("LIMIT_EXCEEDED", "add_entry", {**NEW, "title": "x" * 201}),
        ("CONFIRM_REQUIRED", "delete_entry", {"entry_id": first}),
        ("PATH_NOT_ALLOWED", "status", {"project_path": str(tmp_path.parent)}),
        ("PATH_NOT_ALLOWED", "add_entry", {**NEW, **inside, "source_path": "../../etc/passwd"}),
        ("PATH_NOT_ALLOWED", "export_project", {**inside, "save_path": "/nowhere/m.json"}),
        ("SECRET_DETECTED", "add_entry", {**NEW, "content": f"use {TOKEN}"}),
    ]
    for code, tool, arguments in refusals:
        error = desk.fails(tool, **arguments)
        assert (error["error_code"], tool) == (code, tool), error
        assert error["detail"]
        assert TOKEN not in str(error)


def _reversed(ends: dict[str, str]) -> dict[str, str]:
    return {
        "source_entry_id": ends["target_entry_id"],
        "target_entry_id": ends["source_entry_id"],
    }


@pytest.mark.covers("tools.memory.error.secret")
def test_a_credential_is_told_by_rule_and_place(desk: "MemoryDesk") -> None:
    error = desk.fails("add_entry", **{**NEW, "content": f"use {TOKEN}", "summary": TOKEN})
    assert [(f["field"], f["start"], f["end"]) for f in error["findings"]] == [
        ("content", 4, 4 + len(TOKEN)),
        ("summary", 0, len(TOKEN)),
    ]
    assert "allow_secret" in error["hint"]
    stored = desk.ok("add_entry", **{**NEW, "content": f"use {TOKEN}"}, allow_secret=True)
    assert any("credential" in warning for warning in stored["warnings"])


@pytest.mark.covers("tools.memory.error.secret")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_entry", {"entry_id": TOKEN}),
        ("unlink_entries", {"link_id": TOKEN}),
        ("link_entries", {"source_entry_id": TOKEN, "target_entry_id": "x", "relation": "blocks"}),
        ("add_entry", {**NEW, TOKEN: 1}),
        ("add_entry", {**NEW, "source_type": TOKEN}),
        ("search", {"query": "x", "mode": TOKEN}),
        ("search", {"query": "x", "cursor": TOKEN}),
        ("search", {"query": "x", "project_id": TOKEN}),
        ("handoff_summary", {"since": TOKEN}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_credential_in_the_place_of_anything_else_is_not_said_again(
    desk: "MemoryDesk", tool: str, arguments: dict[str, Any]
) -> None:
    reply = desk.call(f"memory_{tool}", {**desk.project, **arguments})
    assert reply.is_error
    assert TOKEN not in reply.text
    assert TOKEN not in str(reply.structured)


@contextmanager
def hooked(hook: Callable[[apsw.Connection], None]) -> Iterator[None]:
    """Call `hook` for each connection that is opened meanwhile."""
    apsw.connection_hooks.append(hook)
    try:
        yield
    finally:
        apsw.connection_hooks.remove(hook)


@pytest.mark.covers("tools.memory.error.store")
def test_a_busy_store_is_told(open_desk: "DeskMaker", tmp_path: Path) -> None:
    path = tmp_path / "busy.db"
    desk = open_desk(path=path, busy_timeout_seconds=0.1)
    desk.add("before")
    with closing(apsw.Connection(str(path))) as holder:
        holder.execute("BEGIN IMMEDIATE")
        assert desk.fails("add_entry", **NEW)["error_code"] == "STORE_BUSY"
        assert len(desk.found("before")) == 1


@pytest.mark.covers("tools.memory.error.store")
def test_a_full_store_is_told(open_desk: "DeskMaker", tmp_path: Path) -> None:
    path = tmp_path / "full.db"
    open_desk(path=path).add("before")

    def confine(db: apsw.Connection) -> None:
        db.pragma("max_page_count", path.stat().st_size // 4096 + 5)

    with hooked(confine):
        desk = open_desk(path=path)
        big = {**NEW, "content": " ".join(f"word{n}" for n in range(20_000))}
        assert desk.fails("add_entry", **big)["error_code"] == "STORE_FULL"
        assert len(desk.found("")) == 1


@pytest.mark.covers("tools.memory.error.store")
def test_a_store_that_cannot_be_written_is_told_and_still_read(
    open_desk: "DeskMaker", tmp_path: Path
) -> None:
    path = tmp_path / "readonly.db"
    open_desk(path=path).add("before")
    with hooked(lambda db: db.pragma("query_only", 1)):
        desk = open_desk(path=path)
        assert desk.fails("add_entry", **NEW)["error_code"] == "STORE_READONLY"
        assert len(desk.found("before")) == 1


@pytest.mark.covers("tools.memory.error.store")
def test_a_damaged_store_is_told(open_desk: "DeskMaker", tmp_path: Path) -> None:
    path = tmp_path / "damaged.db"
    sound = open_desk(path=path)
    sound.add("before")
    sound.store.close()
    with closing(apsw.Connection(str(path))) as db:
        root = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'memory_entries'").get
        size = db.pragma("page_size")
    with path.open("r+b") as file:
        file.seek((int(root) - 1) * int(size))
        file.write(b"\xff" * int(size))
    desk = open_desk(path=path)
    assert desk.fails("search", query="")["error_code"] == "STORE_CORRUPT"


@pytest.mark.covers("tools.memory.error.store")
def test_a_store_whose_file_went_away_is_not_called_damaged(
    open_desk: "DeskMaker", tmp_path: Path
) -> None:
    path = tmp_path / "gone.db"
    desk = open_desk(path=path)
    desk.add("before")
    path.rename(tmp_path / "elsewhere.db")
    for tool, arguments in (("add_entry", NEW), ("search", {"query": "before"})):
        error = desk.fails(tool, **arguments)
        assert error["error_code"] == "STORE_ERROR"
        assert "removed or replaced" in error["detail"]
        assert "Put the file back" in error["hint"]


@pytest.mark.covers("tools.memory.error.store")
def test_a_store_that_holds_no_memory_is_told(open_desk: "DeskMaker") -> None:
    desk = open_desk(terms=None)
    assert desk.fails("search", query="x")["error_code"] == "UNSUPPORTED"


@pytest.mark.covers("tools.memory.error.internal")
def test_a_failure_inside_shows_an_id_and_nothing_else(desk: "MemoryDesk") -> None:
    def broken() -> object:
        raise RuntimeError("vermilion")

    desk.memory.place = lambda _ref: broken()  # type: ignore[method-assign,assignment,return-value]  # a defect
    told: list[tuple[str, Exception]] = []
    desk.toolbox.on_internal_error = lambda error_id, fault: told.append((error_id, fault))
    reply = desk.call("memory_search", {"project_id": "p", "query": "x", "cursor": "y"})
    ((error_id, fault),) = told
    assert isinstance(fault, RuntimeError)
    assert reply.structured["error_code"] == "INTERNAL"
    assert error_id in str(reply.structured["detail"])
    assert "vermilion" not in reply.text + str(reply.structured)


@pytest.mark.covers("tools.memory.error.words")
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidCursorError("c"), "INVALID_PARAM"),
        (UndoConflictError("u"), "CONFLICT"),
    ],
)
def test_other_codes_are_said_in_the_memorys_words(error: Any, code: str) -> None:
    assert memory_error(error).structured["error_code"] == code
    assert code in CODES


@pytest.mark.covers("tools.memory.error.bounded")
def test_even_a_thousand_problems_fit_an_answer() -> None:
    problems = [
        Problem(
            code="CONFLICT",
            path=f"$.x[{n}]",
            message=f"fault {n} " + "é" * 900,
            suggestion="s" * 900,
        )
        for n in range(1_000)
    ]
    reply = memory_error(ConflictError("many", problems=problems))
    assert len(reply.text.encode()) < 8_000
    assert "1000 problems" in reply.text


@pytest.mark.covers("tools.memory.error.audited")
def test_refused_writes_are_audited_and_refused_reads_are_not(desk: "MemoryDesk") -> None:
    desk.call("memory_add_entry", {"project_id": "p", "content": "vermilion", "tags": 7})
    desk.call("memory_delete_entry", {"project_id": "p", "entry_id": "nope"})
    desk.call("memory_search", {"project_id": "p", "query": 7, "limit": "x"})
    desk.call("memory_read_entry", {"project_id": "p", "entry_id": "nope"})
    rows = desk.memory.list_audit(ProjectRef(project_id="p")).rows
    assert [(row.operation, row.result["error_code"]) for row in rows] == [
        ("memory_add_entry", "INVALID_PARAM"),
        ("memory_delete_entry", "NOT_FOUND"),
    ]
    assert "vermilion" not in str(rows)
    assert {row.actor for row in rows} == {"tester/1"}


@pytest.mark.covers("tools.memory.principal")
def test_a_principal_reaches_its_own_projects_only(desk: "MemoryDesk") -> None:
    entry_id = desk.add("secret plan")
    other = desk.ok("add_entry", **NEW, project_id="q")["entry_id"]
    desk.caller = Caller(author="a", client="http", principal="pat", projects=("q",))
    for tool, arguments in (
        ("search", {"query": ""}),
        ("read_entry", {"entry_id": entry_id}),
        ("add_entry", NEW),
        ("delete_entry", {"entry_id": entry_id, "confirm": True}),
    ):
        assert desk.fails(tool, **arguments)["error_code"] == "INVALID_PARAM"
    assert desk.fails("read_entry", entry_id=entry_id, project_id="q")["error_code"] == "NOT_FOUND"
    cross = desk.ok("search", query="", mode="cross_project")
    assert [hit["id"] for hit in cross["results"]] == [other]
    gone = desk.fails("read_entry", entry_id=entry_id, mode="cross_project")
    assert gone["error_code"] == "NOT_FOUND"
