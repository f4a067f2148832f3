"""A principal that is limited to projects meets nothing of the others, by whichever way."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

if TYPE_CHECKING:
    from tests.server.http.conftest import Served, Servers

SPICE = "nutmeg"
"""Only in what is stored in project beta; no argument of any call holds it."""

Shape = Mapping[str, Any]


@pytest.fixture(scope="module")
def beta(team: "Served") -> Mapping[str, str]:
    """Ids of what ben has stored in project beta."""
    in_beta = {"project_id": "beta"}
    new = {**in_beta, "scope": "vault", "topic": "keys", "source_type": "decision"}
    first, second = (
        team.result(
            "memory_add_entry",
            {**new, "title": f"{SPICE} {n}", "content": f"launch {SPICE} {n}", "tags": ["t"]},
            who="ben",
        )["entry_id"]
        for n in (1, 2)
    )
    link = {"source_entry_id": first, "target_entry_id": second, "relation": "explains"}
    linked = team.result("memory_link_entries", {**in_beta, **link}, who="ben")
    nodes = [
        {"name": name, "nodeType": "npc", "metadata": [f"launch: {SPICE}", "role: r", "status: s"]}
        for name in ("Vault", "Door")
    ]
    assert team.result("add_nodes", {**in_beta, "nodes": nodes}, who="ben")["data"]
    edge = {"from": "Vault", "to": "Door", "edgeType": "has"}
    assert team.result("add_edges", {**in_beta, "edges": [edge]}, who="ben")["data"]
    return {"entry": first, "other": second, "link": linked["link_id"]}


def state(team: "Served") -> str:
    """Return all of beta, as ben sees it."""
    in_beta = {"project_id": "beta"}
    entries = team.result(
        "memory_search",
        {**in_beta, "query": "", "status": "any", "include_content": True},
        who="ben",
    )
    graph = team.result("read_graph", in_beta, who="ben")
    names = [
        team.result(f"memory_list_{kind}", in_beta, who="ben")["items"]
        for kind in ("scopes", "topics", "tags")
    ]
    return json.dumps([entries["results"], graph["data"], names], sort_keys=True)


def filled(shape: Shape, name: str, beta: Mapping[str, str]) -> Any:
    """Return a value of the schema `shape` that means something of beta's."""
    known = {
        "entry_id": beta["entry"],
        "source_entry_id": beta["entry"],
        "target_entry_id": beta["other"],
        "link_id": beta["link"],
        "scope": "vault",
        "topic": "keys",
        "query": "launch",
        "text": "launch",
        "to": "Door",
        "into": "Door",
        "newName": "Stolen",
        "nodeType": "npc",
        "edgeType": "has",
        "since": "7d",
        "save_path": "beta.json",
        "import_path": "beta.json",
    }
    if "enum" in shape:
        return shape["enum"][0]
    match shape["type"]:
        case "string":
            return known.get(name, "Vault")
        case "array":
            return [filled(shape["items"], name, beta)]
        case "object":
            return {
                key: filled(each, key, beta)
                for key, each in shape["properties"].items()
                if key not in {"project_id", "project_path", "cursor", "mode", "label"}
            }
        case "boolean":
            return True
        case _:
            return shape.get("minimum", 1)


@pytest.mark.covers("http.projects.tools")
@pytest.mark.parametrize(
    "aim", [{"project_id": "beta"}, {"project_path": "/beta"}, {"mode": "cross_project"}, {}]
)
def test_no_tool_shows_or_changes_anything_of_another_project(
    team: "Served", beta: Mapping[str, str], aim: Mapping[str, str]
) -> None:
    before = state(team)
    listed = team.ask("tools/list", who="ana").message["result"]["tools"]
    assert len(listed) > 50
    for tool in listed:
        shape = tool["inputSchema"]
        aimed = {key: value for key, value in aim.items() if key in shape["properties"]}
        required = {key: shape["properties"][key] for key in shape["required"]}
        for chosen in (shape["properties"], required):
            arguments = {**filled({"type": "object", "properties": chosen}, "", beta), **aimed}
            answer = team.call(tool["name"], arguments, who="ana")
            assert answer.status == 200, (tool["name"], answer.text)
            assert SPICE not in answer.text, (tool["name"], arguments, answer.text)
    assert state(team) == before


@pytest.mark.covers("http.projects.tools")
def test_an_entry_of_another_project_is_not_found_whichever_way_it_is_asked_for(
    team: "Served", beta: Mapping[str, str]
) -> None:
    for aim in ({"mode": "cross_project"}, {"project_id": "alpha"}, {}):
        asked = {"entry_id": beta["entry"], **aim}
        assert team.result("memory_read_entry", asked, who="ana")["error_code"] == "NOT_FOUND"
    refused = team.result(
        "memory_read_entry", {"entry_id": beta["entry"], "project_id": "beta"}, who="ana"
    )
    assert refused["error_code"] == "INVALID_PARAM"
    assert "may not use" in refused["detail"]


@pytest.mark.covers("http.projects.own")
def test_who_may_use_one_project_need_not_name_it(team: "Served", beta: Mapping[str, str]) -> None:
    del beta
    added = team.result(
        "memory_add_entry",
        {"scope": "s", "topic": "t", "content": "mine", "source_type": "decision"},
        who="ana",
    )
    assert added["project_id"] == "alpha"
    node = {"name": "Mine", "nodeType": "thing", "metadata": []}
    assert team.result("add_nodes", {"nodes": [node]}, who="ana")["data"]
    there = team.result("open_nodes", {"project_id": "alpha", "names": ["Mine"]}, who="admin")
    assert [each["name"] for each in there["data"]["nodes"]] == ["Mine"]


@pytest.mark.covers("http.projects.own")
def test_who_may_use_several_projects_is_told_to_choose(team: "Served") -> None:
    refused = team.result("read_graph", {}, who="ben")
    assert refused["error_code"] == "INVALID_PARAM"
    assert "beta, gamma" in json.dumps(refused)
    assert "default" not in json.dumps(refused)
    refused = team.result("memory_search", {"query": "launch"}, who="ben")
    assert refused["error_code"] == "INVALID_PARAM"


@pytest.mark.covers("http.projects.schemas")
def test_schemas_are_changed_only_by_who_may_use_every_project(team: "Served") -> None:
    schema = {
        "name": "add_gem",
        "description": "A gem.",
        "properties": {"cut": {"type": "string", "description": "How it is cut."}},
    }
    refused = team.result("define_schema", {"schema": schema}, who="ana")
    assert refused["error_code"] == "INVALID_PARAM"
    assert "gem" not in json.dumps(team.result("list_schemas", {}, who="ana"))


@pytest.mark.covers("http.projects.resources")
@pytest.mark.parametrize(
    "uri",
    [
        "memory://project/beta",
        "memory://project/beta/scope/vault",
        "memory://project/beta/topic/keys",
        "memory://entry/{entry}",
        "memory://entry/{entry}?project_id=beta",
        "memory://entry/{entry}?project_id=alpha",
        "memory://graph/node/Vault",
    ],
)
def test_no_resource_of_another_project_can_be_read(
    team: "Served", beta: Mapping[str, str], uri: str
) -> None:
    answer = team.ask("resources/read", {"uri": uri.format(**beta)}, who="ana")
    assert answer.message["error"]["code"] == -32002
    assert SPICE not in answer.text


@pytest.mark.covers("http.projects.resources")
def test_lists_and_completions_name_no_other_project(
    team: "Served", beta: Mapping[str, str]
) -> None:
    del beta
    listed = team.ask("resources/list", {}, who="ana").text
    assert "memory://project/alpha" in listed
    assert "beta" not in listed
    assert "vault" not in listed

    def completed(argument: str, **known: str) -> list[str]:
        params = {
            "ref": {"type": "ref/prompt", "name": "memory_project_brief"},
            "argument": {"name": argument, "value": ""},
            "context": {"arguments": known},
        }
        answer = team.ask("completion/complete", params, who="ana").message
        values: list[str] = answer["result"]["completion"]["values"]
        return values

    assert completed("project_id") == ["alpha"]
    assert "vault" not in completed("scope")
    assert completed("scope", project_id="beta") == []
    assert "Vault" not in completed("name")


@pytest.mark.covers("http.projects.paths")
def test_a_principal_cannot_look_about_on_the_servers_machine(team: "Served") -> None:
    for tool, arguments in (
        ("memory_status", {}),
        ("memory_search", {"query": "x"}),
        ("memory_export_project", {"save_path": "/taken.json"}),
        ("memory_import_project", {"import_path": "/etc/passwd"}),
    ):
        for path in ("/", "/etc", "/no/such/folder"):
            answer = team.result(tool, {**arguments, "project_path": path}, who="admin")
            assert answer["error_code"] == "INVALID_PARAM", (tool, path, answer)
            assert "server's machine" in answer["detail"]
    for tool, arguments in (
        ("memory_export_project", {"save_path": "/etc/taken.json"}),
        ("memory_import_project", {"import_path": "/etc/passwd"}),
    ):
        answer = team.result(tool, {**arguments, "project_id": "alpha"}, who="admin")
        assert answer["error_code"] == "PATH_NOT_ALLOWED"


@pytest.mark.covers("http.projects.cursors")
def test_a_cursor_is_no_use_to_anybody_else(team: "Served", beta: Mapping[str, str]) -> None:
    del beta
    memory = {"project_id": "beta", "query": "", "limit": 1}
    cursor = team.result("memory_search", memory, who="ben")["next_cursor"]
    asked = {**memory, "cursor": cursor}
    assert team.result("memory_search", asked, who="ben")["ok"]
    assert team.result("memory_search", asked, who="admin")["error_code"] == "INVALID_PARAM"

    graph = {"project_id": "beta", "limit": 1}
    cursor = team.result("read_graph", graph, who="ben")["data"]["nextCursor"]
    asked = {**graph, "cursor": cursor}
    assert team.result("read_graph", asked, who="ben")["data"]
    assert team.result("read_graph", asked, who="admin")["error_code"] == "INVALID_CURSOR"
    forged = cursor[:-2] + ("AA" if cursor[-2:] != "AA" else "BB")
    answer = team.result("read_graph", {**graph, "cursor": forged}, who="ben")
    assert answer["error_code"] == "INVALID_CURSOR"


@pytest.mark.covers("http.projects.news")
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_nobody_is_told_of_changes_in_a_project_they_may_not_use(
    team: "Served", beta: Mapping[str, str], mode: str
) -> None:
    uris = ["memory://project/beta", f"memory://entry/{beta['entry']}?project_id=beta"]

    async def heard() -> dict[str, list[str]]:
        told: dict[str, list[str]] = {"ana": [], "ben": []}
        done = asyncio.Event()

        async def follow(who: str, ready: asyncio.Event) -> None:
            async def note(message: Any) -> None:
                uri = getattr(getattr(message, "params", None), "uri", None)
                if uri is not None:
                    told[who].append(str(uri))
                    done.set()

            async with team.client(mode, who, message_handler=note) as client:
                if mode == "legacy":
                    for uri in uris:
                        with pytest.warns(MCPDeprecationWarning):
                            await client.subscribe_resource(uri)
                    ready.set()
                    await asyncio.Event().wait()
                async with client.listen(resource_subscriptions=uris) as events:
                    ready.set()
                    async for event in events:
                        told[who].append(str(event))
                        done.set()

        tasks = []
        for who in told:
            ready = asyncio.Event()
            tasks.append(asyncio.create_task(follow(who, ready)))
            await ready.wait()
        change = {"project_id": "beta", "scope": "vault", "topic": mode, "content": mode}
        new = {**change, "source_type": "decision"}
        await asyncio.to_thread(team.result, "memory_add_entry", new, who="ben")
        await done.wait()
        # Both are told in one round, so whatever ana were told would have been sent by now.
        await asyncio.to_thread(team.result, "memory_status", {"project_id": "beta"}, who="ben")
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return told

    told = asyncio.run(asyncio.wait_for(heard(), 60))
    assert told["ben"]
    assert told["ana"] == []


@pytest.mark.covers("http.projects.resources")
def test_the_newest_era_does_not_find_other_projects_resources_either(
    team: "Served", beta: Mapping[str, str]
) -> None:
    async def read() -> int:
        async with team.client("2026-07-28", "ana") as client:
            with pytest.raises(MCPError) as refused:
                await client.read_resource(f"memory://entry/{beta['entry']}?project_id=beta")
            return refused.value.error.code

    assert asyncio.run(read()) == -32602


@pytest.fixture(scope="module")
def plain_team(
    tmp_path_factory: pytest.TempPathFactory,
    make_servers: "type[Servers]",
    save_tokens: "Callable[..., Path]",
) -> "Iterator[Served]":
    """A server as the how-to starts it: tokens, and no flag beside."""
    folder = tmp_path_factory.mktemp("plain")
    rows = [("ana", "write"), ("ben", "write")]
    file = save_tokens(folder / "tokens.json", rows)
    limited = json.loads(file.read_text(encoding="utf-8"))
    limited[1]["projects"] = ["beta", "gamma"]
    file.write_text(json.dumps(limited), encoding="utf-8")
    found = make_servers(folder)
    yield found.start("--http-auth-file", str(file))
    found.close()


@pytest.mark.covers("http.projects.graph")
def test_a_principal_of_two_projects_reaches_the_graph_of_each(plain_team: "Served") -> None:
    for project in ("beta", "gamma"):
        node = {"name": f"of {project}", "nodeType": "place"}
        plain_team.result("add_nodes", {"project_id": project, "nodes": [node]}, who="ben")
    seen = [
        [node["name"] for node in plain_team.result("read_graph", at, who="ben")["data"]["nodes"]]
        for at in ({"project_id": "beta"}, {"project_id": "gamma"})
    ]
    assert seen == [["of beta"], ["of gamma"]]
    refused = plain_team.call("read_graph", {"project_id": "alpha"}, who="ben").message["result"]
    assert refused["isError"]


@pytest.mark.covers("http.projects.told")
@pytest.mark.parametrize(
    ("who", "hint"),
    [("ana", "Pass project_id."), ("ben", "Pass project_id: one of beta, gamma.")],
)
def test_who_has_a_token_is_never_told_to_name_a_folder(
    plain_team: "Served", who: str, hint: str
) -> None:
    greeting = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "pytest", "version": "1"},
    }
    told = plain_team.ask("initialize", greeting, who=who).message["result"]["instructions"]
    assert "project_id" in told
    assert "project_path" not in told
    assert len(told.encode()) <= 1_600
    refused = plain_team.call("memory_search", {"query": "x"}, who=who).message["result"]
    assert refused["structuredContent"]["hint"] == hint
