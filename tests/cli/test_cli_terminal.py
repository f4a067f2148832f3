"""What a person sees on a terminal: tables, colours, questions, a bar while work goes on."""

import io
import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from schemory.cli.main import all_commands, main
from schemory.cli.output import Output, Style
from schemory.cli.progress import progress_bar


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def person(story: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs a command line as on a colour terminal and returns (code, stdout, stderr)."""
    del story

    def run(*arguments: str, types: str = "", colour: bool = True) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", Terminal(types))
        out, err = Terminal(), Terminal()
        output = Output(stdout=out, stderr=err, colour=colour, is_terminal=True)
        return main(arguments, output), out.getvalue(), err.getvalue()

    return run


@pytest.mark.covers("cli.terminal")
def test_lists_are_tables_with_a_head_and_a_count(person: Callable[..., Any]) -> None:
    _, out, err = person("nodes", colour=False)
    head = out.splitlines()[1].split()
    assert head == ["name", "type", "metadata"]
    assert "Gandalf     npc" in out
    assert err == "3 nodes\n"
    assert person("nodes", "--limit", "1")[2] == "the first 1 node; --limit 0 shows all\n"
    assert person("find", "gandalf")[2] == "1 match\n"
    assert person("find", "npc")[2] == "2 matches\n"


@pytest.mark.covers("cli.terminal")
def test_colours_are_shown_where_they_are_wanted(person: Callable[..., Any]) -> None:
    assert "\x1b[1mGandalf\x1b[0m" in person("open", "Gandalf")[1]
    assert "\x1b[" not in person("open", "Gandalf", colour=False)[1]
    assert "\x1b[31merror:\x1b[0m" in person("nodez")[2]


@pytest.mark.covers("cli.terminal")
def test_json_on_a_terminal_is_indented(person: Callable[..., Any]) -> None:
    out = person("nodes", "--json")[1]
    assert out.startswith('{\n  "nodes": [')
    assert len(json.loads(out)["nodes"]) == 3


@pytest.mark.covers("cli.purge")
def test_purge_asks_and_takes_only_yes_for_an_answer(person: Callable[..., Any]) -> None:
    code, out, err = person("purge", "Bilbo", types="\n")
    assert code == 2
    assert "[y/N]" in out
    assert "nothing was purged" in err
    assert person("open", "Bilbo")[0] == 0
    assert person("purge", "Bilbo", types="y\n")[0] == 0
    assert person("open", "Bilbo")[0] == 1
    assert person("purge", "Rivendell", "--yes")[0] == 0


@pytest.mark.covers("cli.terminal")
def test_text_forms_of_reports_say_what_the_json_says(person: Callable[..., Any]) -> None:
    broken = {"name": "Sauron", "nodeType": "npc", "metadata": ["Role: Tyrant"]}
    assert person("call", "add_nodes", json.dumps({"nodes": [broken]}))[0] == 0
    code, out, err = person("validate", "--pack", "rpg", colour=False)
    assert code == 1
    assert "Sauron (npc)" in out
    assert "try:" in out
    assert "4 nodes checked" in err
    assert "location 1" in person("status", colour=False)[1]
    assert "  + npc.schema.json" in person("init", "s", "--pack", "rpg", colour=False)[1]
    assert "  = npc.schema.json" in person("init", "s", "--pack", "rpg", colour=False)[1]
    assert "Write a first schema" in person("init", "t", colour=False)[1]


@pytest.mark.covers("cli.help")
@pytest.mark.parametrize("name", [command.name for command in all_commands()])
def test_each_command_explains_itself(
    cli: Callable[..., Any], capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert cli(*name.split(), "--help").code == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: schemory {name}")
    assert "examples:" in shown
    assert "--json" in shown


def test_a_family_of_commands_lists_its_members(cli: Callable[..., Any]) -> None:
    assert cli("schema").out.count("schemory schema ") == 5


def test_an_unexpected_failure_is_told_by_class_and_place_only(
    cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("vermilion")

    monkeypatch.setattr("schemory.cli.command.load_settings", fail)
    done = cli("nodes")
    assert done.code == 3
    assert "ZeroDivisionError at test_cli_terminal.py:" in done.err
    assert "vermilion" not in done.err
    assert cli("nodes", "--json").data["error_code"] == "INTERNAL"


def test_long_work_shows_a_bar_only_to_a_person() -> None:
    seen = Terminal()
    with progress_bar(Output(stdout=io.StringIO(), stderr=seen)) as show:
        show(1, 4, "writing")
        show(4, 4, "writing")
    assert "writing" in seen.getvalue()
    unseen = io.StringIO()
    with progress_bar(Output(stdout=io.StringIO(), stderr=unseen)) as show:
        show(1, None, "reading")
    assert unseen.getvalue() == ""


@pytest.mark.covers("cli.terminal.safe")
@pytest.mark.parametrize("colour", [True, False])
def test_a_line_keeps_our_colours_and_shows_every_other_control_character(
    colour: bool,  # noqa: FBT001 (a case)
) -> None:
    stdout = io.StringIO()
    out = Output(stdout=stdout, stderr=io.StringIO(), colour=colour, is_terminal=True)
    out.line(f"{out.style('made', Style.BOLD)} a\x1b[2Jb\x1b]0;c\x07 \u202ed")
    made = "\x1b[1mmade\x1b[0m" if colour else "made"
    assert stdout.getvalue() == made + r" a\x1b[2Jb\x1b]0;c\x07 \u202ed" + "\n"
