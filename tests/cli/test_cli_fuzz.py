"""Whatever is typed: a known exit code, errors on stderr, no traceback, one JSON value at most."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from schemory.cli.command import make_parser
from schemory.cli.main import all_commands, main
from schemory.cli.output import Output

LASTING = {"serve", "ui", "demo", "install", "init", "uninstall"}
"""Commands that go on until they are ended, or start programs; their own tests try them."""

COMMANDS = [command for command in all_commands() if command.name not in LASTING]
OPTIONS = sorted(
    {
        spelling
        for command in COMMANDS
        for action in make_parser(command)._actions  # noqa: SLF001 (argparse has no public list)
        for spelling in action.option_strings
    }
)
ODD = (
    *("-", "--", "0", "-1", "99999999999999999999", "1e9", "nan", "", "a" * 300, "é", "日本"),
    *("{}", "[]", '{"query": 1}', "rm -rf", "$(x)", "`x`", "%s%n", "\u202e", "a b"),
    *("memory.sqlite", "x", "x/../y", "/dev/null/x", ".", "7d", "2026-03-08"),
    *("npc", "rpg", "search_nodes", "add_nodes", "entries", "prune", "supersedes"),
)
# No separators and no ~: a drawn word must not name a place outside the test's folder.
TEXT = st.text(st.characters(exclude_characters="\0/\\~", exclude_categories=["Cs"]), max_size=12)
WORDS = st.one_of(st.sampled_from(ODD), TEXT)
LINES = st.builds(
    lambda name, rest: [*name.split(), *rest],
    st.sampled_from([command.name for command in COMMANDS]),
    st.lists(st.one_of(WORDS, st.sampled_from(OPTIONS)), max_size=5),
)


@pytest.fixture
def run(cli: Callable[..., Any], home: Path) -> Callable[[list[str]], tuple[int, str, str]]:
    """Runs a command line with nothing on standard input."""
    assert cli("call", "add_nodes", '{"nodes":[{"name":"a b","nodeType":"npc"}]}').code == 0
    assert cli("add", "text", "--scope", "s", "--topic", "t").code == 0
    (home / "x").mkdir()

    def typed(arguments: list[str]) -> tuple[int, str, str]:
        sys.stdin = io.TextIOWrapper(io.BytesIO(b""), encoding="utf-8")
        out, err = io.StringIO(), io.StringIO()
        code = main(arguments, Output(stdout=out, stderr=err))
        return code, out.getvalue(), err.getvalue()

    return typed


@pytest.mark.covers("cli.fuzz")
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@example(arguments=["nodes", "--limit", "-1"])
@example(arguments=["find", ""])
@example(arguments=["call", "search_nodes", "[" * 100_000])
@example(arguments=["list", "--limit", "99999999999999999999", "--json"])
@example(arguments=["path", "a b", "a b", "--max-hops", "-1", "--json"])
@example(arguments=["open", "\ud800"])
@example(arguments=["backup", "/dev/null/x/y", "--json"])
@example(arguments=["export", "x", "--json"])
@example(arguments=["import", "x", "--json", "--yes"])
@example(arguments=["schema", "new", "x/../y", "--json"])
@given(arguments=LINES)
def test_no_command_line_ends_in_a_traceback_or_an_unknown_code(
    arguments: list[str], run: Callable[[list[str]], tuple[int, str, str]]
) -> None:
    code, out, err = run(arguments)
    assert code in {0, 1, 2, 3}, (code, err)
    told = out + err
    assert "Traceback" not in told
    assert "internal error" not in told, (arguments, told)
    assert "INTERNAL" not in told, (arguments, told)
    is_help = not {"-h", "--help"}.isdisjoint(arguments)
    if "--json" in arguments and out and not is_help:
        json.loads(out)  # one value, nothing before or behind it
    if code == 2 and "--json" not in arguments:
        assert out == "", (arguments, out)
        assert err.startswith("error: ")


@pytest.mark.covers("cli.typos")
@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("statsu", "schemory status"),
        ("schema chek", "schemory schema check"),
        ("nodes --limt 3", "--limit"),
        ("--pck rpg nodes", "--pack"),
        ("add x --type desision", "decision"),
        ("list topcs", "topics"),
        ("call serch_nodes", "search_nodes"),
        ("schema list --pack rgp", "rpg"),
        ("schema show npx --pack rpg", "npc"),
        ("open 'a c'", "a b"),
    ],
)
def test_what_was_likely_meant_is_said(
    typed: str, meant: str, run: Callable[[list[str]], tuple[int, str, str]]
) -> None:
    import shlex  # noqa: PLC0415 (only here)

    code, out, err = run(shlex.split(typed))
    assert code in {1, 2}
    assert out == ""
    assert meant in err


@pytest.mark.covers("cli.call_list")
def test_call_without_a_tool_lists_them_all(cli: Callable[..., Any]) -> None:
    listed = cli("call", "--pack", "rpg").out.splitlines()
    names = [line.partition("\t")[0] for line in listed]
    assert {"add_npc", "search_nodes", "memory_search", "define_schema"} <= set(names)
    assert all(line.partition("\t")[2] for line in listed)
    assert [tool["name"] for tool in cli("call", "--pack", "rpg", "--json").data] == names
