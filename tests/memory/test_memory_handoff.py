"""What whoever goes on should know (memory.md §5, handoff)."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from schemory.errors import InvalidParamError
from schemory.memory.handoff_results import Handoff
from schemory.memory.inputs import HandoffRequest
from schemory.memory.moments import parse_moment

if TYPE_CHECKING:
    from tests.memory.conftest import Notes

NOW = datetime(2026, 3, 8, 9, 5, 7, tzinfo=UTC)


def handoff(notes: "Notes", **how: str) -> Handoff:
    return notes.memory.handoff_summary(notes.ref, HandoffRequest(**how))


@pytest.mark.covers("memory.handoff")
def test_a_handoff_groups_what_came_up_since_in_the_entries_own_words(
    notes: "Notes", advance: Callable[[float], None]
) -> None:
    notes.entry("Long ago.", source_type="decision")
    advance(8 * 86_400)
    ids = {
        kind: notes.entry(f"Of {kind}.", source_type=kind).id
        for kind in ("decision", "handoff", "workaround", "bug_pattern", "agent_note")
    }
    advance(1)
    titled = notes.entry("Text\nof it.", source_type="decision", title="Use  SQLite").id
    gone = notes.entry("Gone.", source_type="decision")
    notes.memory.invalidate_entry(notes.ref, gone.id)
    told = handoff(notes)
    assert told.since == "2026-03-09T09:05:08.000Z"
    assert told.truncated is False
    lines = {name: [(x.entry_id, x.text) for x in group] for name, group in told.groups.items()}
    assert lines == {
        "decisions": [(titled, "Use SQLite"), (ids["decision"], "Of decision.")],
        "handoffs": [(ids["handoff"], "Of handoff.")],
        "workarounds": [(ids["workaround"], "Of workaround.")],
        "bug_patterns": [(ids["bug_pattern"], "Of bug_pattern.")],
        "retired": [(gone.id, "Gone.")],
    }


@pytest.mark.covers("memory.handoff.bounded")
def test_a_handoff_is_bounded(notes: "Notes") -> None:
    for number in range(11):
        notes.entry(f"{number} {'long ' * 100}", source_type="decision")
    told = handoff(notes)
    assert (len(told.groups["decisions"]), told.truncated) == (10, True)
    assert all(len(line.text) <= 202 for line in told.groups["decisions"])


@pytest.mark.covers("memory.handoff.scope")
def test_a_handoff_can_be_of_one_scope(notes: "Notes") -> None:
    notes.entry("One.", source_type="decision", scope="Backend")
    notes.entry("Two.", source_type="decision", scope="frontend")
    told = handoff(notes, scope=" BACKEND ")
    assert [line.text for line in told.groups["decisions"]] == ["One."]
    with pytest.raises(InvalidParamError):
        handoff(notes, scope="a\0")


@pytest.mark.covers("memory.handoff.since")
@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("7d", "2026-03-01T09:05:07.000Z"),
        ("24h", "2026-03-07T09:05:07.000Z"),
        (" 90 M ", "2026-03-08T07:35:07.000Z"),
        ("2w", "2026-02-22T09:05:07.000Z"),
        ("0d", "2026-03-08T09:05:07.000Z"),
        ("2026-03-01", "2026-03-01T00:00:00.000Z"),
        ("2026-03-01T10:00", "2026-03-01T10:00:00.000Z"),
        ("2026-03-01T10:00:00.5Z", "2026-03-01T10:00:00.500Z"),
        ("2026-03-01T10:00:00+02:00", "2026-03-01T08:00:00.000Z"),
    ],
)
def test_since_is_how_long_ago_or_a_date_or_a_time(text: str, moment: str) -> None:
    assert parse_moment(text, "since", NOW) == moment


@pytest.mark.covers("memory.handoff.since")
@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "7", "d", "-7d", "7y", "999999w", "2026-13-01", "2026-03-01T25:00", "a\0"],
)
def test_another_since_is_refused(notes: "Notes", text: str) -> None:
    with pytest.raises(InvalidParamError) as refused:
        handoff(notes, since=text)
    assert refused.value.problems[0].path == "$.since"
