"""No answer of any tool holds another project's bytes, unless `cross_project` was said."""

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemory.model.jsonvalue import compact

if TYPE_CHECKING:
    from tests.tools.memory.conftest import DeskMaker, MemoryDesk

PROJECTS = ("red", "green", "blue")
WORDS = ("token", "retry", "deploy")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                *("add", "add", "add", "update", "invalidate", "archive", "restore", "delete"),
                *("link", "unlink", "read", "search", "names", "handoff", "similar", "links"),
                *("rebuild", "status"),
            ]
        ),
        st.sampled_from(PROJECTS),
        st.integers(0, 30),
    ),
    min_size=5,
    max_size=40,
)


class Walk:
    """Random calls over three projects, whose every stored text carries its project's mark."""

    def __init__(self, desk: "MemoryDesk", run: int) -> None:
        self._desk = desk
        self._ids: list[tuple[str, str]] = []
        self._run = run
        self._count = 0

    def project(self, colour: str) -> str:
        return f"{colour}{self._run}"

    def step(self, verb: str, colour: str, number: int) -> None:
        """Make one call for a project, sometimes with another's entry, and check the answer."""
        arguments = self._arguments(verb, colour, number)
        if arguments is None:
            return
        tool, given = arguments
        project = {"project_id": self.project(colour)}
        reply = self._desk.call(f"memory_{tool}", {**project, **given})
        if verb == "add" and not reply.is_error:
            self._ids.append((colour, str(reply.structured["entry_id"])))
        told = reply.text + compact(reply.structured)
        for other in PROJECTS:
            if other != colour:
                assert f"mark-{other}" not in told

    def _arguments(self, verb: str, colour: str, number: int) -> tuple[str, Any] | None:
        mark, word = f"mark-{colour}", WORDS[number % 3]
        if verb == "add":
            self._count += 1
            text = f"{word} {mark} {self._count}"
            labels = {"scope": f"s {mark}", "topic": f"t {mark}", "tags": [mark]}
            kinds = {"source_type": "decision", "title": mark, "summary": mark}
            return "add_entry", {"content": text, **labels, **kinds, "source_ref": mark}
        plain = {
            "search": ("search", {"query": word, "status": "any", "include_content": True}),
            "names": (f"list_{('scopes', 'topics', 'tags')[number % 3]}", {"status": "any"}),
            "handoff": ("handoff_summary", {}),
            "similar": ("find_similar", {"text": f"{word} mark", "status": "any"}),
            "rebuild": ("rebuild_index", {}),
            "status": ("status", {}),
        }
        if verb in plain:
            return plain[verb]
        if not self._ids:
            return None
        entry_id = self._ids[number % len(self._ids)][1]
        other_id = self._ids[(number + 1) % len(self._ids)][1]
        ends = {"source_entry_id": entry_id, "target_entry_id": other_id, "relation": "supersedes"}
        about = {"entry_id": entry_id}
        return {
            "update": ("update_entry", {**about, "content": f"{word} {mark} new {number}"}),
            "invalidate": ("invalidate_entry", {**about, "reason": mark}),
            "archive": ("archive_entry", about),
            "restore": ("restore_entry", about),
            "delete": ("delete_entry", {**about, "confirm": number % 2 == 0}),
            "link": ("link_entries", {**ends, "label": mark}),
            "unlink": ("unlink_entries", ends),
            "read": ("read_entry", {**about, "include_history": True}),
            "links": ("list_entry_links", about),
        }[verb]


@pytest.fixture(scope="module")
def shared(open_desk: "DeskMaker") -> "MemoryDesk":
    return open_desk()


@pytest.mark.covers("tools.memory.isolation")
def test_no_call_sees_another_projects_bytes(shared: "MemoryDesk") -> None:
    run = 0

    @settings(max_examples=30)
    @given(STEPS)
    def walk(steps: list[tuple[str, str, int]]) -> None:
        nonlocal run
        run += 1
        going = Walk(shared, run)
        for step in steps:
            going.step(*step)

    walk()


@pytest.mark.covers("tools.memory.isolation")
def test_only_cross_project_reaches_over(desk: "MemoryDesk") -> None:
    entry_id = desk.add("vermilion plan")
    there = {"project_id": "q"}
    assert desk.ok("search", query="vermilion", **there)["results"] == []
    assert desk.fails("read_entry", entry_id=entry_id, **there)["error_code"] == "NOT_FOUND"
    for mode in ("all", "global", "CROSS_PROJECT"):
        error = desk.fails("search", query="vermilion", mode=mode, **there)
        assert error["error_code"] == "INVALID_PARAM"
    assert len(desk.ok("search", query="vermilion", mode="cross_project")["results"]) == 1


@pytest.mark.covers("tools.memory.reads_create_nothing")
def test_reading_tools_create_no_project(desk: "MemoryDesk") -> None:
    entry_id = "nope"
    for tool, arguments in (
        ("status", {}),
        ("search", {"query": "x"}),
        ("search", {"query": ""}),
        ("list_scopes", {}),
        ("list_topics", {}),
        ("list_tags", {}),
        ("handoff_summary", {}),
        ("find_similar", {"text": "x"}),
    ):
        desk.ok(tool, **arguments)
    desk.fails("read_entry", entry_id=entry_id)
    desk.fails("list_entry_links", entry_id=entry_id)
    desk.fails("add_entry", topic="t", content="c", source_type="nonsense")
    assert desk.store.list_projects(limit=10) == ()
    with desk.store.read_memory("p") as reader:
        assert reader.find_project() is None
