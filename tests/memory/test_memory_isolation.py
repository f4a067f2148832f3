"""No project ever sees another's bytes, whatever is called (memory.md §2, issue 3)."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemory.errors import SchemoryError
from schemory.memory.inputs import (
    HandoffRequest,
    LinkRequest,
    NamesRequest,
    SimilarRequest,
    UnlinkRequest,
)
from schemory.model.entry import Status

if TYPE_CHECKING:
    from tests.memory.conftest import Notes

PROJECTS = ("ant", "bee", "cat")
VERBS = (
    *("add", "add", "add", "update", "invalidate", "archive", "restore", "delete"),
    *("link", "unlink", "search", "list", "read", "names", "links", "handoff", "similar"),
    *("status", "audit", "rebuild"),
)
STEP = st.tuples(
    st.sampled_from(VERBS), st.sampled_from(PROJECTS), st.integers(0, 9), st.integers(0, 9)
)


def secret_of(project: str) -> str:
    """Return the word that stands in every text of a project and nowhere else."""
    return f"zz{project}zz"


@pytest.mark.covers("memory.isolation")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEP, min_size=10, max_size=60))
def test_no_answer_holds_another_projects_bytes(
    fresh_notes: Callable[[], "Notes"], steps: list[tuple[str, str, int, int]]
) -> None:
    notes = fresh_notes()
    entries: list[str] = []
    links: list[str] = []
    for verb, project, one, other in steps:
        here = notes.at(project)
        answer: object
        try:
            answer = _call(here, verb, entries, links, one=one, other=other)
        except SchemoryError as error:
            answer = (error.message, error.problems, error.context, error.suggestions)
        told = repr(answer)
        for foreign in PROJECTS:
            if foreign != project:
                assert secret_of(foreign) not in told, (verb, project)


def _call(
    here: "Notes", verb: str, entries: list[str], links: list[str], *, one: int, other: int
) -> object:
    """Call one verb with entries of any project; returns the answer."""
    memory, ref, project = here.memory, here.ref, str(here.ref.project_id)
    word = secret_of(project)
    first = entries[one % len(entries)] if entries else "none"
    second = entries[other % len(entries)] if entries else "none"
    if verb == "add":
        return _add(here, entries, one, other, word)
    if verb == "link":
        relation = ("supersedes", "explains", "duplicates")[one % 3]
        done = memory.link_entries(
            ref,
            LinkRequest(
                source_entry_id=first, target_entry_id=second, relation=relation, label=word
            ),
        )
        links.append(done.link.id)
        return done
    if verb == "unlink":
        link = links[one % len(links)] if links else "none"
        return memory.unlink_entries(ref, UnlinkRequest(link_id=link))
    calls: dict[str, Callable[[], object]] = {
        "update": lambda: here.update(first, title=f"{word} {other}"),
        "invalidate": lambda: memory.invalidate_entry(ref, first, reason=word),
        "archive": lambda: memory.archive_entry(ref, first),
        "restore": lambda: memory.restore_entry(ref, first),
        "delete": lambda: memory.delete_entry(ref, first, confirm=True),
        "search": lambda: here.search(f"note {one} common", status=None, limit=50, explain=True),
        "list": lambda: here.search("", status=None, limit=50),
        "read": lambda: here.read(first, include_history=True),
        "names": lambda: [
            memory.list_names(ref, NamesRequest(kind=kind, status=None))
            for kind in ("scope", "topic", "tag")
        ],
        "links": lambda: memory.list_entry_links(ref, first),
        "handoff": lambda: memory.handoff_summary(ref, HandoffRequest()),
        "similar": lambda: memory.find_similar(
            ref, SimilarRequest(text=f"note {one} common", status=None)
        ),
        "status": lambda: memory.status(ref),
        "audit": here.audit,
        "rebuild": lambda: memory.rebuild_index(ref),
    }
    return calls[verb]()


def _add(here: "Notes", entries: list[str], one: int, other: int, word: str) -> object:
    fields: dict[str, Any] = {
        "title": f"{word} title",
        "scope": f"{word} scope",
        "topic": f"{word} topic {one}",
        "tags": (f"{word} tag",),
        "source_type": ("decision", "handoff", "agent_note")[other % 3],
    }
    added = here.add(f"note {one} common {other} {word}", **fields)
    entries.append(added.entry.id)
    return added


@pytest.mark.covers("memory.isolation")
def test_the_same_text_in_two_projects_is_two_entries_that_do_not_meet(notes: "Notes") -> None:
    mine = notes.entry("The very same text.")
    other = notes.at("other")
    theirs = other.add("The very same text.")
    assert (theirs.deduped, theirs.similar) == (False, ())
    assert mine.id != theirs.entry.id
    assert [hit.entry.id for hit in notes.search("very same").hits] == [mine.id]
    assert notes.memory.find_similar(notes.ref, SimilarRequest(entry_id=mine.id)).results == ()


@pytest.mark.covers("memory.isolation")
def test_two_folders_of_one_name_are_two_projects(notes: "Notes", tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name / "api").mkdir(parents=True)
    first, second = (notes.at(path=tmp_path / name / "api") for name in ("a", "b"))
    entry = first.entry("The word serval.")
    assert second.found("serval") == []
    with pytest.raises(SchemoryError, match="no entry"):
        second.read(entry.id)
    assert first.found("serval", status=Status.ACTIVE) == ["The word serval."]
