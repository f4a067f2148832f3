"""What is exported comes back from every form exactly as it was (memory.md §7)."""

import hashlib
import json
import os
import re
import stat
import zipfile
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemory.errors import ConflictError, InvalidParamError, PathNotAllowedError
from schemory.memory.labels import normal_label, normal_tag
from schemory.model.entry import Entry, Link, Relation, SourceType, Status, Tag
from schemory.transfer.memory.options import ExportFormat

if TYPE_CHECKING:
    from tests.transfer.conftest import Box, BoxMaker

FORMS = [form.value for form in ExportFormat]
HEX = "0123456789abcdef"

_texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=[chr(c) for c in range(32)])
    | st.sampled_from('\t\n\r"\\/\u2028\u2029éß字🙂{}[],:'),
    min_size=1,
    max_size=40,
).filter(str.strip)
_labels = _texts.map(normal_label).filter(bool)
_tags = _texts.map(normal_tag).filter(bool)
_moments = st.datetimes(max_value=datetime(2026, 3, 9)).map(  # noqa: DTZ001 (UTC is written)
    lambda d: f"{d.year:04}-{d:%m-%dT%H:%M:%S}.{d.microsecond // 1000:03}Z"
)
_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=6,
)
_metadata = st.none() | st.dictionaries(_texts, _values, max_size=3)


# Inside the project, however it is spelt: other paths do not come back as they were.
_inner_paths = _texts.map(lambda text: "src/" + re.sub(r"[/\\\\:]", "_", text))


def _optional(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


_fields = st.fixed_dictionaries(
    {
        "content": _texts,
        "scope": _labels,
        "topic": _labels,
        "title": _optional(_texts),
        "summary": _optional(_texts),
        "source_type": st.sampled_from(SourceType),
        "source_ref": _optional(_texts),
        "source_path": _optional(_inner_paths),
        "source_uri": _optional(_texts),
        "source_sha256": _optional(st.text(HEX, min_size=64, max_size=64)),
        "source_bytes": _optional(st.integers(0, 10**9)),
        "source_blob": _optional(st.text(HEX, min_size=40, max_size=40)),
        "status": st.sampled_from(Status),
        "confidence": _optional(st.floats(0, 1)),
        "importance": st.integers(1, 5),
        "created_by": _optional(_texts),
        "created_at": _moments,
        "updated_at": _moments,
        "invalidated_at": _optional(_moments),
        "invalidation_reason": _optional(_texts),
        "metadata": _metadata,
        "tags": st.lists(_tags, max_size=3).map(lambda tags: tuple(sorted(set(tags)))),
        "revision": st.integers(1, 99),
    }
)
_links = st.fixed_dictionaries(
    {
        "relation": st.sampled_from(Relation),
        "label": _optional(_texts),
        "created_at": _moments,
        "metadata": _metadata,
    }
)


@st.composite
def _memories(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw entries, and links that go from a later entry to an earlier one."""
    return draw(st.lists(_fields, max_size=6))


def _things(
    box: "Box", drawn: list[dict[str, Any]], data: st.DataObject
) -> list[Entry | Link | Tag]:
    entries = [box.make(f"e{n}", **fields) for n, fields in enumerate(drawn)]
    links: dict[tuple[int, int, Relation], Link] = {}
    if len(entries) > 1:
        for n in range(data.draw(st.integers(0, 4))):
            late = data.draw(st.integers(1, len(entries) - 1))
            early = data.draw(st.integers(0, late - 1))
            facts = data.draw(_links)
            link = box.make_link(f"l{n}", f"e{late}", facts.pop("relation"), f"e{early}", **facts)
            links[late, early, link.relation] = link
    superseded = {k.target_entry_id for k in links.values() if k.relation is Relation.SUPERSEDES}
    entries = [
        replace(e, status=Status.SUPERSEDED)
        if e.id in superseded and e.status is Status.ACTIVE
        else e
        for e in entries
    ]
    names = sorted(
        {tag for entry in entries for tag in entry.tags}
        | set(data.draw(st.lists(_tags, max_size=2)))
    )
    tags = [
        Tag(name=name, created_at=data.draw(_moments), description=data.draw(_optional(_texts)))
        for name in names
    ]
    return [*tags, *entries, *links.values()]


@pytest.mark.covers("memory.transfer.round-trip")
@pytest.mark.parametrize("form", FORMS)
@given(drawn=_memories(), data=st.data())
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=20,
)
def test_every_field_comes_back_from_every_form(
    open_box: "BoxMaker", form: str, drawn: list[dict[str, Any]], data: st.DataObject
) -> None:
    box, other = open_box(), open_box()
    box.put(*_things(box, drawn, data))
    box.export(f"out.{form}", overwrite=True)
    report = other.take(f"out.{form}", allow_secret=True)
    assert other.held() == box.held()
    assert report.counts.inserted == len(drawn)
    again = other.take(f"out.{form}", "merge", allow_secret=True)
    assert (again.counts.unchanged, again.counts.inserted, again.seq) == (len(drawn), 0, None)
    assert other.held() == box.held()
    for made in (box, other):
        made.memory.store.close()  # type: ignore[attr-defined] # the fixture opened a real store


@pytest.fixture
def filled(box: "Box") -> "Box":
    """Four entries, one of each status, two links and a described tag."""
    box.put(
        Tag(name="auth", created_at="2026-01-01T00:00:00.000Z", description="who may do what"),
        box.make("a", "The pool is exhausted.", tags=("auth", "db")),
        box.make("b", "Old news.", status=Status.SUPERSEDED, tags=("old",)),
        box.make(
            "c", "Wrong.", status=Status.INVALIDATED, invalidated_at="2026-01-02T00:00:00.000Z"
        ),
        box.make("d", "Put away.", status=Status.ARCHIVED),
        box.make("e", "Second."),
        box.make_link("l1", "a", "supersedes", "b"),
        box.make_link("l2", "a", "explains", "e", label="because"),
    )
    return box


@pytest.mark.covers("memory.transfer.export.json")
def test_an_envelope_says_what_it_is_and_holds_entries_tags_and_links(filled: "Box") -> None:
    report = filled.export()
    raw = (filled.folder / "out.json").read_bytes()
    told = json.loads(raw)
    assert list(told) == ["format", "version", "exported_at", "project", "entries", "tags", "links"]
    assert (told["format"], told["version"]) == ("memory-node.project-export", 1)
    assert told["exported_at"] == "2026-03-08T09:05:07.000Z"
    assert told["project"]["id"] == "p"
    assert [entry["id"] for entry in told["entries"]] == ["a", "b", "c", "d", "e"]
    assert told["entries"][0]["title"] is None
    assert told["entries"][0]["tags"] == ["auth", "db"]
    assert told["tags"][0] == {
        "name": "auth",
        "description": "who may do what",
        "created_at": "2026-01-01T00:00:00.000Z",
    }
    assert [link["label"] for link in told["links"]] == [None, "because"]
    assert (report.entries, report.tags, report.links) == (5, 3, 2)
    assert (report.size_bytes, report.sha256) == (len(raw), hashlib.sha256(raw).hexdigest())


@pytest.mark.covers("memory.transfer.export.zip")
def test_an_archive_tells_the_sum_of_each_member(filled: "Box") -> None:
    filled.memory.invalidate_entry(filled.ref, "e")
    with pytest.raises(InvalidParamError):
        filled.memory.invalidate_entry(filled.ref, "e", reason="\0")
    filled.export("out.zip")
    with zipfile.ZipFile(filled.folder / "out.zip") as archive:
        names = set(archive.namelist())
        manifest = json.loads(archive.read("manifest.json"))
        summary = json.loads(archive.read("audit-summary.json"))
        for name, told in manifest["members"].items():
            data = archive.read(name)
            assert told == {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        assert len(json.loads(archive.read("entries.json"))) == 5
    assert names == {
        "manifest.json",
        "entries.json",
        "tags.json",
        "links.json",
        "audit-summary.json",
    }
    assert set(manifest["members"]) == names - {"manifest.json"}
    assert (manifest["format"], manifest["version"]) == ("memory-node.project-export", 1)
    assert summary == {"memory_invalidate_entry": {"ok": 1, "refused INVALID_PARAM": 1}}


@pytest.mark.covers("memory.transfer.export.jsonl")
def test_lines_hold_an_entry_each_with_tags_and_outgoing_links(filled: "Box") -> None:
    filled.export("out.jsonl")
    head, *rest = [
        json.loads(line) for line in (filled.folder / "out.jsonl").read_text().splitlines()
    ]
    entries = [line for line in rest if "content" in line]
    assert head["version"] == 1
    assert [entry["id"] for entry in entries] == ["a", "b", "c", "d", "e"]
    assert [link["target_entry_id"] for link in entries[0]["links"]] == ["b", "e"]
    assert entries[1]["links"] == []
    assert len({tuple(entry) for entry in entries}) == 1  # the same keys in the same order
    assert [line["tag"] for line in rest if "tag" in line] == ["auth", "db", "old"]


@pytest.mark.covers("memory.transfer.export.jsonl")
def test_equal_memories_give_equal_lines_at_any_time(
    filled: "Box", other: "Box", advance: Any
) -> None:
    filled.export("one.jsonl")
    advance(3600)
    other.take("one.jsonl")
    other.export("two.jsonl")
    advance(3600)
    other.take("two.jsonl", "replace")
    other.export("three.jsonl")
    one, two, three = (
        (filled.folder / f"{name}.jsonl").read_bytes() for name in ("one", "two", "three")
    )
    assert two == three
    assert one.splitlines()[1:] == two.splitlines()[1:]  # the folder gave the project a name


@pytest.mark.covers("memory.transfer.export.statuses")
@pytest.mark.parametrize("form", FORMS)
def test_only_active_entries_are_exported_unless_others_are_asked_for(
    filled: "Box", other: "Box", form: str
) -> None:
    more = {"include_archived": False, "include_invalidated": False, "include_superseded": False}
    report = filled.export(f"out.{form}", **more)
    assert (report.entries, report.links, report.tags) == (2, 1, 2)
    assert report.left_out == {Status.SUPERSEDED: 1, Status.INVALIDATED: 1, Status.ARCHIVED: 1}
    assert any("include_archived=true" in warning for warning in report.warnings)
    other.take(f"out.{form}")  # no link dangles
    assert set(other.statuses()) == {"a", "e"}
    assert set(other.held().tags) == {"auth", "db"}
    more["include_archived"] = True
    filled.export(f"out.{form}", overwrite=True, **more)
    other.take(f"out.{form}", "merge")
    assert set(other.statuses()) == {"a", "d", "e"}


@pytest.mark.covers("memory.transfer.import.future")
@pytest.mark.parametrize("form", FORMS)
def test_a_time_that_is_far_to_come_counts_as_now(box: "Box", other: "Box", form: str) -> None:
    far, soon = "9999-12-31T23:59:59.999Z", "2026-03-09T09:00:00.000Z"
    box.put(
        Tag(name="auth", created_at=far),
        box.make("a", created_at=soon, updated_at=far, tags=("auth",)),
        box.make("b", "Two.", created_at=far, updated_at=far),
        box.make_link("l1", "a", "explains", "b", created_at=far),
    )
    box.export(f"out.{form}")
    report = other.take(f"out.{form}")
    assert "still to come (5) count as now" in " ".join(report.warnings)
    now = "2026-03-08T09:05:07.000Z"
    assert (other.entry("a").created_at, other.entry("a").updated_at) == (soon, now)
    assert (other.entry("b").created_at, other.entry("b").updated_at) == (now, now)
    assert far not in str(other.held())
    again = other.take(f"out.{form}", "merge")
    assert (again.counts.unchanged, again.seq) == (2, None)


@pytest.mark.covers("memory.transfer.round-trip")
def test_a_project_is_as_old_as_its_file_says_but_never_younger(box: "Box") -> None:
    def take(created_at: str, number: int) -> str:
        entry = {"id": f"x{number}", "scope": "s", "topic": "t", "content": f"Text {number}"}
        entry |= {"source_type": "decision", "created_at": "2026-02-05T00:00:00.000Z"}
        told = {"id": "p", "created_at": created_at}
        envelope = {"format": "memory-node.project-export", "version": 1, "project": told}
        box.write("in.json", json.dumps({**envelope, "entries": [entry]}))
        box.take("in.json", "merge")
        with box.memory.store.read_memory("p") as reader:
            project = reader.find_project()
        assert project is not None
        return project.created_at

    assert take("2025-06-01T00:00:00.000Z", 1) == "2025-06-01T00:00:00.000Z"
    assert take("2025-07-01T00:00:00.000Z", 2) == "2025-06-01T00:00:00.000Z"
    report = box.export("out.json")
    assert report.path
    out = json.loads((box.folder / "out.json").read_text(encoding="utf-8"))
    assert out["project"]["created_at"] == "2025-06-01T00:00:00.000Z"


@pytest.mark.covers("memory.transfer.import.foreign-fields")
def test_an_envelope_in_the_words_of_the_table_columns_is_taken(box: "Box") -> None:
    entry = {
        "id": "x1",
        "project_id": "p",
        "scope": " Back  end ",
        "topic": "t",
        "content": "Text",
        "source_type": "decision",
        "created_at": "2026-02-05T02:00:00+02:00",
        "tags": ["B", "a"],
        "metadata_json": '{"k":[1,null]}',
    }
    told = {"entries": [entry], "version": 1, "format": "memory-node.project-export"}
    box.write("in.json", "\ufeff" + json.dumps(told, indent=2))
    box.take("in.json")
    taken = box.entry("x1")
    assert (taken.scope, taken.tags, taken.metadata) == ("Back end", ("a", "b"), {"k": [1, None]})
    assert (taken.created_at, taken.updated_at) == ("2026-02-05T00:00:00.000Z",) * 2
    assert (taken.status, taken.importance, taken.revision) == (Status.ACTIVE, 3, 1)
    assert box.found("Text") == ["x1"]


@pytest.mark.covers("memory.transfer.save-path")
def test_a_file_that_is_there_is_replaced_only_when_told(filled: "Box") -> None:
    filled.write("out.json", "mine")
    with pytest.raises(ConflictError) as refused:
        filled.export()
    assert "overwrite=true" in refused.value.suggestions[0]
    assert (filled.folder / "out.json").read_text() == "mine"
    filled.export(overwrite=True)
    assert json.loads((filled.folder / "out.json").read_text())["version"] == 1


@pytest.mark.covers("memory.transfer.save-path")
def test_a_new_file_is_its_owners_alone(filled: "Box") -> None:
    filled.export()
    assert stat.S_IMODE((filled.folder / "out.json").stat().st_mode) == 0o600
    assert [path.name for path in filled.folder.iterdir()] == ["out.json"]


@pytest.mark.covers("memory.transfer.save-path")
@pytest.mark.parametrize("path", ["../out.json", "/out.json", "link/out.json"])
def test_a_path_outside_the_project_is_refused(filled: "Box", tmp_path: Path, path: str) -> None:
    (filled.folder / "link").symlink_to(tmp_path)
    with pytest.raises(PathNotAllowedError):
        filled.export(path)
    with pytest.raises(PathNotAllowedError):
        filled.take(path)


@pytest.mark.covers("memory.transfer.save-path")
@pytest.mark.parametrize("path", [".", "no/out.json", "sub/", "pipe.json"])
def test_a_path_that_can_be_no_file_is_refused(filled: "Box", path: str) -> None:
    (filled.folder / "sub").mkdir()
    os.mkfifo(filled.folder / "pipe.json")
    with pytest.raises(InvalidParamError) as refused:
        filled.export(path, format=ExportFormat.JSON, overwrite=True)
    assert refused.value.problems[0].path == "$.save_path"
    assert not (filled.folder / "no").exists()
    with pytest.raises(InvalidParamError):
        filled.take(path)


@pytest.mark.covers("memory.transfer.save-path")
def test_the_store_itself_is_no_target(open_box: "BoxMaker", tmp_path: Path) -> None:
    box = open_box("project/memory.db", allowed_roots=(str(tmp_path),))
    box.put(box.make("a"))
    with pytest.raises(InvalidParamError):
        box.export("memory.db", format=ExportFormat.JSON, overwrite=True)
    assert "a" in box.statuses()


@pytest.mark.covers("memory.transfer.export.unknown")
def test_an_unknown_project_gives_an_empty_export_and_is_not_made(box: "Box", other: "Box") -> None:
    report = box.export()
    assert (report.entries, report.tags, report.links) == (0, 0, 0)
    with box.memory.store.read_memory("p") as reader:
        assert reader.find_project() is None
    assert other.take().counts.inserted == 0
    assert other.last_seq() == 0


@pytest.mark.covers("memory.transfer.audit")
def test_exports_and_imports_are_audited_without_any_text(filled: "Box", other: "Box") -> None:
    filled.export()
    row = filled.audit()[-1]
    assert (row.operation, row.result["outcome"]) == ("memory_export_project", "ok")
    other.take()
    row = other.audit()[-1]
    assert (row.operation, row.result["inserted"]) == ("memory_import_project", 5)
    assert "out.json" not in json.dumps(dict(row.params))
    with pytest.raises(ConflictError):
        other.take()
    assert other.audit()[-1].result == {"outcome": "refused", "error_code": "CONFLICT"}
