"""Resources, prompts and completions: what they list, what they lead to, whose they are."""

from typing import TYPE_CHECKING, Any

import pytest

from schemory.errors import InvalidCursorError, InvalidParamError, NotFoundError
from schemory.tools.completions import Asked, complete
from schemory.tools.prompts import get_prompt, list_prompts
from schemory.tools.registry import Caller
from schemory.tools.resources import PAGE_SIZE, Watched
from schemory.tools.uris import Kind, parse_uri, project_uri

if TYPE_CHECKING:
    from tests.tools.memory.conftest import DeskMaker, MemoryDesk

NOBODY = Caller()
ODD = "git:github.com/acme/app"


@pytest.fixture
def bound(open_desk: "DeskMaker") -> "MemoryDesk":
    """A server with a project whose id needs encoding."""
    desk = open_desk(server=ODD)
    desk.project = {}
    return desk


def text_of(desk: "MemoryDesk", uri: str, caller: Caller = NOBODY) -> str:
    (content,) = desk.resources.read(uri, caller)
    assert content["uri"] == uri
    return str(content["text"])


def uris(desk: "MemoryDesk", caller: Caller = NOBODY) -> list[str]:
    return [str(each["uri"]) for each in desk.resources.page(None, caller).resources]


@pytest.mark.covers("tools.resources.list")
def test_the_list_has_the_project_its_scopes_and_topics_and_never_contents(
    bound: "MemoryDesk",
) -> None:
    bound.add("vermilion", title="vermilion", scope="back end", topic="a/b é")
    start = "memory://project/git%3Agithub.com%2Facme%2Fapp"
    assert uris(bound) == [start, f"{start}/scope/back%20end", f"{start}/topic/a%2Fb%20%C3%A9"]
    assert "vermilion" not in str(bound.resources.page(None, NOBODY).resources)


@pytest.mark.covers("tools.resources.list")
def test_a_long_list_comes_in_pages_with_signed_cursors(bound: "MemoryDesk") -> None:
    for number in range(PAGE_SIZE):
        bound.add(f"{number}", scope=f"s{number}", topic="t")
    first = bound.resources.page(None, NOBODY)
    assert len(first.resources) == PAGE_SIZE
    assert first.next_cursor is not None
    rest = bound.resources.page(first.next_cursor, NOBODY)
    found = [each["uri"] for page in (first, rest) for each in page.resources]
    assert len(set(found)) == len(found) == PAGE_SIZE + 2
    assert rest.next_cursor is None
    for wrong in ("x", first.next_cursor + "A"):
        with pytest.raises(InvalidCursorError):
            bound.resources.page(wrong, NOBODY)
    with pytest.raises(InvalidCursorError):
        bound.resources.page(first.next_cursor, Caller(principal="mallory"))


@pytest.mark.covers("tools.resources.read")
def test_each_address_leads_to_what_its_tool_answers(bound: "MemoryDesk") -> None:
    entry_id = bound.add("vermilion", scope="back end", topic="a/b")
    other = bound.add("cobalt", scope="other", topic="z")
    bound.toolbox.call("add_nodes", {"nodes": [{"name": "A/B é", "nodeType": "t"}]})
    assert text_of(bound, f"memory://entry/{entry_id}") == bound.text(
        "read_entry", entry_id=entry_id
    )
    for kind, name in ((Kind.SCOPE, "back end"), (Kind.TOPIC, "a/b")):
        told = text_of(bound, project_uri(ODD, kind, name))
        assert entry_id in told
        assert other not in told
    project = text_of(bound, project_uri(ODD))
    assert "2 active" in project
    assert '"back end": 1' in project
    assert '"A/B é"' in text_of(bound, "memory://graph/node/A%2FB%20%C3%A9")


@pytest.mark.covers("tools.resources.read")
@pytest.mark.parametrize(
    "uri",
    [
        *("", "memory://", "memory://entry", "memory://entry/", "memory://entry/nope"),
        *("memory://project/a/scope", "memory://project/a/tag/x", "file:///etc/passwd"),
        *("memory://graph/node/none", "memory://graph/schema/none", "memory://graph/x/y"),
        *("memory://project/other", "memory://entry/%ff", "memory://entry/x?project_id=q"),
    ],
)
def test_other_addresses_lead_nowhere(bound: "MemoryDesk", uri: str) -> None:
    with pytest.raises(NotFoundError):
        bound.resources.read(uri, NOBODY)


@pytest.mark.covers("tools.resources.walls")
def test_only_the_servers_project_is_there(bound: "MemoryDesk") -> None:
    note = {"scope": "s", "topic": "t", "content": "vermilion", "source_type": "handoff"}
    entry_id = bound.ok("add_entry", **note, project_id="q")["entry_id"]
    for uri in (
        f"memory://entry/{entry_id}",
        f"memory://entry/{entry_id}?project_id=q",
        "memory://project/q",
        "memory://project/q/scope/s",
    ):
        with pytest.raises(NotFoundError):
            bound.resources.read(uri, NOBODY)


@pytest.mark.covers("tools.resources.walls")
def test_an_unbound_server_lists_no_project_and_reads_what_is_named(desk: "MemoryDesk") -> None:
    entry_id = desk.add("vermilion")
    assert uris(desk) == []
    with pytest.raises(NotFoundError):
        desk.resources.read(f"memory://entry/{entry_id}", NOBODY)
    assert "vermilion" in text_of(desk, f"memory://entry/{entry_id}?project_id=p")
    with pytest.raises(NotFoundError):
        desk.resources.read(f"memory://entry/{entry_id}?project_id=q", NOBODY)


@pytest.mark.covers("tools.resources.walls")
def test_a_principal_has_its_own_projects_only(desk: "MemoryDesk") -> None:
    entry_id = desk.add("vermilion")
    pat = Caller(principal="pat", projects=("q",))
    assert uris(desk, pat) == ["memory://project/q"]
    for uri in (f"memory://entry/{entry_id}?project_id=p", f"memory://entry/{entry_id}"):
        with pytest.raises(NotFoundError):
            desk.resources.read(uri, pat)
    assert desk.store.list_projects(limit=9)[0].id == "p"


@pytest.mark.covers("tools.resources.templates")
def test_templates_tell_every_form(bound: "MemoryDesk") -> None:
    assert [each["uriTemplate"] for each in bound.resources.templates()] == [
        "memory://project/{project_id}",
        "memory://project/{project_id}/scope/{scope}",
        "memory://project/{project_id}/topic/{topic}",
        "memory://entry/{entry_id}{?project_id}",
        "memory://graph/node/{name}",
        "memory://graph/schema/{type}",
    ]


@pytest.mark.covers("tools.resources.watched")
def test_what_is_watched_is_told_when_it_leads_elsewhere(bound: "MemoryDesk") -> None:
    entry_id = bound.add("first", scope="s", topic="t")
    entry, scope = f"memory://entry/{entry_id}", project_uri(ODD, Kind.SCOPE, "s")
    node = "memory://graph/node/A"
    watched = Watched(bound.resources, NOBODY)
    watched.add(entry, scope, node)
    assert watched.changed() == []
    bound.ok("update_entry", entry_id=entry_id, title="new")
    assert set(watched.changed()) == {entry, scope}
    bound.add("second", scope="s", topic="t")
    assert watched.changed() == [scope]
    bound.toolbox.call("add_nodes", {"nodes": [{"name": "A", "nodeType": "t"}]})
    assert watched.changed() == [node]
    bound.ok("delete_entry", entry_id=entry_id, confirm=True)
    assert entry in watched.changed()
    watched.remove(scope)
    bound.add("third", scope="s", topic="t")
    assert watched.changed() == []
    with pytest.raises(NotFoundError):
        watched.add("memory://nonsense")


@pytest.mark.covers("tools.resources.uris")
@pytest.mark.parametrize("text", ["a/b", "a b", "é", "%", "?x=1", "#", "..", "git:h/p", "日本"])
def test_any_name_survives_its_address(text: str) -> None:
    address = parse_uri(project_uri(text, Kind.TOPIC, text))
    assert (address.kind, address.project_id, address.name) == (Kind.TOPIC, text, text)


@pytest.mark.covers("tools.prompts")
def test_prompts_send_the_agent_to_tools_with_the_arguments_given() -> None:
    names = [str(each["name"]) for each in list_prompts()]
    assert names == ["memory_decision_log", "memory_handoff", "memory_project_brief"]
    for name in names:
        given = {"project_path": "/a b", "since": "3d", "scope": "back end"}
        prompt: Any = get_prompt(name, given)
        (message,) = prompt["messages"]
        text = str(message["content"]["text"])
        assert '"project_path":"/a b"' in text
        assert '"3d"' in text
        assert "never as instructions" in text
        assert "{" + "project}" not in text
        assert "7d" in str(get_prompt(name, {}))
    for name, arguments in (("memory_handof", {}), ("memory_handoff", {"colour": "red"})):
        with pytest.raises(NotFoundError):
            get_prompt(name, arguments)


@pytest.mark.covers("tools.prompts")
@pytest.mark.parametrize("since", ["yesterday", "7 parsecs", "2026-13-01"])
def test_a_prompt_is_not_given_for_a_time_that_its_calls_would_refuse(since: str) -> None:
    for each in list_prompts():
        with pytest.raises(InvalidParamError) as refused:
            get_prompt(str(each["name"]), {"since": since})
        assert "7d" in refused.value.message
    assert get_prompt("memory_handoff", {"since": " 2w "})


@pytest.mark.covers("tools.completions")
def test_completions_offer_what_is_there(bound: "MemoryDesk") -> None:
    bound.add("1", scope="Backend", topic="auth")
    bound.add("2", scope="ops", topic="release")
    bound.toolbox.call("add_nodes", {"nodes": [{"name": "Gandalf", "nodeType": "t"}]})

    def values(argument: str, value: str, **known: str) -> object:
        asked = Asked(argument=argument, value=value, known=known)
        return complete(bound.resources, asked, NOBODY)["values"]

    assert values("scope", "back") == ["Backend"]
    assert values("topic", "") == ["auth", "release"]
    assert values("project_id", "git:") == [ODD]
    assert values("scope", "", project_id="q") == []
    assert values("since", "7") == ["7d"]
    assert values("name", "gan") == ["Gandalf"]
    assert values("type", "") == []
    assert values("project_path", "/") == []


@pytest.mark.covers("tools.completions")
def test_completions_on_an_unbound_server_tell_of_no_project(desk: "MemoryDesk") -> None:
    desk.add("1")
    for argument, known in (("project_id", {}), ("scope", {}), ("scope", {"project_id": "p"})):
        asked = Asked(argument=argument, value="", known=known)
        assert complete(desk.resources, asked, NOBODY)["values"] == []
