"""`schemory doctor` on stores that are really damaged: each is named, mended only if safe."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import apsw
import pytest

import schemory
from schemory.app import open_app
from schemory.config import load_settings
from schemory.tools.registry import Caller

STORE = Path(".mcp-servers/memory/memory.sqlite")
MIGRATIONS = Path(schemory.__file__).parent / "storage" / "sqlite" / "migrations"
TOKEN = "ghp_" + "k7Qz2mVx9LpRt4Wb8NcYd3Hf6Js1Gu5AeXoP"
posix_only = pytest.mark.skipif(os.name != "posix", reason="modes and locks as POSIX has them")

Cli: TypeAlias = Callable[..., tuple[int, str]]
Damage: TypeAlias = Callable[[Path], object]


@pytest.fixture(scope="module")
def sound_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder with a sound store: two nodes, an edge, two entries."""
    home = tmp_path_factory.mktemp("sound")
    nodes = [{"name": name, "nodeType": "service"} for name in ("billing", "ledger")]
    edge = {"from": "billing", "to": "ledger", "edgeType": "calls"}
    entry = {"scope": "s", "topic": "t", "content": "Retries are capped."}
    settings = load_settings({}, environ={}, cwd=home, home=home)
    with open_app(settings) as app:
        for tool, arguments in (
            ("add_nodes", {"nodes": nodes}),
            ("add_edges", {"edges": [edge]}),
            (
                "memory_add_entry",
                {**entry, "source_type": "decision", "project_path": str(home)},
            ),
        ):
            reply = app.toolbox.call(tool, arguments, Caller(author="tester", client="test"))
            assert not reply.is_error, reply.text
    return home


@pytest.fixture
def home(sound_home: Path, tmp_path: Path) -> Path:
    """The same, for one test to damage."""
    copy = tmp_path / "home"
    shutil.copytree(sound_home, copy)
    return copy


def sql(*statements: str) -> Damage:
    def run(home: Path) -> None:
        with closing(apsw.Connection(str(home / STORE))) as db:
            for statement in statements:
                db.execute(statement)

    return run


def overwrite_page(table: str) -> Damage:
    def run(home: Path) -> None:
        with closing(apsw.Connection(str(home / STORE))) as db:
            question = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
            root, size = db.execute(question, (table,)).get, db.pragma("page_size")
        with (home / STORE).open("r+b") as file:
            file.seek((root - 1) * size)
            file.write(b"\xde\xad\xbe\xef" * (size // 4))

    return run


def make_older(home: Path) -> None:
    store = home / STORE
    for left in (store, store.with_name("memory.sqlite-wal"), store.with_name("memory.sqlite-shm")):
        left.unlink(missing_ok=True)
    store.touch(mode=0o600)
    with closing(apsw.Connection(str(store))) as db:
        db.pragma("journal_mode", "wal")
        db.execute((MIGRATIONS / "0001_initial.sql").read_text(encoding="utf-8"))
        db.pragma("application_id", 0x5363686D)
        db.execute("INSERT INTO store_facts VALUES ('cursor_key', x'00')")
        db.pragma("user_version", 1)


def leave_half_a_copy(home: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (home / STORE.parent / f".memory.sqlite.{dead.pid}-0.tmp").write_bytes(b"half")


def fill_the_disk(home: Path) -> None:
    """Let the store claim so much that a copy of it has no room: a hole, not real blocks."""
    free = shutil.disk_usage(home).free
    with (home / STORE).open("r+b") as file:
        file.truncate(max(free, 2**20))


def pages(file: BinaryIO) -> bytes:
    """Return what the first pages hold, without the counters that a look as a writer moves."""
    return file.read(24) + file.read(76)[76:] + file.read(2**16)


def found(printed: str) -> dict[str, dict[str, Any]]:
    return {each["code"]: each for each in json.loads(printed)["findings"]}


def doctor(run_cli: Cli, home: Path, *flags: str) -> tuple[int, dict[str, dict[str, Any]]]:
    code, printed = run_cli(home, "doctor", "--json", *flags)
    return code, found(printed)


UNSAFE: dict[str, tuple[Damage, str, int]] = {
    "a page of the nodes": (overwrite_page("node"), "store.damaged", 3),
    "a page of the entries": (overwrite_page("memory_entries"), "store.damaged", 3),
    "an edge without its node": (
        sql("PRAGMA foreign_keys = OFF", "DELETE FROM node WHERE name = 'ledger'"),
        "store.orphans",
        1,
    ),
    "a table that is gone": (
        sql("PRAGMA foreign_keys = OFF", "DROP TABLE memory_links"),
        "store.damaged",
        3,
    ),
    "an index that is gone": (sql("DROP INDEX memory_entries_by_id"), "store.damaged", 3),
    "a newer schema": (sql("PRAGMA user_version = 99"), "store.unusable", 3),
    "little room": (fill_the_disk, "disk.low", 1),
}
SAFE: dict[str, tuple[Damage, str]] = {
    "the graph's index": (sql("DELETE FROM node_index_1_data WHERE id > 10"), "index.graph"),
    "the memory's index": (sql("DELETE FROM memory_index_2_data WHERE id > 10"), "index.memory"),
    "an older schema": (make_older, "store.older"),
    "no write-ahead log": (sql("PRAGMA journal_mode = delete"), "store.journal"),
    "half a copy": (leave_half_a_copy, "file.leftovers"),
}
if os.name == "posix":
    SAFE["an open file"] = (lambda home: (home / STORE).chmod(0o644), "file.permissions")
    SAFE["an open folder"] = (lambda home: (home / STORE).parent.chmod(0o755), "folder.permissions")


def test_the_sound_store_is_well(home: Path, run_cli: Cli) -> None:
    code, findings = doctor(run_cli, home)
    assert (code, findings) == (0, {})


@pytest.mark.covers("setup.doctor.damage")
@pytest.mark.parametrize("case", UNSAFE)
def test_what_cannot_be_mended_without_loss_is_named_and_left_as_it_is(
    case: str, home: Path, run_cli: Cli
) -> None:
    make, expected, exit_code = UNSAFE[case]
    make(home)
    with (home / STORE).open("rb") as file:
        before = pages(file)
    code, findings = doctor(run_cli, home)
    assert (code, expected in findings) == (exit_code, True)
    assert findings[expected]["nextStep"]
    assert not findings[expected]["fixable"]
    code, findings = doctor(run_cli, home, "--fix")
    assert (code, expected in findings) == (exit_code, True)
    if exit_code == 3:  # else an index beside the damage may have been built again
        with (home / STORE).open("rb") as file:
            assert pages(file) == before


@pytest.mark.covers("setup.doctor.damage")
def test_a_part_that_is_gone_is_told_by_its_name(home: Path, run_cli: Cli) -> None:
    sql("PRAGMA foreign_keys = OFF", "DROP TABLE memory_entries")(home)
    code, printed = run_cli(home, "doctor")
    assert code == 3
    assert "the table memory_entries is missing" in printed
    assert "1 finding" in printed  # its indexes went with it
    assert "SQLITE_ERROR" not in printed


@pytest.mark.covers("setup.doctor.damage")
@pytest.mark.parametrize("case", SAFE)
def test_what_is_safe_to_mend_is_named_then_mended_then_gone(
    case: str, home: Path, run_cli: Cli
) -> None:
    make, expected = SAFE[case]
    make(home)
    code, findings = doctor(run_cli, home)
    assert (code, list(findings)) == (1, [expected])
    assert findings[expected]["fixable"]
    code, printed = run_cli(home, "doctor", "--fix", "--json")
    assert (code, found(printed)) == (0, {})
    assert json.loads(printed)["fixed"]
    assert doctor(run_cli, home) == (0, {})


def make_foreign(path: Path) -> None:
    with closing(apsw.Connection(str(path))) as db:
        db.execute("CREATE TABLE theirs (word TEXT)")
    path.chmod(0o644)


NOT_OURS: dict[str, Callable[[Path], object]] = {
    "a folder": lambda path: path.mkdir(mode=0o755),
    "another program's database": make_foreign,
    "a text": lambda path: path.write_text("dear diary"),
}
if os.name == "posix":
    NOT_OURS["a pipe"] = lambda path: os.mkfifo(path, 0o644)


@pytest.mark.covers("setup.doctor.foreign")
@pytest.mark.parametrize("case", NOT_OURS)
def test_what_is_not_ours_is_named_and_nothing_about_it_is_changed(
    case: str, tmp_path: Path, run_cli: Cli
) -> None:
    thing = tmp_path / "thing"
    NOT_OURS[case](thing)
    beside = tmp_path / ".thing.999999-0.tmp"  # as our half-written files are called
    beside.write_text("theirs")
    mode = thing.stat().st_mode
    code, findings = doctor(run_cli, tmp_path, "--fix", "--db", str(thing))
    assert (code, list(findings)) == (3, ["store.unusable"])
    assert "restore" not in findings["store.unusable"]["nextStep"]
    assert thing.stat().st_mode == mode
    assert beside.exists()
    code, printed = run_cli(tmp_path, "status", "--db", str(thing))
    assert (code, "internal error" in printed) == (3, False)


KEEPS_LOCK = """
import fcntl, os, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
fcntl.flock(file, fcntl.LOCK_EX)
os.pwrite(file, f"{os.getpid():<20}\\n".encode(), 0)
if os.fork() == 0:
    os.close(1)
    sys.stdin.read()
    os._exit(0)
print("ready", flush=True)
os._exit(0)
"""


@contextmanager
def lock_of_a_dead_process(lock: Path) -> Iterator[int]:
    with subprocess.Popen(
        [sys.executable, "-c", KEEPS_LOCK, str(lock)], stdin=-1, stdout=-1
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        parent.wait()
        yield parent.pid


@posix_only
@pytest.mark.covers("setup.doctor.damage")
def test_a_stale_lock_is_named_with_who_left_it(home: Path, run_cli: Cli) -> None:
    lock = home / STORE.parent / "memory.sqlite-lock"
    with lock_of_a_dead_process(lock) as pid:
        code, findings = doctor(run_cli, home)
    assert code == 1
    assert f"process {pid}, which is gone" in findings["lock.orphaned"]["what"]
    assert doctor(run_cli, home) == (0, {})


@pytest.mark.covers("setup.doctor.damage")
def test_credentials_that_got_in_are_named_by_place_and_never_printed(
    home: Path, run_cli: Cli
) -> None:
    for tool, arguments in (
        (
            "add_nodes",
            {
                "nodes": [{"name": "ci", "nodeType": "job", "metadata": [f"Key: {TOKEN}"]}],
                "allowSecret": True,
            },
        ),
        (
            "memory_add_entry",
            {
                "scope": "s",
                "topic": "t",
                "content": f"Use {TOKEN} to push.",
                "source_type": "agent_note",
                "project_path": str(home),
                "allow_secret": True,
            },
        ),
    ):
        code, printed = run_cli(home, "call", tool, json.dumps(arguments))
        assert code == 0, printed
    for flags in ((), ("--json",), ("--fix",)):
        code, printed = run_cli(home, "doctor", *flags)
        assert code == 1
        assert "secrets.graph" in printed
        assert "secrets.memory" in printed
        assert TOKEN[4:12] not in printed


@pytest.mark.covers("setup.doctor.damage")
def test_a_long_tool_list_is_named_with_its_price(home: Path, run_cli: Cli) -> None:
    code, printed = run_cli(home, "doctor", "--json", "--pack", "rpg", "--pack", "software")
    assert code == 1
    price = json.loads(printed)["tools"]
    assert price["count"] > 40
    told = found(printed)["tools.many"]
    assert f"about {price['approxTokens']:,} tokens" in told["what"]
    assert "--tools compact" in told["nextStep"]
    code, printed = run_cli(home, "doctor", "--json", "--pack", "rpg", MEMORY_TOOLS="compact")
    assert (code, found(printed)) == (0, {})


@pytest.mark.covers("setup.doctor.damage")
def test_a_client_that_would_start_nothing_is_named_with_its_file(home: Path, run_cli: Cli) -> None:
    gone = home / "old-venv" / "bin" / "schemory"
    entry = {"command": str(gone), "args": ["serve"]}
    mine, project = home / ".claude.json", home / ".mcp.json"
    for file in (mine, project):
        file.write_text(json.dumps({"mcpServers": {"schemory": entry}}), encoding="utf-8")
    before = mine.read_bytes()
    code, printed = run_cli(home, "doctor", "--fix")
    assert code == 1
    for file in (mine, project):
        assert f'("schemory" in {file}) points nowhere' in printed
    assert "schemory install --client claude-code" in printed
    assert mine.read_bytes() == before  # other people's files are not the doctor's to mend


@pytest.mark.covers("setup.doctor.damage")
def test_more_projects_than_one_file_bears_well_are_told(home: Path, run_cli: Cli) -> None:
    insert = (
        "INSERT INTO projects (id, number, created_at, updated_at, has_graph, index_rules)"
        " WITH RECURSIVE n(x) AS (SELECT 10 UNION ALL SELECT x + 1 FROM n WHERE x < 510)"
        " SELECT 'p' || x, x, '2026-03-08T09:05:07.000Z', '2026-03-08T09:05:07.000Z', 0, 'none'"
        " FROM n"
    )
    sql(insert)(home)
    code, findings = doctor(run_cli, home)
    assert code == 1
    assert "502 projects" in findings["projects.many"]["what"]  # the one that was there, too
