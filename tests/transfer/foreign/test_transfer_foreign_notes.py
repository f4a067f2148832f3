"""Moving in notes: found again, brought up to date, left alone where they were changed here."""

import itertools
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemory.errors import InvalidParamError, SecretDetectedError
from schemory.memory.inputs import EntryUpdate, NewEntry, SearchRequest
from schemory.memory.settings import Limits
from schemory.model.entry import SourceType, Status
from schemory.transfer.foreign.importer import move_in
from schemory.transfer.foreign.kinds import Kind
from schemory.transfer.foreign.options import Moved, MoveOptions
from schemory.transfer.memory.options import TransferCancelledError

_NUMBERS = itertools.count()
_TOKEN = "ghp_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY2zA4"


def _by_title(found: list[Any]) -> dict[str, Any]:
    return {entry.title: entry for entry in found}


def _write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.covers("transfer.notes.entries")
def test_each_section_becomes_an_entry_that_names_its_place(
    box: Any, mover: Any, entries: Any, counts_of: Any, notes_folder: Path
) -> None:
    moved = mover(notes_folder / "CLAUDE.md")
    assert (moved.kind.value, counts_of(moved).new) == ("notes", 4)
    found = _by_title(entries())
    build = found["Build"]
    assert build.source_ref == "notes/CLAUDE.md#Build"
    assert build.source_path == "notes/CLAUDE.md"
    assert build.source_sha256 is not None
    assert build.source_bytes == (notes_folder / "CLAUDE.md").stat().st_size
    assert build.topic == "Ledger service"
    assert build.created_by == "mover/1.0"
    assert "# not a heading" in build.content
    assert "generated" in found["Before you change anything"].tags
    assert moved.junk == {
        "markers of generated text": 2,
        "placeholders": 1,
        "tables of contents": 1,
        "empty sections": 1,
    }
    assert str(moved.junk_places[0].place) == "CLAUDE.md:1"
    assert box.audit()[-1].operation == "import_foreign"
    assert "make check" not in str(box.audit()[-1].params)


@pytest.mark.covers("transfer.notes.dry_run")
def test_nothing_is_written_without_a_yes(
    box: Any, mover: Any, entries: Any, counts_of: Any, notes_folder: Path
) -> None:
    dry = mover(notes_folder, "markdown", dry_run=True)
    declined = mover(notes_folder, "markdown", says=False)
    assert counts_of(dry) == counts_of(declined)
    assert counts_of(dry).new > 5
    assert (entries(), box.last_seq(), box.audit()) == ([], 0, ())


@pytest.mark.covers("transfer.notes.again")
def test_the_same_import_again_changes_nothing(
    box: Any, mover: Any, entries: Any, counts_of: Any, notes_folder: Path
) -> None:
    first = mover(notes_folder, "markdown")
    before, seq = entries(), box.last_seq()
    again = mover(notes_folder, "markdown")
    assert counts_of(again).unchanged == counts_of(first).new
    assert not again.has_changes
    assert (entries(), box.last_seq()) == (before, seq)


@pytest.mark.covers("transfer.notes.changed")
def test_a_changed_section_is_brought_up_to_date_and_its_old_text_stays_in_the_history(
    box: Any, mover: Any, entries: Any, counts_of: Any
) -> None:
    path = _write(box.folder, "AGENTS.md", "# A\n\n## One\n\nfirst\n\n## Two\n\nsame\n")
    mover(path)
    one, two = _by_title(entries())["One"], _by_title(entries())["Two"]
    _write(box.folder, "AGENTS.md", "# A\n\nnew intro\n\n## One\n\nsecond\n\n## Two\n\nsame\n")
    counts = counts_of(mover(path))
    assert (counts.changed, counts.new, counts.refreshed) == (1, 1, 1)
    after = _by_title(entries())
    assert after["One"].id == one.id
    assert "second" in after["One"].content
    assert after["Two"].source_sha256 != two.source_sha256
    assert after["Two"].updated_at == two.updated_at
    with box.memory.store.read_memory("p") as reader:
        (earlier,) = reader.list_earlier_texts(one.id, limit=5)
    assert "first" in earlier.entry.content


@pytest.mark.covers("transfer.notes.edited_here")
def test_what_was_changed_here_is_not_written_over(
    box: Any, mover: Any, entries: Any, counts_of: Any
) -> None:
    path = _write(box.folder, "AGENTS.md", "# A\n\n## One\n\nfirst\n")
    mover(path)
    (entry,) = entries()
    change = EntryUpdate(entry_id=entry.id, changes={"content": "better"})
    box.memory.update_entry(box.ref, change, by=box.by)
    assert counts_of(mover(path)).unchanged == 1
    _write(box.folder, "AGENTS.md", "# A\n\n## One\n\nsecond\n")
    moved = mover(path)
    assert counts_of(moved).edited_here == 1
    assert [(str(t.place), t.entry_id) for t in moved.edited_here] == [("AGENTS.md:3", entry.id)]
    assert [each.content for each in entries()] == ["better"]


@pytest.mark.covers("transfer.notes.retired_here")
def test_what_was_retired_here_does_not_come_back(
    box: Any, mover: Any, entries: Any, counts_of: Any
) -> None:
    path = _write(box.folder, "AGENTS.md", "# A\n\n## One\n\nfirst\n")
    mover(path)
    (entry,) = entries()
    box.memory.invalidate_entry(box.ref, entry.id, by=box.by)
    assert counts_of(mover(path)).unchanged == 1
    _write(box.folder, "AGENTS.md", "# A\n\n## Renamed\n\nfirst\n")
    _write(box.folder, "copy/AGENTS.md", "# A\n\n## One\n\nfirst\n")
    elsewhere = mover(box.folder / "copy" / "AGENTS.md")
    assert counts_of(elsewhere).duplicates == 1
    assert elsewhere.duplicates[0].where == "the store, invalidated here"
    _write(box.folder, "AGENTS.md", "# A\n\n## One\n\nsecond\n")
    assert counts_of(mover(path)).new == 1
    assert sorted(each.status.value for each in entries()) == ["active", "invalidated"]
    assert counts_of(mover(path)).unchanged == 1


@pytest.mark.covers("transfer.notes.gone")
def test_a_section_that_is_gone_is_told_and_left_alone(box: Any, mover: Any, entries: Any) -> None:
    path = _write(box.folder, "AGENTS.md", "# A\n\n## One\n\nfirst\n\n## Two\n\nsecond\n")
    mover(path)
    two = _by_title(entries())["Two"]
    _write(box.folder, "AGENTS.md", "# A\n\n## One\n\nfirst\n")
    moved = mover(path)
    assert [twin.entry_id for twin in moved.gone] == [two.id]
    assert len(entries()) == 2


@pytest.mark.covers("transfer.notes.duplicates")
def test_equal_and_nearly_equal_texts_are_shown_with_ids(
    box: Any, mover: Any, entries: Any, counts_of: Any
) -> None:
    long = "The cache is warmed at start from the snapshot, never from the live database. "
    stored = box.memory.add_entry(
        box.ref,
        NewEntry(scope="s", topic="t", content="# A\n\nsame\n", source_type="agent_note"),
        by=box.by,
    ).entry
    folder = box.folder / "docs"
    _write(folder, "a.md", "# A\n\nsame\n")
    _write(folder, "b.md", f"# B\n\n{long * 2}\n")
    _write(folder, "c.md", f"# B\n\n{long * 2}Indeed.\n")
    _write(folder, "d.md", f"# B\n\n{long * 2}\n")
    moved = mover(folder)
    assert (counts_of(moved).new, counts_of(moved).duplicates) == (2, 2)
    told = {str(twin.place): (twin.entry_id, twin.where) for twin in moved.duplicates}
    first = next(entry for entry in entries() if entry.source_path == "docs/b.md")
    assert told == {"a.md:1": (stored.id, "the store"), "d.md:1": (first.id, "the same source")}
    assert [(str(twin.place), twin.entry_id) for twin in moved.near] == [("c.md:1", first.id)]
    _write(folder, "e.md", f"# B\n\n{long * 2}Well.\n")
    assert [twin.where for twin in mover(folder).near if str(twin.place) == "e.md:1"] == [
        "the store",
        "b.md:1",
    ]


@pytest.mark.covers("transfer.notes.secrets")
def test_credentials_refuse_the_whole_import_by_line_and_rule(
    box: Any, mover: Any, entries: Any, counts_of: Any
) -> None:
    text = f"# A\n\n## One\n\nfine\n\n## Two\n\nok\ntoken {_TOKEN}\n\n## Three\n\nalso fine\n"
    path = _write(box.folder, "AGENTS.md", text)
    for dry in (True, False):
        with pytest.raises(SecretDetectedError) as caught:
            mover(path, dry_run=dry)
        told = str((caught.value.message, caught.value.problems, caught.value.context))
        assert "AGENTS.md:10" in told
        assert "github-token" in told
        assert _TOKEN not in told
    assert entries() == []
    assert {row.result["error_code"] for row in box.audit()} == {"SECRET_DETECTED"}
    moved = mover(path, skip_secrets=True)
    assert (counts_of(moved).new, counts_of(moved).secrets) == (2, 1)
    assert [(str(e.place), e.what) for e in moved.secrets] == [("AGENTS.md:10", "github-token")]
    assert counts_of(mover(path, allow_secret=True)).new == 1
    assert any("as allowed" in warning for warning in mover(path, allow_secret=True).warnings)


@pytest.mark.covers("transfer.notes.encodings")
def test_a_folder_tells_what_cannot_be_read_and_takes_the_rest(
    box: Any, mover: Any, entries: Any, tmp_path: Path
) -> None:
    folder = box.folder / "docs"
    _write(folder, "a.md", "\ufeff# A\r\n\r\nbody\r\n")
    (folder / "b.md").write_bytes("# B\n\ncafé\n".encode("latin-1"))
    (folder / "c.md").write_bytes("# C\n\nsedici\n".encode("utf-16"))
    (folder / "d.md").write_bytes(b"\x00\x01\x02")
    (folder / "e.png").write_bytes(b"x")
    _write(tmp_path, "outside.md", "# O\n\noutside\n")
    (folder / "f.md").symlink_to(tmp_path / "outside.md")
    (folder / "g.md").symlink_to(folder / "a.md")
    _write(folder, ".git/x.md", "# X\n\nnever\n")
    moved = mover(folder)
    assert {entry.title: entry.content for entry in entries()} == {
        "A": "# A\n\nbody\n",
        "C": "# C\n\nsedici\n",
    }
    assert {str(each.place): each.what for each in moved.refused} == {
        "b.md": "is no UTF-8 (byte 9, line 3); save it as UTF-8",
        "f.md": "is a link that leads out of the folder",
    }
    assert moved.skipped == {
        "binary files": 1,
        "other files": 1,
        "links to files that are read anyway": 1,
    }
    assert moved.removed == {"line ends of Windows": 3}


@pytest.mark.covers("transfer.notes.search")
@pytest.mark.parametrize(
    ("query", "file"),
    [
        ("RwLock", "vi-khoa.md"),
        ("rwlock", "vi-khoa.md"),
        ("sửa lỗi khẩn cấp", "vi-nhanh.md"),
        ("tích hợp", "vi-nhanh.md"),
        ("código", "es-guia.md"),
        ("codigo", "es-guia.md"),
        ("convenzioni commit", "it-regole.md"),
        ("init.go:511", "0002-safe-start.md"),
        ("refs/ledger/data", "0002-safe-start.md"),
        ("小说", "zh-novel.mdc"),
        ("灵感缪斯", "zh-novel.mdc"),
        ("pip install -e", "CLAUDE.md"),
        ("<<REQUIRED>>", "it-regole.md"),
    ],
)
def test_what_was_moved_in_is_found(
    box: Any, mover: Any, notes_folder: Path, query: str, file: str
) -> None:
    mover(notes_folder, "markdown")
    page = box.memory.search(box.ref, SearchRequest(query=query))
    assert page.hits[0].entry.source_path == f"notes/{file}"


@pytest.mark.covers("transfer.notes.orders")
def test_rules_for_agents_raise_no_alarm_and_injections_do(
    box: Any, mover: Any, notes_folder: Path
) -> None:
    mover(notes_folder, "markdown")
    page = box.memory.search(box.ref, SearchRequest(query="", limit=50))
    warned = {hit.entry.source_path for hit in page.hits if "stored_instructions" in hit.codes}
    assert warned == {"notes/injected.md"}


@pytest.mark.covers("transfer.notes.frontmatter")
def test_front_matter_goes_with_the_first_entry(
    mover: Any, entries: Any, notes_folder: Path
) -> None:
    moved = mover(notes_folder / "zh-novel.mdc")
    first, second = sorted(entries(), key=lambda entry: str(entry.metadata["import"]["lines"]))
    assert first.title == "角色"
    assert first.summary == "Rules for the helper (灵感缪斯) of a novel."
    assert "alwaysApply" in first.metadata["front_matter"]
    assert "front_matter" not in second.metadata
    assert moved.removed == {"U+200B ZERO WIDTH SPACE": 2}


@pytest.mark.covers("transfer.notes.records")
def test_decision_records_are_decisions_with_their_status_and_links(
    box: Any, mover: Any, entries: Any, counts_of: Any
) -> None:
    path = _write(
        box.folder,
        "decisions.md",
        "# Decisions\n\n## ADR-001: Use A\n\nStatus: Superseded by ADR-002\n\nWe use A.\n\n"
        "## ADR-002: Use B\n\n**Status**: Accepted\n\nWe use B.\n\n"
        "## ADR-003: Use C\n\nStatus: Rejected\n\nNo.\n",
    )
    moved = mover(path)
    assert (moved.kind.value, counts_of(moved).links) == ("adr", 1)
    found = {entry.title[:7]: entry for entry in entries()}
    assert {entry.source_type for entry in found.values()} == {SourceType.DECISION}
    assert {name: entry.status for name, entry in found.items()} == {
        "ADR-001": Status.SUPERSEDED,
        "ADR-002": Status.ACTIVE,
        "ADR-003": Status.ARCHIVED,
    }
    assert found["ADR-003"].metadata["decision_status"] == "Rejected"
    (link,) = box.held().links.values()
    ends = (link.source_entry_id, link.target_entry_id)
    assert ends == (found["ADR-002"].id, found["ADR-001"].id)
    assert not mover(path).has_changes


@pytest.mark.covers("transfer.notes.bank")
def test_a_memory_bank_is_told_by_its_files(box: Any, mover: Any, entries: Any) -> None:
    bank = box.folder / "memory-bank"
    _write(bank, "projectbrief.md", "# Brief\n\nA shop.\n")
    _write(bank, "activeContext.md", "# Now\n\n## Focus\n\nBarcodes.\n\n## Next\n\nTBD\n")
    _write(bank, "techContext.md", "# Tech\n\nPython.\n")
    _write(bank, "decisionLog.md", "# Decision Log\n\n## Use A\n\nyes\n\n## Use B\n\nno\n")
    moved = mover(bank)
    assert moved.kind.value == "memory-bank"
    assert "activeContext.md" in moved.why
    assert {entry.title: entry.source_type.value for entry in entries()} == {
        "Brief": "doc_observation",
        "Focus": "handoff",
        "Tech": "environment_note",
        "Use A": "decision",
        "Use B": "decision",
    }


@pytest.mark.covers("transfer.notes.options")
def test_scope_and_tags_of_the_command_come_first(box: Any, mover: Any, entries: Any) -> None:
    path = _write(box.folder, "AGENTS.md", "---\ntags: [own]\n---\n# A\n\ntext\n")
    mover(path, scope=" Rules ", tags=("Moved In",))
    (entry,) = entries()
    assert (entry.scope, entry.tags) == ("Rules", ("moved in", "own"))


@pytest.mark.covers("transfer.notes.undo")
def test_one_undo_takes_all_of_it_back_unless_something_was_changed_since(
    box: Any, mover: Any, entries: Any, notes_folder: Path
) -> None:
    moved = mover(notes_folder, "markdown")
    box.undo(moved.parts[0].seq)
    assert entries() == []
    again = mover(notes_folder, "markdown")
    entry = entries()[0]
    box.memory.update_entry(
        box.ref, EntryUpdate(entry_id=entry.id, changes={"title": "Mine"}), by=box.by
    )
    with pytest.raises(Exception, match="has changed since") as caught:
        box.undo(again.parts[0].seq)
    assert getattr(caught.value, "code", "") == "UNDO_CONFLICT"
    assert any(each.title == "Mine" for each in entries())


@pytest.mark.covers("transfer.notes.undo")
def test_undoing_an_update_gives_the_earlier_texts_back(box: Any, mover: Any, entries: Any) -> None:
    path = _write(box.folder, "AGENTS.md", "# A\n\n## One\n\nfirst\n")
    mover(path)
    before = entries()
    _write(box.folder, "AGENTS.md", "# A\n\n## One\n\nsecond\n")
    box.undo(mover(path).parts[0].seq)
    after = [replace(each, revision=1, updated_at="") for each in entries()]
    assert after == [replace(each, revision=1, updated_at="") for each in before]


@pytest.mark.covers("transfer.notes.kind")
def test_what_is_nothing_known_is_refused_with_the_kinds(
    box: Any, mover: Any, tmp_path: Path
) -> None:
    with pytest.raises(InvalidParamError, match=r"missing\.md does not exist"):
        mover(box.folder / "missing.md")
    with pytest.raises(InvalidParamError, match=r"x\.json is no file that is known") as caught:
        mover(_write(box.folder, "x.json", '{"a": 1}'))
    assert any("--from mem0" in hint for hint in caught.value.suggestions)
    os.mkfifo(tmp_path / "pipe.md")
    with pytest.raises(InvalidParamError, match="neither a file nor a folder"):
        mover(tmp_path / "pipe.md")


@pytest.mark.covers("transfer.notes.projects")
def test_two_projects_can_hold_the_same_notes(
    box: Any, mover: Any, counts_of: Callable[[Any], Any], notes_folder: Path
) -> None:
    first = mover(notes_folder, "markdown")
    second = mover(notes_folder, "markdown", into=box.at("q"))
    assert counts_of(second).new == counts_of(first).new
    assert not mover(notes_folder, "markdown", into=box.at("q")).has_changes


@pytest.mark.covers("transfer.notes.any_text")
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(
        st.sampled_from(
            ["# A", "## B", "## B", "### C", "text", "other text", "", "```", "TODO", "- [x](#b)"]
        )
        | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
        max_size=40,
    )
)
def test_any_text_is_moved_in_once(box: Any, mover: Any, counts_of: Any, lines: list[str]) -> None:
    path = box.folder / "AGENTS.md"
    path.write_text("\n".join(lines), encoding="utf-8", newline="")
    own = box.at(f"project {next(_NUMBERS)}")
    first = counts_of(mover(path, "notes", into=own, skip_secrets=True))
    again = counts_of(mover(path, "notes", into=own, skip_secrets=True))
    assert (again.new, again.changed, again.refreshed, again.edited_here) == (0, 0, 0, 0)
    assert again.unchanged == first.new == len(own.held().entries)
    assert (again.duplicates, again.secrets) == (first.duplicates, first.secrets)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
@pytest.mark.covers("transfer.notes.encodings")
def test_a_file_whose_name_is_no_text_is_told(box: Any, mover: Any) -> None:
    folder = box.folder / "docs"
    folder.mkdir()
    with open(os.fsencode(folder) + b"/caf\xe9.md", "wb") as file:  # noqa: PTH123 (a name of bytes)
        file.write(b"# A\n\ntext\n")
    moved = mover(folder, "markdown")
    assert [(str(e.place), e.what) for e in moved.refused] == [
        ("caf?.md", "has a name that is no text")
    ]


@pytest.mark.covers("transfer.notes.meanwhile")
def test_what_others_wrote_while_the_plan_was_read_is_looked_at_again(box: Any) -> None:
    path = _write(box.folder, "AGENTS.md", "# A\n\n## One\n\nfirst\n\n## Two\n\nsecond\n")

    def confirm(plan: Moved) -> bool:
        assert plan.parts[0].counts.new == 2
        new = NewEntry(scope="s", topic="t", content="## One\n\nfirst\n", source_type="agent_note")
        box.memory.add_entry(box.ref, new, by=box.by)
        return True

    moved = move_in(box.memory, box.ref, path, confirm=confirm)
    counts = moved.parts[0].counts
    assert (counts.new, counts.duplicates, moved.is_written) == (1, 1, True)
    assert len(box.held().entries) == 2


@pytest.mark.covers("transfer.notes.meanwhile")
def test_a_caller_that_gives_up_leaves_nothing(box: Any, notes_folder: Path) -> None:
    for wish in ("reading", "indexing"):
        told: list[str] = []

        def tell(_done: float, _total: float | None, message: str, told: list[str] = told) -> None:
            told.append(message)

        def gives_up(told: list[str] = told, wish: str = wish) -> bool:
            return wish in told

        with pytest.raises(TransferCancelledError):
            move_in(
                box.memory,
                box.ref,
                notes_folder,
                MoveOptions(kind=Kind.MARKDOWN),
                confirm=lambda _: True,
                progress=tell,
                is_cancelled=gives_up,
            )
        assert box.held().entries == {}


@pytest.mark.covers("transfer.notes.limits")
def test_the_projects_own_rules_hold(open_box: Any) -> None:
    limits = Limits(max_title_chars=8, max_tags=2, max_entry_bytes=400)
    own = open_box("rules.db", allowed_tags=("auth", "http", "web"), limits=limits)
    text = "---\ntags: [Auth, other, http, web]\n---\n# A long heading\n\n" + "".join(
        f"sentence {n}\n\n" for n in range(60)
    )
    path = _write(own.folder, "AGENTS.md", text)
    moved = move_in(own.memory, own.ref, path, confirm=lambda _: True)
    held = sorted(own.held().entries.values(), key=lambda entry: str(entry.source_ref))
    assert len(held) == moved.parts[0].counts.new > 1
    assert {entry.title for entry in held} == {"A long …"}
    assert held[0].tags == ("auth", "http")
    assert held[0].metadata["import"]["other_tags"] == ["other", "web"]
    assert all(len(entry.content.encode()) <= 400 for entry in held)
    whole = "".join(entry.content for entry in held)
    assert all(f"sentence {n}\n" in whole for n in range(60))
