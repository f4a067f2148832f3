"""The command line as such: options anywhere, exit codes, errors for people and for programs."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from schemory.cli.main import all_commands, help_text

posix_only = pytest.mark.skipif(os.name != "posix", reason="signals and pipes as POSIX has them")


@pytest.mark.covers("cli.help")
def test_help_lists_every_command_and_each_has_examples(cli: Callable[..., Any]) -> None:
    for arguments in ((), ("--help",), ("-h",), ("help",)):
        shown = cli(*arguments)
        assert shown.code == 0
        assert shown.out.strip() == help_text().strip()
    for command in all_commands():
        assert f"  {command.name} " in help_text()
        assert command.examples


@pytest.mark.covers("cli.help")
def test_help_explains_one_command(cli: Callable[..., Any]) -> None:
    shown = cli("help", "schema", "new")
    assert shown.out.startswith("usage: schemory schema new")
    assert "examples:" in shown.out
    assert cli("help", "noods").code == 2


@pytest.mark.covers("cli.help")
def test_an_option_without_its_value_is_a_mistake_and_not_a_cry_for_help(
    cli: Callable[..., Any],
) -> None:
    for arguments in (["--db"], ["--no-such-option"], ["--json", "--pack"]):
        assert cli(*arguments).code == 2
    assert cli("--db", "x", "--help").code == 0


def test_version_is_printed(cli: Callable[..., Any]) -> None:
    assert cli("--version").out.startswith("schemory 0.")


@pytest.mark.covers("cli.options_anywhere")
def test_common_options_stand_before_or_after_the_command(
    cli: Callable[..., Any], home: Path
) -> None:
    nodes = '{"nodes":[{"name":"A","nodeType":"t"}]}'
    assert cli("--db", "a.sqlite", "call", "add_nodes", nodes).code == 0
    assert cli("call", "--db=a.sqlite", "read_graph", "--json").out.count('"A"') == 1
    assert (home / "a.sqlite").is_file()
    assert (
        cli("nodes", "--db", "a.sqlite").out == cli("--db", "a.sqlite", "nodes").out == "A\tt\t\n"
    )


@pytest.mark.covers("cli.options_anywhere")
def test_repeatable_options_on_both_sides_add_up(cli: Callable[..., Any]) -> None:
    listed = cli("--pack", "rpg", "schema", "--json", "list", "--pack", "software").data["schemas"]
    assert {"npc", "service"} <= {schema["nodeType"] for schema in listed}


@pytest.mark.covers("cli.exit_codes")
@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["nodez"], 2, "schemory nodes"),
        (["schema", "chek"], 2, "schema check"),
        (["nodes", "--limit", "many"], 2, "--limit"),
        (["nodes", "--nonsense"], 2, "--nonsense"),
        (["open"], 2, "NAME"),
        (["call", "read_graph", "{"], 2, "JSON"),
        (["call", "raed_graph"], 2, "read_graph"),
        (["nodes", "--db", "mysql://x/y"], 2, "--db"),
        (["nodes", "--pack", "rgp"], 2, "rpg"),
        (["nodes", "--db", "postgresql://u:hunter2@h/d"], 1, "SQLite"),
        (["open", "Nobody"], 1, "Nobody"),
        (["schema", "show", "ncp", "--pack", "rpg"], 1, "npc"),
    ],
)
def test_what_went_wrong_is_told_by_exit_code_and_text(
    cli: Callable[..., Any], arguments: list[str], code: int, word: str
) -> None:
    done = cli(*arguments)
    assert done.code == code
    assert word in done.err
    assert "Traceback" not in done.err
    assert "hunter2" not in done.err


@pytest.mark.covers("cli.exit_codes")
def test_a_store_that_cannot_be_used_is_code_3(cli: Callable[..., Any], home: Path) -> None:
    (home / "notes.txt").write_text("this is no database, it is a text of some length\n" * 50)
    done = cli("nodes", "--db", "notes.txt")
    assert done.code == 3
    assert "notes.txt" in done.err


@pytest.mark.covers("cli.json_errors")
def test_with_json_an_error_is_json_too(cli: Callable[..., Any]) -> None:
    done = cli("open", "--json", "--db", "mysql://x/y", "A")
    assert done.code == 2
    assert done.data["error_code"] == "INVALID_PARAM"
    assert done.data["context"]["problems"][0]["path"] == "--db"
    assert done.err == ""


@pytest.mark.covers("cli.call")
def test_call_prints_what_an_agent_would_get_and_exits_1_on_a_refusal(
    cli: Callable[..., Any],
) -> None:
    npc = {"npc": {"name": "Gandalf", "role": "Wizard", "status": "Active"}}
    stored = cli("call", "add_npc", "-", "--pack", "rpg", stdin=json.dumps(npc).encode())
    assert stored.code == 0
    assert stored.data["actionTaken"] == "Created npc: Gandalf"
    refused = cli("call", "add_npc", json.dumps(npc), "--pack", "rpg")
    assert refused.code == 1
    assert refused.data["error_code"] == "NODE_EXISTS"


@pytest.mark.covers("cli.call")
def test_call_reaches_tools_of_every_toolset_and_profile(cli: Callable[..., Any]) -> None:
    assert cli("call", "graph_stats").code == 0
    node = {"nodeType": "location", "name": "Bree", "properties": {}}
    assert cli("call", "add_node", json.dumps(node), "--pack", "rpg").code == 0
    assert cli("open", "Bree").code == 0


def _command(home: Path, *arguments: str, **more: Any) -> "subprocess.Popen[bytes]":
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8"}
    return subprocess.Popen(
        [sys.executable, "-m", "schemory", *arguments], cwd=home, env=environment, **more
    )


@posix_only
@pytest.mark.covers("cli.pipes")
def test_a_reader_that_goes_away_is_no_error(story: Callable[..., Any], home: Path) -> None:
    nodes = [{"name": f"n{i}", "nodeType": "t", "metadata": ["x" * 200]} for i in range(2000)]
    story("call", "add_nodes", "-", stdin=json.dumps({"nodes": nodes}).encode())
    with _command(
        home, "nodes", "--limit", "0", stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


@posix_only
@pytest.mark.covers("cli.pipes")
def test_a_reader_that_leaves_the_demonstration_is_no_error(home: Path) -> None:
    with _command(home, "demo", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.covers("cli.pipes.unwritable")
@pytest.mark.parametrize("command", [["nodes"], ["export-graph"], ["status", "--json"]])
def test_an_output_that_cannot_be_written_is_an_error_without_a_traceback(
    story: Callable[..., Any], home: Path, command: list[str]
) -> None:
    del story
    with Path("/dev/full").open("wb") as full:
        process = _command(home, *command, stdout=full, stderr=subprocess.PIPE)
    with process:
        assert process.stderr
        assert b"error: No space left on device" in process.stderr.read()
        assert process.wait(60) == 3


@posix_only
@pytest.mark.covers("cli.pipes.unwritable")
def test_a_closed_standard_output_is_told_before_anything_is_done(home: Path) -> None:
    process = _command(home, "nodes", stderr=subprocess.PIPE, preexec_fn=lambda: os.close(1))
    with process:
        assert process.stderr
        told = process.stderr.read()
        assert told == b"error: standard output is closed, so there is nowhere to answer\n"
        assert process.wait(60) == 2
    assert not (home / ".mcp-servers").exists()


@posix_only
@pytest.mark.covers("cli.stdin")
@pytest.mark.parametrize(
    "arguments", [("call", "add_nodes", "-"), ("add", "-", "--topic", "t"), ("import-graph", "-")]
)
def test_a_closed_standard_input_is_as_good_as_an_empty_one(
    arguments: tuple[str, ...], home: Path
) -> None:
    process = _command(home, *arguments, stderr=subprocess.PIPE, preexec_fn=lambda: os.close(0))
    with process:
        assert process.stderr
        told = process.stderr.read()
        assert told.startswith(b"error: ")
        assert process.wait(60) in {1, 2}


@pytest.mark.covers("cli.stdin")
def test_arguments_from_standard_input_are_utf_8_whatever_writes_them(
    cli: Callable[..., Any],
) -> None:
    text = '{"nodes": [{"name": "Zo\u00eb", "nodeType": "person"}]}'
    assert cli("call", "add_nodes", "-", stdin=b"\xef\xbb\xbf" + text.encode()).code == 0
    assert cli("nodes", "--json").data["nodes"][0]["name"] == "Zo\u00eb"
    done = cli("call", "add_nodes", "-", stdin=b'{"nodes": "\xff"}')
    assert (done.code, done.err) == (2, "error: standard input is no UTF-8: byte 12\n")


@pytest.mark.covers("cli.pipes")
def test_no_colour_reaches_a_pipe(story: Callable[..., Any], home: Path) -> None:
    del story
    for arguments in (["open", "Gandalf"], ["status"], ["nodes"], ["open", "Nobody"]):
        with _command(
            home, *arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process:
            assert process.stdout
            assert b"\x1b[" not in process.stdout.read()


def _wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.002)


def _is_writing(process: subprocess.Popen[bytes], file: Path) -> bool:
    """Stop a process; whether it stands in a write transaction. If not, it goes on."""
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    assert process.poll() is None, "it has ended before it could be stopped"
    with contextlib.closing(apsw.Connection(str(file))) as db:
        try:
            db.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            return True
    process.send_signal(signal.SIGCONT)
    return False


@posix_only
@pytest.mark.covers("cli.interrupt")
def test_ctrl_c_in_a_transaction_ends_with_130_and_nothing_half_done(
    cli: Callable[..., Any], home: Path
) -> None:
    record = '{"type":"node","name":"n%d","nodeType":"t","metadata":["k: %d"]}\n'
    source = home / "source.jsonl"
    os.mkfifo(source)
    with _command(home, "import-graph", str(source), stderr=subprocess.PIPE) as process:
        # The command reads its source after it has opened the store.
        with source.open("w", encoding="utf-8") as lines:
            lines.writelines(record % (i, i) for i in range(100_000))
        store = home / ".mcp-servers" / "memory" / "memory.sqlite"
        # It is asked between stops: whatever the machine does, the signal comes in the transaction.
        _wait_until(lambda: _is_writing(process, store))
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
        assert process.stderr
        told = process.stderr.read()
        code = process.wait(60)
    assert code == 130
    assert b"Traceback" not in told
    assert cli("status", "--json").data["graph"]["nodes"] == 0


@pytest.mark.covers("cli.light_start")
def test_help_and_reading_import_neither_the_sdk_nor_a_loop(home: Path) -> None:
    code = (
        "import sys; from schemory.cli.main import main; main(['nodes']); main(['--help']);"
        "heavy = {'mcp', 'pydantic', 'asyncio', 'anyio', 'rich', 'watchfiles'} & set(sys.modules);"
        "print(sorted(heavy))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=home,
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


@posix_only
@pytest.mark.covers("cli.exit_codes")
@pytest.mark.parametrize("command", ["brief", "status", "nodes", "serve", "doctor", "add"])
def test_a_current_folder_that_was_deleted_is_told_with_what_to_do(
    home: Path, command: str
) -> None:
    gone = home / "gone"
    gone.mkdir()
    arguments = {"add": ("x", "--scope", "s", "--topic", "t")}.get(command, ())
    done = subprocess.run(
        # The shell deletes the folder that it and its command stand in.
        ["/bin/sh", "-c", 'rmdir ../gone && exec "$@"', "sh", sys.executable, "-m", "schemory",
         command, *arguments],
        cwd=gone,
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "the current folder has been deleted" in done.stderr
    assert "Change into a folder that exists" in done.stderr
    assert "Traceback" not in done.stderr
