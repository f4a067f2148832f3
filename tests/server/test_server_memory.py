"""The seed's evidence flows, replayed with a real client against the real process on stdio."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, TypeAlias

import apsw
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import PromptReference

TIMEOUT_SECONDS = 60
STORE = "memory.sqlite"
Talk: TypeAlias = Callable[["Session"], Coroutine[Any, Any, None]]


class Session:
    """A client's conversation with one server process."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def ok(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.client.call_tool(f"memory_{tool}", arguments)
        assert not result.is_error, result.content
        answer: dict[str, Any] = result.structured_content
        assert answer["ok"] is True
        return answer

    async def fails(self, tool: str, **arguments: Any) -> str:
        result = await self.client.call_tool(f"memory_{tool}", arguments)
        assert result.is_error
        answer: dict[str, Any] = result.structured_content
        assert answer["ok"] is False
        return str(answer["error_code"])


@pytest.fixture
def converse(tmp_path: Path, environment: Mapping[str, str]) -> Callable[..., None]:
    """Holds a conversation with a server started with these arguments and environment."""

    @asynccontextmanager
    async def session(*arguments: str, **more: str) -> AsyncIterator[Session]:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "schemory", "serve", "--db", str(tmp_path / STORE), *arguments],
            env={**environment, **more},
            cwd=str(tmp_path),
        )
        async with Client(stdio_client(parameters)) as client:
            yield Session(client)

    def hold(talk: Talk, *arguments: str, **more: str) -> None:
        async def run() -> None:
            async with session(*arguments, **more) as one:
                await talk(one)

        asyncio.run(asyncio.wait_for(run(), TIMEOUT_SECONDS))

    return hold


@pytest.fixture(params=["fast", "sdk"])
def adapter(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The flags of each adapter."""
    return ("--sdk",) if request.param == "sdk" else ()


def repository(folder: Path, remote: str) -> Path:
    git = folder / ".git"
    for part in ("objects", "refs"):
        (git / part).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text(f'[remote "origin"]\n\turl = {remote}\n')
    return folder


NOTE = {
    "scope": "memory-node",
    "topic": "m2-validation",
    "content": "Direct calls reach the store as the contract says",
    "summary": "Direct calls work",
    "source_type": "agent_note",
    "source_ref": "check:m2",
    "tags": ["m2", "validation", "direct-mcp"],
    "confidence": 0.9,
}


@pytest.mark.covers("server.memory.seed.lifecycle")
def test_the_flow_of_section_0(
    converse: Callable[..., None], adapter: tuple[str, ...], tmp_path: Path
) -> None:
    folder = tmp_path / "external"
    folder.mkdir()
    project = {"project_path": str(folder), "project_id": "m2-ext"}

    async def talk(one: Session) -> None:
        status = await one.ok("status", **project)
        assert (status["features"]["fts"], status["features"]["audit_log"]) == (True, True)
        assert set(status["counts"].values()) == {0}
        for kind in ("scopes", "topics", "tags"):
            assert (await one.ok(f"list_{kind}", **project))["items"] == []
        assert (await one.ok("search", **project, query="direct"))["results"] == []
        assert _projects(tmp_path / STORE) == []

        added = await one.ok("add_entry", **project, **NOTE)
        entry_id = added["entry_id"]
        (hit,) = (await one.ok("search", **project, query="direct calls"))["results"]
        for key in ("source_type", "source_ref", "confidence"):
            assert hit[key] == NOTE[key]
        assert (hit["status"], bool(hit["verification_hint"])) == ("active", True)
        entry = (await one.ok("read_entry", **project, entry_id=entry_id))["entry"]
        assert (entry["content"], entry["summary"]) == (NOTE["content"], NOTE["summary"])
        scopes = await one.ok("list_scopes", **project)
        assert scopes["items"] == [{"name": "memory-node", "count": 1}]
        topics = await one.ok("list_topics", **project, scope="memory-node")
        assert topics["items"] == [{"name": "m2-validation", "count": 1}]

        assert (await one.ok("add_entry", **project, **NOTE))["deduped"] is True
        first = await one.ok("invalidate_entry", **project, entry_id=entry_id)
        assert (first["previous_status"], first["status"]) == ("active", "invalidated")
        assert first["changed"] is True
        again = await one.ok("invalidate_entry", **project, entry_id=entry_id)
        assert (again["status"], again["changed"]) == ("invalidated", False)
        assert (await one.ok("search", **project, query="direct"))["results"] == []
        assert (await one.ok("list_tags", **project))["items"] == []
        gone = {**project, "status": "invalidated"}
        (old,) = (await one.ok("search", **gone, query="direct"))["results"]
        assert old["id"] == entry_id
        places = {"scope": "memory-node", "topic": "m2-validation"}
        for filters in ({}, places):
            tags = await one.ok("list_tags", **gone, **filters)
            names = [(tag["name"], tag["count"]) for tag in tags["items"]]
            assert names == [("direct-mcp", 1), ("m2", 1), ("validation", 1)]
        counts = (await one.ok("status", **project))["counts"]
        assert (counts["entries"], counts["active"], counts["invalidated"]) == (1, 0, 1)

    converse(talk, *adapter)


def _projects(store: Path) -> list[str]:
    with closing(apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READONLY)) as db:
        return [str(row[0]) for row in db.execute("SELECT id FROM projects")]


@pytest.mark.covers("server.memory.seed.smoke")
def test_the_smoke_flow_of_section_24_2(
    converse: Callable[..., None], adapter: tuple[str, ...], tmp_path: Path
) -> None:
    inside, outside = tmp_path / "roots" / "target", tmp_path / "elsewhere"
    for folder in (inside, outside):
        folder.mkdir(parents=True)
    log = tmp_path / "audit.jsonl"
    here, there = {"project_path": str(inside)}, {"project_id": "other"}

    async def talk(one: Session) -> None:
        names = {tool.name for tool in (await one.client.list_tools()).tools}
        assert {"memory_status", "memory_add_entry", "memory_search", "read_graph"} <= names
        await one.ok("status", **here)
        note = {**NOTE, "content": "vermilion stays private"}
        entry_id = (await one.ok("add_entry", **here, **note))["entry_id"]
        assert len((await one.ok("search", **here, query="vermilion"))["results"]) == 1
        await one.ok("read_entry", **here, entry_id=entry_id)
        assert (await one.ok("search", **there, query="vermilion"))["results"] == []
        assert await one.fails("read_entry", **there, entry_id=entry_id) == "NOT_FOUND"
        assert await one.fails("status", project_path=str(outside)) == "PATH_NOT_ALLOWED"
        assert await one.fails("status") == "INVALID_PARAM"
        read = await one.ok("read_entry", entry_id=entry_id, mode="cross_project")
        assert read["entry"]["content"] == note["content"]
        for kind in ("scopes", "topics", "tags"):
            assert len((await one.ok(f"list_{kind}", **here))["items"]) >= 1
        await one.ok("invalidate_entry", **here, entry_id=entry_id, reason="vermilion reason")
        old = await one.ok("search", **here, query="vermilion", status="invalidated")
        assert len(old["results"]) == 1

    roots = str(tmp_path / "roots")
    converse(talk, *adapter, MEMORY_ALLOWED_ROOTS=roots, MEMORY_AUDIT_JSONL=str(log))
    written = log.read_text(encoding="utf-8")
    assert written.count('"memory_add_entry"') == 1
    assert "vermilion" not in written
    assert '"sha256"' in written
    with closing(apsw.Connection(str(tmp_path / STORE))) as db:
        assert "vermilion" not in str(db.execute("SELECT * FROM audit_log").fetchall())


@pytest.mark.covers("server.memory.seed.nested")
def test_the_flow_of_section_31_with_a_nested_folder(
    converse: Callable[..., None], adapter: tuple[str, ...], tmp_path: Path
) -> None:
    main = repository(tmp_path / "work" / "toolbelt", "https://github.com/Acme/Toolbelt.git")
    nested = main / "tmp" / "external-repo"
    nested.mkdir(parents=True)
    here, inner = {"project_path": str(main)}, {"project_path": str(nested)}
    forced = {**inner, "project_id": "workspace:external"}

    async def talk(one: Session) -> None:
        assert (await one.ok("search", **here, query="quokka"))["results"] == []
        beyond = str(tmp_path / "beyond")
        assert await one.fails("status", project_path=beyond) == "PATH_NOT_ALLOWED"
        note = {**NOTE, "content": "The quokka job runs at night"}
        added = await one.ok("add_entry", **inner, **note)
        assert added["project"]["id"] == "git:github.com/acme/toolbelt"
        assert added["project"]["resolved_by"] == "git"
        assert added["project"]["canonical_path"] == str(main)
        found = await one.ok("search", **inner, query="quokka", include_content=True)
        (hit,) = found["results"]
        assert ">>>quokka<<<" in hit["snippet"]
        assert hit["content"] == note["content"]
        again = await one.ok("add_entry", **inner, **note)
        assert (again["deduped"], again["existing_entry_id"]) == (True, added["entry_id"])
        from_above = await one.ok("search", **here, query="quokka")
        assert [each["id"] for each in from_above["results"]] == [added["entry_id"]]

        other = {**note, "content": "The wombat job runs at noon"}
        apart = await one.ok("add_entry", **forced, **other)
        assert apart["project"]["id"] == "workspace:external"
        assert apart["project"]["resolved_by"] == "argument"
        assert (await one.ok("search", **here, query="wombat"))["results"] == []
        everywhere = await one.ok("search", query="job", mode="cross_project")
        projects = {each["project_id"] for each in everywhere["results"]}
        assert projects == {"git:github.com/acme/toolbelt", "workspace:external"}

    converse(talk, *adapter, MEMORY_ALLOWED_ROOTS=str(tmp_path / "work"))


@pytest.mark.covers("server.memory.untrusted_env")
def test_a_cloned_repositorys_env_cannot_widen_anything(
    converse: Callable[..., None], adapter: tuple[str, ...], tmp_path: Path
) -> None:
    clone = tmp_path / "roots" / "clone"
    clone.mkdir(parents=True)
    (clone / ".env").write_text(
        "MEMORY_DB_PATH=stolen.sqlite\n"
        "MEMORY_ALLOWED_ROOTS=/\n"
        "MEMORY_AUDIT_LOG=0\n"
        "MEMORY_MAX_TAGS=5000\n"
        "MEMORY_MAX_TITLE_CHARS=3\n"
        "MEMORY_CONFIG=evil.json\n"
        "MEMORY_TOOLSET=admin\n"
    )
    here = {"project_path": str(clone)}

    async def talk(one: Session) -> None:
        status = await one.ok("status", **here)
        assert status["db_path"] == str(tmp_path / STORE)
        assert status["features"]["audit_log"] is True
        told = " ".join(status["warnings"])
        for key in (
            "MEMORY_DB_PATH",
            "MEMORY_ALLOWED_ROOTS",
            "MEMORY_AUDIT_LOG",
            "MEMORY_MAX_TAGS",
        ):
            assert key in told
        assert await one.fails("status", project_path=str(tmp_path)) == "PATH_NOT_ALLOWED"
        many = {**NOTE, "tags": [f"t{n}" for n in range(21)]}
        assert await one.fails("add_entry", **here, **many) == "LIMIT_EXCEEDED"
        outside = {**NOTE, "source_path": str(tmp_path / "x.txt")}
        assert await one.fails("add_entry", **here, **outside) == "PATH_NOT_ALLOWED"
        long = {**NOTE, "title": "four"}
        assert await one.fails("add_entry", **here, **long) == "LIMIT_EXCEEDED"
        await one.ok("add_entry", **here, **NOTE)
        names = {tool.name for tool in (await one.client.list_tools()).tools}
        assert "define_schema" not in names

    converse(talk, *adapter, MEMORY_ALLOWED_ROOTS=str(tmp_path / "roots"))
    assert not list(tmp_path.rglob("stolen.sqlite"))
    with closing(apsw.Connection(str(tmp_path / STORE))) as db:
        operations = [row[0] for row in db.execute("SELECT operation FROM audit_log")]
    assert operations.count("memory_add_entry") == 4


@pytest.mark.covers("server.memory.server_project")
def test_a_servers_project_is_that_of_both_halves(
    converse: Callable[..., None], adapter: tuple[str, ...], tmp_path: Path
) -> None:
    folder = repository(tmp_path / "app", "git@github.com:acme/app.git")

    async def talk(one: Session) -> None:
        nodes = [{"name": "A", "nodeType": "t"}]
        assert not (await one.client.call_tool("add_nodes", {"nodes": nodes})).is_error
        await one.ok("add_entry", **NOTE)
        status = await one.ok("status")
        assert status["project_id"] == "git:github.com/acme/app"
        assert status["project"]["resolved_by"] == "server"
        assert status["counts"]["entries"] == 1
        graph = status["graph"]
        assert (graph["space"], graph["nodes"]) == ("git:github.com/acme/app", 1)

    converse(talk, *adapter, "--project", str(folder))


@pytest.mark.covers("server.memory.resources")
def test_resources_prompts_and_completions_are_served(
    converse: Callable[..., None], adapter: tuple[str, ...]
) -> None:
    async def talk(one: Session) -> None:
        added = await one.ok("add_entry", **NOTE)
        uris = [each.uri for each in (await one.client.list_resources()).resources]
        assert "memory://project/team%2Fapp" in uris
        assert "memory://project/team%2Fapp/scope/memory-node" in uris
        entry = await one.client.read_resource(f"memory://entry/{added['entry_id']}")
        assert NOTE["content"] in entry.contents[0].text  # type: ignore[union-attr]  # it is text
        prompts = {each.name for each in (await one.client.list_prompts()).prompts}
        assert prompts == {"memory_project_brief", "memory_handoff", "memory_decision_log"}
        prompt = await one.client.get_prompt("memory_handoff", {"since": "3d"})
        assert '"since":"3d"' in prompt.messages[0].content.text  # type: ignore[union-attr]  # as above
        values = await one.client.complete(
            PromptReference(name="memory_handoff"), {"name": "scope", "value": "mem"}
        )
        assert values.completion.values == ["memory-node"]

    converse(talk, *adapter, MEMORY_PROJECT_ID="team/app")
