"""Who comes in over HTTP, and what each token opens."""

import asyncio
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schemory.app import open_app
from schemory.config import load_settings
from schemory.server.principals import scope_for

if TYPE_CHECKING:
    from tests.server.http.conftest import Served

ADD = {"project_id": "alpha", "scope": "s", "topic": "t", "source_type": "decision"}


@pytest.mark.covers("http.auth.no_token")
def test_without_a_token_the_answer_is_401_and_says_where_to_learn_more(team: "Served") -> None:
    answer = team.ask("tools/list")
    assert answer.status == 401
    told = answer.headers["www-authenticate"]
    place = f"http://127.0.0.1:{team.port}/.well-known/oauth-protected-resource/mcp"
    assert told.startswith("Bearer ")
    assert f'resource_metadata="{place}"' in told
    assert 'scope="memory:read"' in told


@pytest.mark.covers("http.auth.metadata")
@pytest.mark.parametrize("suffix", ["", "/mcp"])
def test_the_metadata_name_the_resource_and_its_scopes(team: "Served", suffix: str) -> None:
    answer = team.send("GET", f"/.well-known/oauth-protected-resource{suffix}")
    assert answer.status == 200
    found = json.loads(answer.text)
    assert found["resource"] == team.url
    assert found["scopes_supported"] == ["memory:read", "memory:write", "memory:admin"]
    assert found["bearer_methods_supported"] == ["header"]


@pytest.mark.covers("http.auth.no_token")
@pytest.mark.parametrize(
    "header",
    [
        "Bearer wrong-token-of-more-than-thirty-two-characters",
        "Bearer ",
        "Bearer",
        "Basic %s",
        "%s",
        "Bearer X%s",
        "Bearer \xff\xfe",
    ],
)
def test_what_is_no_token_of_the_file_is_refused(team: "Served", header: str) -> None:
    answer = team.ask("tools/list", Authorization=header.replace("%s", team.token("admin")))
    assert answer.status == 401
    assert "invalid_token" in answer.headers["www-authenticate"]


@pytest.mark.covers("http.auth.no_token")
def test_a_token_in_the_address_does_not_count(team: "Served") -> None:
    for query in ("?token=", "?access_token="):
        answer = team.send(
            "POST", "/mcp" + query + team.token("admin"), "{}", Content_Type="application/json"
        )
        assert answer.status == 401


@pytest.mark.covers("http.auth.scopes")
def test_a_reader_reads_and_is_told_which_scope_writing_needs(team: "Served") -> None:
    assert team.result("memory_status", {"project_id": "alpha"}, who="reader")["ok"]
    answer = team.call("memory_add_entry", {**ADD, "content": "x"}, who="reader")
    assert answer.status == 403
    told = answer.headers["www-authenticate"]
    assert 'error="insufficient_scope"' in told
    assert 'scope="memory:read memory:write"' in told
    assert "resource_metadata=" in told


@pytest.mark.covers("http.auth.scopes")
def test_a_writer_adds_and_may_not_delete_for_good(team: "Served") -> None:
    added = team.result("memory_add_entry", {**ADD, "content": "kept"}, who="writer")
    gone = {"project_id": "alpha", "entry_id": added["entry_id"], "confirm": True}
    answer = team.call("memory_delete_entry", gone, who="writer")
    assert answer.status == 403
    assert 'scope="memory:read memory:write memory:admin"' in answer.headers["www-authenticate"]
    assert team.result("memory_delete_entry", gone, who="admin")["ok"]


@pytest.mark.covers("http.auth.scopes")
@pytest.mark.parametrize(
    ("tool", "scope"),
    [
        ("memory_search", "read"),
        ("read_graph", "read"),
        ("query_nodes", "read"),
        ("list_schemas", "read"),
        ("memory_update_entry", "write"),
        ("memory_rebuild_index", "write"),
        ("add_npc", "write"),
        ("delete_npc", "write"),
        ("delete_nodes", "write"),
        ("merge_nodes", "write"),
        ("memory_delete_entry", "admin"),
        ("memory_import_project", "admin"),
        ("memory_export_project", "admin"),
        ("define_schema", "admin"),
        ("remove_schema", "admin"),
    ],
)
def test_each_tool_needs_the_scope_that_its_effect_asks_for(
    team: "Served", tool: str, scope: str
) -> None:
    order = ["scraper", "reader", "writer", "admin"]
    opens = order.index({"read": "reader", "write": "writer", "admin": "admin"}[scope])
    for at, name in enumerate(order):
        # Empty arguments are refused by the tool itself, so nothing is done.
        answer = team.call(tool, {"no_such_argument": 1}, who=name)
        assert (answer.status == 200) == (at >= opens), (name, answer.text)


@pytest.mark.covers("http.auth.list")
@pytest.mark.parametrize("version", [None, "2026-07-28"])
def test_the_tool_list_shows_what_a_static_token_can_call(
    team: "Served", version: str | None
) -> None:
    async def names(who: str) -> set[str]:
        async with team.client("auto" if version else "legacy", who) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    reader = asyncio.run(names("reader"))
    writer = asyncio.run(names("writer"))
    admin = asyncio.run(names("admin"))
    assert "memory_search" in reader
    assert "memory_add_entry" not in reader
    assert writer - reader >= {"memory_add_entry", "add_npc", "delete_nodes"}
    assert admin - writer == {
        *("memory_delete_entry", "memory_import_project", "memory_export_project"),
        *("define_schema", "remove_schema"),
    }
    assert asyncio.run(names("scraper")) == set()
    # ana is an administrator of one project; schemas belong to all.
    assert admin - asyncio.run(names("ana")) == {"define_schema", "remove_schema"}


@pytest.mark.covers("http.auth.scopes")
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("resources/list", {}),
        ("resources/read", {"uri": "memory://project/alpha"}),
        ("prompts/list", {}),
        (
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": ""}},
        ),
    ],
)
def test_a_token_without_scopes_reads_nothing(
    team: "Served", method: str, params: dict[str, Any]
) -> None:
    assert team.ask(method, params, who="scraper").status == 403
    assert team.ask(method, params, who="reader").status == 200


@pytest.mark.covers("http.auth.scopes")
@pytest.mark.parametrize(
    "body",
    [
        # Parsers differ in which of two equal names counts.
        '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":%s}',
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping","params":%s}',
        (
            '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_status",'
            '"name":"memory_delete_entry","arguments":{"entry_id":"x","confirm":true}}}'
        ),
        (
            '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_delete_entry",'
            '"name":"memory_status","arguments":{"entry_id":"x","confirm":true}}}'
        ),
        '[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}]',
        '{"jsonrpc":"2.0","id":1,"method":"tools\\u002fcall","params":%s}',
    ],
)
def test_no_way_of_writing_a_request_gets_past_the_scope(team: "Served", body: str) -> None:
    added = team.result("memory_add_entry", {**ADD, "content": body}, who="writer")
    asked = {"project_id": "alpha", "entry_id": added["entry_id"], "confirm": True}
    call = json.dumps({"name": "memory_delete_entry", "arguments": asked})
    text = body.replace("%s", call).replace('"x"', json.dumps(added["entry_id"]))
    team.send(
        "POST",
        "/mcp",
        text,
        Authorization=f"Bearer {team.token('reader')}",
        Content_Type="application/json",
        Accept="application/json, text/event-stream",
    )
    entry = {"project_id": "alpha", "entry_id": added["entry_id"]}
    assert team.result("memory_read_entry", entry, who="reader")["ok"]


@pytest.mark.covers("http.auth.author")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_what_is_written_names_the_principal_and_the_client(team: "Served", mode: str) -> None:
    async def write() -> str:
        async with team.client(mode, "writer") as client:
            result = await client.call_tool("memory_add_entry", {**ADD, "content": f"by {mode}"})
            assert result.structured_content
            return str(result.structured_content["entry_id"])

    entry = {"project_id": "alpha", "entry_id": asyncio.run(write())}
    read = team.result("memory_read_entry", entry, who="reader")
    assert read["entry"]["created_by"].startswith("writer via mcp/")


@pytest.mark.covers("http.auth.silence")
def test_no_token_is_in_any_log_or_answer(team: "Served") -> None:
    names = ("reader", "writer", "admin", "ana", "ben", "scraper")
    texts = [team.ask("tools/list", who=who).text for who in (*names, "y" * 40)]
    team.ask("tools/call", {"name": team.token("admin")}, who="admin")
    texts.append(team.send("GET", "/metrics", Authorization=f"Bearer {team.token('admin')}").text)
    listed = team.result("memory_search", {"project_id": "alpha", "query": ""}, who="ana")
    everything = "\n".join([team.stderr(), *texts, json.dumps(listed)])
    assert "schemory debug" in everything
    assert not [name for name in names if team.token(name) in everything]


@pytest.mark.covers("http.auth.scopes")
def test_the_guides_table_names_each_tool_beside_the_scope_that_it_needs(tmp_path: Path) -> None:
    guide = Path(__file__).parents[3] / "docs" / "how-to" / "team-server.md"
    rows = dict(re.findall(r"^\| `(memory:\w+)` \| (.*) \|$", guide.read_text(), re.MULTILINE))
    told = {scope: set(re.findall(r"`(\w+)`", text)) for scope, text in rows.items()}
    flags = {
        "MEMORY_DB_PATH": str(tmp_path / "memory.sqlite"),
        "MEMORY_TOOLSET": "graph,memory,graph_query,admin",
        "MEMORY_PACKS": "rpg",
    }
    is_generated = re.compile(r"(add|update|delete)_(?!nodes|edges|metadata)\w+").fullmatch
    with open_app(load_settings(flags, environ={}, cwd=tmp_path, home=tmp_path)) as app:
        registry = {
            **app.toolbox_for("full").registry,
            **app.toolbox_for("compact").registry,
        }
    for name, tool in registry.items():
        shown = (
            re.sub(r"_\w+$", "_npc", name) if is_generated(name) and "_node" not in name else name
        )
        assert [scope for scope, names in told.items() if shown in names] == [scope_for(tool)], name
