"""The shapes of answers: what each tool's success and error hold, structured and as text."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schemory.memory.redaction import NAMES
from schemory.model.entry import Status
from schemory.tools.memory import MEMORY_SPECS

if TYPE_CHECKING:
    from tests.tools.memory.conftest import DeskMaker, MemoryDesk

HIT_KEYS = {
    *("id", "project_id", "scope", "topic", "title", "snippet", "tags", "source_type"),
    *("source_ref", "status", "confidence", "importance", "created_at", "updated_at"),
    *("score", "match", "warnings", "verification_hint"),
}


@pytest.mark.covers("tools.memory.success")
def test_a_success_is_ok_with_project_and_warnings(desk: "MemoryDesk") -> None:
    done = desk.ok("add_entry", scope="s", topic="t", content="c", source_type="handoff")
    assert done == {
        "ok": True,
        "project_id": "p",
        "project": {"id": "p", "resolved_by": "argument", "display_name": "p"},
        "warnings": [],
        "deduped": False,
        "entry_id": done["entry_id"],
        "status": "active",
        "revision": 1,
    }


@pytest.mark.covers("tools.memory.project_told")
def test_status_and_every_write_say_which_project_it_is_and_why(
    desk: "MemoryDesk", tmp_path: Path
) -> None:
    folder = tmp_path / "api"
    folder.mkdir()
    (folder / ".env").write_text("MEMORY_PROJECT_ID=team/api\nMEMORY_PROJECT_DISPLAY_NAME=API\n")
    desk.project = {"project_path": str(folder)}
    project = {
        "id": "team/api",
        "resolved_by": "env",
        "display_name": "API",
        "canonical_path": str(folder.resolve()),
    }
    first = desk.ok("add_entry", scope="s", topic="t", content="c", source_type="handoff")
    second = desk.add("other")
    entry_id = first["entry_id"]
    answers = [
        first,
        desk.ok("status"),
        desk.ok("update_entry", entry_id=entry_id, title="T"),
        desk.ok("invalidate_entry", entry_id=entry_id),
        desk.ok("restore_entry", entry_id=entry_id),
        desk.ok("archive_entry", entry_id=entry_id),
        desk.ok(
            "link_entries", source_entry_id=second, target_entry_id=entry_id, relation="explains"
        ),
        desk.ok(
            "unlink_entries", source_entry_id=second, target_entry_id=entry_id, relation="explains"
        ),
        desk.ok("rebuild_index"),
        desk.ok("export_project", save_path="out.json"),
        desk.ok("import_project", import_path="out.json", on_conflict="merge"),
        desk.ok("delete_entry", entry_id=entry_id, confirm=True),
    ]
    assert [answer["project"] for answer in answers] == [project] * len(answers)


@pytest.mark.covers("tools.memory.status")
def test_status_tells_of_the_store_and_the_project(desk: "MemoryDesk") -> None:
    desk.ok("invalidate_entry", entry_id=desk.add("old"))
    desk.add("new")
    told = desk.ok("status")
    assert told["counts"] == {
        "entries": 2,
        "active": 1,
        "invalidated": 1,
        "archived": 0,
        "superseded": 0,
    }
    assert told["features"] == {"fts": True, "vector": False, "audit_log": True}
    assert told["db_path"] == ":memory:"
    assert told["index"] == "sound"


@pytest.mark.covers("tools.memory.status")
def test_an_empty_memory_is_told_to_be_empty(desk: "MemoryDesk") -> None:
    assert "empty" in desk.text("status")


@pytest.mark.covers("tools.memory.hit")
def test_a_hit_has_the_specified_fields(desk: "MemoryDesk") -> None:
    desk.add(
        "Tokens expire at noon", title="Expiry", source_ref="mantis:1", tags=["b"], confidence=0.5
    )
    (hit,) = desk.ok("search", query="noon")["results"]
    assert set(hit) == HIT_KEYS
    assert hit["snippet"] == "Tokens expire at >>>noon<<<"
    assert (hit["match"], hit["warnings"], hit["confidence"]) == ("fts", [], 0.5)


@pytest.mark.covers("tools.memory.absent_fields")
def test_what_an_entry_does_not_have_is_left_out(desk: "MemoryDesk") -> None:
    entry_id = desk.add("Bare")
    (hit,) = desk.ok("search", query="bare")["results"]
    assert set(hit) == HIT_KEYS - {"title", "source_ref", "confidence"}
    entry = desk.ok("read_entry", entry_id=entry_id)["entry"]
    assert None not in entry.values()
    assert set(entry) == {
        *("id", "project_id", "scope", "topic", "content", "tags", "source_type", "status"),
        *("importance", "created_by", "created_at", "updated_at", "content_sha256", "revision"),
        *("verification_hint", "warnings"),
    }


@pytest.mark.covers("tools.memory.include_content")
def test_content_comes_only_when_it_is_asked_for(desk: "MemoryDesk") -> None:
    desk.add("word " + "filler " * 200)
    (short,) = desk.ok("search", query="word")["results"]
    assert "content" not in short
    assert len(short["snippet"]) < 300
    (whole,) = desk.ok("search", query="word", include_content=True)["results"]
    assert whole["content"] == "word " + "filler " * 200


@pytest.mark.covers("tools.memory.read")
def test_reading_gives_content_and_where_it_goes_on(desk: "MemoryDesk") -> None:
    entry_id = desk.add("0123456789")
    read = desk.ok("read_entry", entry_id=entry_id, offset=2, max_chars=3)
    assert (read["entry"]["content"], read["content_chars"]) == ("234", 10)
    assert (read["truncated"], read["next_offset"]) == (True, 5)
    last = desk.ok("read_entry", entry_id=entry_id, offset=5)
    assert last["entry"]["content"] == "56789"
    assert "truncated" not in last


@pytest.mark.covers("tools.memory.history")
def test_earlier_texts_come_when_asked_for(desk: "MemoryDesk") -> None:
    entry_id = desk.add("first")
    desk.ok("update_entry", entry_id=entry_id, content="second")
    assert "history" not in desk.ok("read_entry", entry_id=entry_id)
    read = desk.ok("read_entry", entry_id=entry_id, include_history=True)
    assert [(each["revision"], each["content"]) for each in read["history"]] == [(1, "first")]
    assert "history_truncated" not in read


@pytest.mark.covers("tools.memory.history.more")
def test_earlier_texts_that_are_left_out_are_told_in_both_forms(open_desk: "DeskMaker") -> None:
    desk = open_desk(budget=3_000)
    entry_id = desk.add("first " + "word " * 500)
    for number in range(3):
        desk.ok("update_entry", entry_id=entry_id, content=f"{number} " + "word " * 500)
    read = desk.ok("read_entry", entry_id=entry_id, include_history=True)
    assert (read["history"], read["history_truncated"]) == ([], True)
    told = desk.text("read_entry", entry_id=entry_id, include_history=True)
    assert "It has earlier texts. A small max_chars leaves more room for them." in told
    wide = open_desk(budget=60_000)
    entry_id = wide.add("0")
    for number in range(1, 102):
        wide.ok("update_entry", entry_id=entry_id, content=str(number))
    read = wide.ok("read_entry", entry_id=entry_id, include_history=True)
    assert (len(read["history"]), read["history_truncated"]) == (100, True)
    told = wide.text("read_entry", entry_id=entry_id, include_history=True)
    assert "There are earlier texts than the 100 shown.\n" in told


@pytest.mark.covers("tools.memory.names")
def test_names_come_by_count_and_say_what_was_asked(desk: "MemoryDesk") -> None:
    desk.add("1", scope="b", topic="x", tags=["T", "u"])
    desk.add("2", scope="a", topic="x", tags=["t"])
    desk.add("3", scope="b", topic="y")
    scopes = desk.ok("list_scopes")
    assert scopes["items"] == [{"name": "b", "count": 2}, {"name": "a", "count": 1}]
    assert scopes["status"] == "active"
    topics = desk.ok("list_topics", scope="B")
    assert topics["scope"].casefold() == "b"
    assert topics["items"] == [{"name": "x", "count": 1}, {"name": "y", "count": 1}]
    assert desk.ok("list_tags", topic="x")["items"][0] == {"name": "t", "count": 2}
    cut = desk.ok("list_tags", limit=1)
    assert (len(cut["items"]), cut["truncated"]) == (1, True)
    assert desk.ok("list_tags", status="any")["status"] == "any"


@pytest.mark.covers("tools.memory.status_changed")
def test_invalidating_is_idempotent_and_restoring_clears_it(desk: "MemoryDesk") -> None:
    entry_id = desk.add()
    first = desk.ok("invalidate_entry", entry_id=entry_id, reason="wrong")
    assert (first["previous_status"], first["status"], first["changed"]) == (
        "active",
        "invalidated",
        True,
    )
    again = desk.ok("invalidate_entry", entry_id=entry_id)
    assert (again["previous_status"], again["changed"]) == ("invalidated", False)
    assert again["invalidated_at"] == first["invalidated_at"]
    back = desk.ok("restore_entry", entry_id=entry_id)
    assert (back["status"], "invalidated_at" in back) == ("active", False)
    away = desk.ok("archive_entry", entry_id=entry_id)
    assert (away["previous_status"], away["status"]) == ("active", "archived")


@pytest.mark.covers("tools.memory.links")
def test_links_are_made_listed_and_removed(desk: "MemoryDesk") -> None:
    old, new = desk.add("old"), desk.add("new")
    ends = {"source_entry_id": new, "target_entry_id": old, "relation": "supersedes"}
    made = desk.ok("link_entries", **ends, label="clearer")
    assert made["changed"] is True
    assert made["target_status"] == "superseded"
    assert desk.ok("link_entries", **ends)["changed"] is False
    for direction, count in (("in", 0), ("out", 1), ("both", 1)):
        links = desk.ok("list_entry_links", entry_id=new, direction=direction)["links"]
        assert len(links) == count
    (link,) = desk.ok("list_entry_links", entry_id=old)["links"]
    assert link == {
        "link_id": made["link_id"],
        "label": "clearer",
        "created_at": made["created_at"],
        **ends,
    }
    removed = desk.ok("unlink_entries", link_id=made["link_id"])
    assert (removed["relation"], removed["target_status"]) == ("supersedes", "active")
    assert desk.ok("read_entry", entry_id=old)["entry"]["status"] == "active"


@pytest.mark.covers("tools.memory.handoff")
def test_a_handoff_has_its_groups_with_an_entry_behind_each_line(desk: "MemoryDesk") -> None:
    ids = {
        kind: desk.add(f"about {kind}", source_type=kind)
        for kind in ("decision", "handoff", "workaround", "bug_pattern")
    }
    gone = desk.add("gone")
    desk.ok("invalidate_entry", entry_id=gone)
    told = desk.ok("handoff_summary", since="24h")
    groups = {name: [line["entry_id"] for line in lines] for name, lines in told["groups"].items()}
    assert groups == {
        "decisions": [ids["decision"]],
        "handoffs": [ids["handoff"]],
        "workarounds": [ids["workaround"]],
        "bug_patterns": [ids["bug_pattern"]],
        "retired": [gone],
    }
    assert told["truncated"] is False


@pytest.mark.covers("tools.memory.similar")
def test_similar_entries_have_a_similarity(desk: "MemoryDesk") -> None:
    words = "the nightly job fails when the lock file is left behind by a crash"
    first, second = desk.add(words), desk.add(words + " again")
    (found,) = desk.ok("find_similar", entry_id=first)["results"]
    assert found["id"] == second
    assert 0.5 < found["similarity"] <= 1
    told = desk.ok("add_entry", scope="x", topic="y", content=words + "!", source_type="decision")
    assert {each["entry_id"] for each in told["similar"]} >= {first}


@pytest.mark.covers("tools.memory.transfer")
def test_a_project_goes_out_to_a_file_and_comes_back(desk: "MemoryDesk", tmp_path: Path) -> None:
    desk.project = {"project_path": str(tmp_path)}
    entry_id = desk.add("kept", tags=["t"])
    out = desk.ok("export_project", save_path="m.jsonl", format="jsonl")
    assert (out["entries"], out["tags"], out["links"]) == (1, 1, 0)
    assert Path(out["save_path"]).stat().st_size == out["size_bytes"]
    desk.ok("delete_entry", entry_id=entry_id, confirm=True)
    dry = desk.ok("import_project", import_path="m.jsonl", dry_run=True)
    assert (dry["counts"]["inserted"], dry["dry_run"]) == (1, True)
    assert desk.found() == []
    assert desk.ok("import_project", import_path="m.jsonl")["counts"]["inserted"] == 1
    assert desk.found() == [entry_id]


@pytest.mark.covers("tools.memory.transfer")
def test_an_export_has_the_format_that_its_name_says(desk: "MemoryDesk", tmp_path: Path) -> None:
    desk.project = {"project_path": str(tmp_path)}
    desk.add("kept")
    for name, expected in (("m.zip", "zip"), ("m.JSONL", "jsonl"), ("m.txt", "json")):
        assert desk.ok("export_project", save_path=name)["format"] == expected
    assert (tmp_path / "m.zip").read_bytes().startswith(b"PK")
    assert desk.ok("export_project", save_path="n.zip", format="json")["format"] == "json"


@pytest.mark.covers("tools.memory.update_null")
def test_null_clears_an_optional_field_and_no_required_one(desk: "MemoryDesk") -> None:
    entry_id = desk.add("c", title="T", summary="S", tags=["a"], confidence=0.5)
    changed = desk.ok("update_entry", entry_id=entry_id, title=None, tags=None, confidence=None)
    assert set(changed["changed"]) == {"title", "tags", "confidence"}
    entry = desk.ok("read_entry", entry_id=entry_id)["entry"]
    assert ("title" in entry, entry["tags"], "confidence" in entry) == (False, [], False)
    assert entry["summary"] == "S"
    refused = desk.fails("update_entry", entry_id=entry_id, content=None, topic=None)
    assert refused["error_code"] == "INVALID_PARAM"
    assert "content" in refused["detail"]
    assert "topic" in refused["detail"]


@pytest.mark.covers("tools.memory.cross_project")
def test_across_projects_there_is_no_project_at_the_top(desk: "MemoryDesk") -> None:
    desk.add("shared word")
    other = desk.ok(
        "add_entry", project_id="q", scope="s", topic="t", content="word", source_type="handoff"
    )["entry_id"]
    found = desk.ok("search", query="word", mode="cross_project")
    assert "project_id" not in found
    assert {hit["project_id"] for hit in found["results"]} == {"p", "q"}
    assert found["projects_searched"] == 2
    read = desk.ok("read_entry", entry_id=other, mode="cross_project")
    assert "project_id" not in read
    assert read["entry"]["project_id"] == "q"


@pytest.mark.covers("tools.memory.json_text")
def test_values_that_come_as_json_text_are_read(desk: "MemoryDesk") -> None:
    done = desk.ok(
        "add_entry",
        scope="s",
        topic="t",
        content='["not parsed"]',
        source_type="handoff",
        tags='["x", "y"]',
        importance="4",
        confidence="0.25",
        dedupe="false",
    )
    entry = desk.ok("read_entry", entry_id=done["entry_id"])["entry"]
    assert (entry["tags"], entry["importance"], entry["confidence"]) == (["x", "y"], 4, 0.25)
    assert entry["content"] == '["not parsed"]'


@pytest.mark.covers("tools.memory.statuses")
@pytest.mark.parametrize("status", [*Status, "any"])
def test_status_takes_one_value_or_any(desk: "MemoryDesk", status: str) -> None:
    ids: dict[str, str] = {}
    for name, tool in (("invalidated", "invalidate_entry"), ("archived", "archive_entry")):
        ids[name] = desk.add(name)
        desk.ok(tool, entry_id=ids[name])
    ids["superseded"], ids["active"] = desk.add("superseded"), desk.add("active")
    ends = {"source_entry_id": ids["active"], "target_entry_id": ids["superseded"]}
    desk.ok("link_entries", **ends, relation="supersedes")
    wanted = set(ids.values()) if status == "any" else {ids[status]}
    assert set(desk.found(status=status)) == wanted
    hints = {h["verification_hint"] for h in desk.ok("search", query="", status="any")["results"]}
    assert len(hints) == 4
    for hit in desk.ok("search", query="", status=status)["results"]:
        is_active = hit["status"] == "active"
        assert hit["warnings"] == ([] if is_active else [f"status_{hit['status']}"])


@pytest.mark.covers("tools.memory.server_project")
def test_the_servers_project_is_the_default_and_status_has_both_halves(
    open_desk: "DeskMaker",
) -> None:
    desk = open_desk(server="team/app")
    desk.project = {}
    assert desk.toolbox.call("add_nodes", {"nodes": [{"name": "A", "nodeType": "t"}]}).text
    told: dict[str, Any] = desk.ok("status")
    assert told["project"]["resolved_by"] == "server"
    assert told["project_id"] == "team/app"


@pytest.mark.covers("memory.audit.redacted")
def test_the_audit_knows_every_argument_by_name() -> None:
    named = {
        name for spec in MEMORY_SPECS for name in (*spec.properties, *(spec.unadvertised or ()))
    }
    assert named | {"project_id", "project_path"} <= NAMES


@pytest.mark.covers("tools.memory.error.all_problems")
def test_the_words_of_a_filter_are_listed_once_and_checked_everywhere(desk: "MemoryDesk") -> None:
    listed = desk.listed("search")["inputSchema"]["properties"]["source_type"]
    assert listed == {"type": "string"}
    assert "enum" in desk.listed("add_entry")["inputSchema"]["properties"]["source_type"]
    error = desk.fails("search", query="x", source_type="decisoin")
    assert error["error_code"] == "INVALID_PARAM"
    assert "decision" in error["detail"]
    assert desk.ok("search", query="x", source_type="decision")["results"] == []
