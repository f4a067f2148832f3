"""A person is asked before what cannot be taken back, where their client can ask them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schemory.errors import InvalidStateError
from schemory.tools.registry import Asking, Caller, Question, Reply

if TYPE_CHECKING:
    from tests.tools.memory.conftest import DeskMaker, MemoryDesk

DELETE = "memory_delete_entry"
IMPORT = "memory_import_project"
YES = {"action": "accept", "content": {"confirm": True}}
NO_ANSWERS: dict[str, Any] = {
    "declined": {"action": "decline"},
    "cancelled": {"action": "cancel"},
    "not ticked": {"action": "accept", "content": {"confirm": False}},
    "nothing filled in": {"action": "accept"},
    "a text for the tick": {"action": "accept", "content": {"confirm": "true"}},
    "another field": {"action": "accept", "content": {"yes": True}},
    "no such action": {"action": "agree", "content": {"confirm": True}},
    "nothing": {},
}


def call(
    desk: "MemoryDesk", tool: str, arguments: dict[str, Any], asking: Asking | None = None
) -> Reply:
    return desk.toolbox.call(tool, {"project_id": "p", **arguments}, desk.caller, asking=asking)


def asked(desk: "MemoryDesk", tool: str, arguments: dict[str, Any]) -> Question:
    """Return the question that comes before the call."""
    reply = call(desk, tool, arguments, Asking())
    assert reply.question is not None
    return reply.question


def answered(
    desk: "MemoryDesk", tool: str, arguments: dict[str, Any], said: object, **other: Any
) -> Reply:
    """Return the answer to the call once the person has said something."""
    question = asked(desk, tool, arguments)
    asking = Asking(answers={question.key: said}, state=other.get("state", question.state))
    return call(desk, tool, arguments, asking)


@pytest.mark.covers("tools.memory.confirm.asked")
def test_a_person_is_shown_what_would_be_deleted_and_nothing_is_yet(desk: "MemoryDesk") -> None:
    entry = desk.add("Use WAL.", title="Journal\nmode \u202e \x7f")
    question = asked(desk, DELETE, {"entry_id": entry})
    message = str(question.params["message"])
    assert "Title: Journal mode" in message
    assert entry in message
    assert "Kept under: backend / auth" in message
    assert "\u202e" not in message
    assert question.params["mode"] == "form"
    schema: Any = question.params["requestedSchema"]
    assert schema["required"] == ["confirm"]
    assert schema["properties"]["confirm"]["type"] == "boolean"
    assert desk.found() == [entry]


@pytest.mark.covers("tools.memory.confirm.asked")
def test_a_long_title_does_not_hide_the_question(desk: "MemoryDesk") -> None:
    entry = desk.add("c", title="x" * 200, topic="t" * 200)
    message = str(asked(desk, DELETE, {"entry_id": entry}).params["message"])
    assert max(map(len, message.splitlines())) < 230


@pytest.mark.covers("tools.memory.confirm.yes")
def test_a_yes_deletes_and_the_audit_has_one_success(desk: "MemoryDesk") -> None:
    entry = desk.add("Use WAL.")
    reply = answered(desk, DELETE, {"entry_id": entry}, YES)
    assert not reply.is_error
    assert reply.structured["entry_id"] == entry
    assert desk.found() == []


@pytest.mark.covers("tools.memory.confirm.no")
@pytest.mark.parametrize("said", NO_ANSWERS)
def test_anything_but_a_tick_leaves_the_entry_and_says_confirm_required(
    desk: "MemoryDesk", said: str
) -> None:
    entry = desk.add("Use WAL.")
    reply = answered(desk, DELETE, {"entry_id": entry}, NO_ANSWERS[said])
    assert reply.is_error
    assert reply.structured["error_code"] == "CONFIRM_REQUIRED"
    assert reply.structured["project_id"] == "p"
    assert desk.found() == [entry]


@pytest.mark.covers("tools.memory.confirm.no")
def test_a_refusal_by_a_person_does_not_invite_the_agent_to_overrule_it(
    desk: "MemoryDesk",
) -> None:
    entry = desk.add("Use WAL.")
    said_no = answered(desk, DELETE, {"entry_id": entry}, {"action": "decline"})
    assert "confirm=true" not in said_no.text
    silent = answered(desk, DELETE, {"entry_id": entry}, {"action": "cancel"})
    assert "consent" in silent.text


@pytest.mark.covers("tools.memory.confirm.said")
def test_a_call_that_says_confirm_is_not_asked(desk: "MemoryDesk") -> None:
    entry = desk.add("Use WAL.")
    reply = call(desk, DELETE, {"entry_id": entry, "confirm": True}, Asking())
    assert reply.question is None
    assert desk.found() == []


@pytest.mark.covers("tools.memory.confirm.cannot")
def test_without_a_client_that_can_ask_confirm_is_required_as_ever(desk: "MemoryDesk") -> None:
    entry = desk.add("Use WAL.")
    reply = call(desk, DELETE, {"entry_id": entry})
    assert reply.structured["error_code"] == "CONFIRM_REQUIRED"
    assert "confirm=true" in reply.text


@pytest.mark.covers("tools.memory.confirm.asked")
def test_nobody_is_asked_about_what_is_not_there_or_malformed(desk: "MemoryDesk") -> None:
    for arguments in ({"entry_id": "0"}, {"entry_id": 7}, {}):
        reply = call(desk, DELETE, arguments, Asking())
        assert reply.question is None
        assert reply.is_error


@pytest.mark.covers("tools.memory.confirm.bound")
def test_a_yes_counts_only_for_the_question_that_was_shown(desk: "MemoryDesk") -> None:
    first, second = desk.add("One."), desk.add("Two.")
    question = asked(desk, DELETE, {"entry_id": first})
    said = Asking(answers={"confirm": YES}, state=question.state)
    with pytest.raises(InvalidStateError):
        call(desk, DELETE, {"entry_id": second}, said)
    stranger = Caller(author="x", principal="someone")
    with pytest.raises(InvalidStateError):
        desk.toolbox.call(DELETE, {"project_id": "p", "entry_id": first}, stranger, asking=said)
    for state in ("", "forged", question.state[:-2], 7):
        with pytest.raises(InvalidStateError):
            answered(desk, DELETE, {"entry_id": first}, YES, state=state)
    assert answered(desk, DELETE, {"entry_id": first}, YES, state=None).question is not None
    silent = call(desk, DELETE, {"entry_id": first}, Asking(state=question.state))
    assert silent.question is not None
    assert sorted(desk.found()) == sorted([first, second])


@pytest.mark.covers("tools.memory.confirm.bound")
def test_a_yes_to_an_entry_that_has_changed_since_is_asked_again(desk: "MemoryDesk") -> None:
    entry = desk.add("One.", title="Old")
    question = asked(desk, DELETE, {"entry_id": entry})
    desk.ok("update_entry", entry_id=entry, title="New")
    said = Asking(answers={"confirm": YES}, state=question.state)
    reply = call(desk, DELETE, {"entry_id": entry}, said)
    assert reply.question is not None
    assert "Title: New" in str(reply.question.params["message"])
    assert desk.found() == [entry]


@pytest.mark.covers("tools.memory.confirm.import")
def test_a_replacing_import_asks_and_a_yes_replaces(open_desk: "DeskMaker", tmp_path: Path) -> None:
    desk = open_desk(path=tmp_path / "memory.sqlite")
    desk.project = {"project_path": str(tmp_path)}
    kept = desk.add("Kept.")
    file = str(tmp_path / "out.json")
    desk.ok("export_project", save_path=file)
    desk.add("Written later.")
    arguments = {"project_path": str(tmp_path), "import_path": file, "on_conflict": "replace"}

    def made(asking: Asking) -> Reply:
        return desk.toolbox.call(IMPORT, arguments, desk.caller, asking=asking)

    question = made(Asking()).question
    assert question is not None
    assert question.key == "confirm_replace"
    assert "Holds now: 2 notes" in str(question.params["message"])
    refused = made(Asking(answers={question.key: {"action": "cancel"}}, state=question.state))
    assert refused.structured["error_code"] == "CONFIRM_REQUIRED"
    yes = {"action": "accept", "content": {"confirm_replace": True}}
    done = made(Asking(answers={question.key: yes}, state=question.state))
    assert not done.is_error, done.text
    assert done.structured["backup_path"]
    assert desk.found() == [kept]


@pytest.mark.covers("tools.memory.confirm.import")
@pytest.mark.parametrize(
    "more",
    [{"on_conflict": "merge"}, {}, {"on_conflict": "replace", "dry_run": True}],
    ids=["merge", "fail", "dry run"],
)
def test_an_import_that_removes_nothing_asks_nobody(
    desk: "MemoryDesk", tmp_path: Path, more: dict[str, Any]
) -> None:
    arguments = {"project_path": str(tmp_path), "import_path": str(tmp_path / "none"), **more}
    reply = desk.toolbox.call(IMPORT, arguments, desk.caller, asking=Asking())
    assert reply.question is None


@pytest.mark.covers("tools.memory.confirm.only")
def test_only_the_two_tools_that_cannot_be_taken_back_ask(desk: "MemoryDesk") -> None:
    asking = {name for name, tool in desk.toolbox.registry.items() if tool.confirmation}
    assert asking == {DELETE, IMPORT}
