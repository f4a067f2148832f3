"""The command line's way in: finds the command, runs it, and turns every end into an exit code."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

import schemory
from schemory.cli.command import (
    OK,
    STORE,
    USAGE,
    Command,
    Request,
    add_common_options,
    make_common_parser,
    make_parser,
    merge,
    value_options,
)
from schemory.cli.output import Output, standard_output
from schemory.errors import SchemoryError, UsageError
from schemory.hints import TYPE_CHECKING
from schemory.model.frozen import dataclass

if TYPE_CHECKING:
    from typing import TextIO

INTERRUPTED = 130
"""Exit code after Ctrl-C."""


@dataclass(frozen=True, slots=True)
class Group:
    """Commands that belong together, with where each of them is found."""

    title: str
    commands: tuple[tuple[str, str, str], ...]


GROUPS: tuple[Group, ...] = (
    Group(
        "start",
        (
            ("demo", "demo", "see the real server at work, as an agent sees it"),
            ("init", "init", "begin: schemas to edit and clients set up, in one dialogue"),
            ("install", "install", "set a client up: Claude Code, Cursor, VS Code, ..."),
            ("uninstall", "install", "take the entry out of clients' files again"),
            ("skill", "skill", "teach a client's agents to use the memory well"),
            ("serve", "serve", "serve the memory to an MCP client"),
            ("status", "status", "show what is stored where, and what is wrong"),
            ("ui", "ui", "look at everything in the browser"),
            ("completion", "completion", "let your shell complete command lines"),
        ),
    ),
    Group(
        "project memory",
        (
            ("add", "memory_write", "keep an entry"),
            ("search", "memory", "search entries"),
            ("show", "memory", "show one entry in full"),
            ("list", "memory", "list entries, scopes, topics or tags"),
            ("edit", "memory_write", "change an entry"),
            ("invalidate", "memory_write", "mark an entry as no longer true"),
            ("archive", "memory_write", "put an entry away"),
            ("restore", "restore", "make an entry active again, or restore a backup"),
            ("delete", "memory_write", "remove an entry for good"),
            ("link", "memory_write", "relate two entries, or list an entry's links"),
            ("handoff", "brief", "show what came up lately"),
            ("brief", "brief", "what an agent should know at the start of a session"),
            ("export", "memory_files", "write the project's entries to a file"),
            ("import", "move_in", "take in such a file, or what another tool kept"),
            ("audit", "memory_files", "list the record of writes, or prune it"),
            ("embed", "embed", "make the vectors that search by meaning needs"),
            ("projects", "memory", "list the projects that have entries"),
        ),
    ),
    Group(
        "graph",
        (
            ("nodes", "graph", "list nodes"),
            ("edges", "graph", "list edges"),
            ("open", "graph", "show nodes with everything around them"),
            ("find", "graph", "search names, types and metadata"),
            ("path", "graph", "find the shortest way between two nodes"),
            ("validate", "validate", "find what does not fit the schemas"),
            ("call", "call", "run any tool"),
        ),
    ),
    Group(
        "files and history",
        (
            ("import-graph", "transfer", "read a knowledge-graph file into the store"),
            ("export-graph", "transfer", "write the graph to a file"),
            ("undo", "history", "reverse one committed import"),
            ("purge", "history", "remove every trace of a node's text"),
        ),
    ),
    Group(
        "store",
        (
            ("doctor", "doctor", "look everything over and mend what is safe to mend"),
            ("backup", "upkeep", "copy the store to a file, verified"),
            ("vacuum", "upkeep", "give back free space"),
            ("migrate", "upkeep", "bring the store to this version's schema"),
        ),
    ),
    Group(
        "schemas",
        (
            ("schema check", "schema", "check schema files"),
            ("schema list", "schema", "list the node types"),
            ("schema show", "schema", "show one node type"),
            ("schema new", "schema_new", "write a new schema file"),
            ("schema pack", "schema_new", "list the built-in packs, or copy one to edit"),
        ),
    ),
)

_MODULES = {name: module for group in GROUPS for name, module, _ in group.commands}
_FAMILIES = {name.partition(" ")[0] for name in _MODULES if " " in name}

_INTRODUCTION = """A local memory for AI agents: project notes, and a graph whose types are yours.

usage: schemory COMMAND [arguments] [options]"""

_CONCLUSION = """`schemory COMMAND --help` explains a command with examples.

exit codes: 0 done, 1 a finding (nothing found, a rule broken), 2 a command line or setting that is
not understood, 3 the store could not do it, 130 interrupted"""


def run() -> int:
    """Run the command line of this process and return the code to exit with."""
    try:
        return _run_process()
    except KeyboardInterrupt:  # between a command's end and the process's
        _forget_stdout()
        return INTERRUPTED


def _run_process() -> int:
    if not _has_stdout():
        return USAGE
    code = main(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_stdout()
    except OSError as fault:
        _forget_stdout()
        return _show_system(fault, standard_output(is_json=False))
    return code


def main(arguments: Sequence[str], out: Output | None = None) -> int:
    """Run one command line and return its exit code; errors are printed, never raised."""
    is_json = "--json" in arguments
    printing = out or standard_output(is_json=is_json)
    return guarded(lambda: _run(list(arguments), printing), printing)


def guarded(work: Callable[[], int], out: Output) -> int:
    """Return the exit code that `work` ends with; errors are printed, never raised."""
    try:
        return work()
    except SchemoryError as error:
        from schemory.cli.faults import show_error  # noqa: PLC0415 (only when something is wrong)

        return show_error(error, out)
    except KeyboardInterrupt:
        return _end_interrupted(out)
    except BrokenPipeError:
        _forget_stdout()
        return OK
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else OK
    except Exception as fault:  # noqa: BLE001 (no traceback ever reaches a person)
        return _show_unexpected(fault, out)


def _show_unexpected(fault: Exception, out: Output) -> int:
    if isinstance(fault.__cause__, KeyboardInterrupt):
        return _end_interrupted(out)  # Python 3.11 wraps it when a class is being made
    return _show_system(fault, out) if isinstance(fault, OSError) else _show_internal(fault, out)


def _end_interrupted(out: Output) -> int:
    out.note("interrupted; nothing is half done")
    return INTERRUPTED


def find_command(name: str) -> Command:
    """Return the command of that name.

    Raises:
        UsageError: There is none; the nearest are named.
    """
    if name not in _MODULES:
        raise _unknown(name)
    module = importlib.import_module(f"schemory.cli.{_MODULES[name]}")
    commands: tuple[Command, ...] = module.COMMANDS
    return next(command for command in commands if command.name == name)


def all_commands() -> Iterator[Command]:
    """Yield every command, in the order of the help."""
    yield from map(find_command, _MODULES)


def help_text() -> str:
    """Return what `schemory --help` prints."""
    width = max(map(len, _MODULES)) + 2
    parts = [_INTRODUCTION]
    for group in GROUPS:
        lines = [f"  {name:<{width}}{summary}" for name, _, summary in group.commands]
        parts.append("\n".join([f"{group.title}:", *lines]))
    options = argparse.ArgumentParser(prog="schemory", add_help=False, usage=argparse.SUPPRESS)
    add_common_options(options)
    parts.append(options.format_help().strip())
    return "\n\n".join([*parts, _CONCLUSION])


def _run(arguments: list[str], out: Output) -> int:
    common = make_common_parser()
    before, name, rest = _split(arguments, value_options(common))
    if "--version" in before:
        out.line(f"schemory {schemory.__version__}")
        return OK
    if name == "help" and rest:
        out.line(make_parser(find_command(" ".join(rest))).format_help().rstrip())
        return OK
    wants_help = name == "help" or not {"--help", "-h"}.isdisjoint(before)
    if name is None and not wants_help:
        common.parse_args(before)  # an option without its value is a mistake, not a cry for help
    if name is None or wants_help:
        out.line(help_text())
        return OK
    if name in _FAMILIES:
        between, second, rest = _split(rest, value_options(common))
        before = [*before, *between]
        if second is None:
            _show_family(name, out)
            return OK
        name = f"{name} {second}"
    first = common.parse_args(before)  # a misspelt option is told before what it seems to name
    command = find_command(name)
    args = make_parser(command).parse_args(rest)
    out.is_json = getattr(args, "json", False) or getattr(first, "json", False)
    request = Request(args=args, overrides=merge(first, args), out=out, stdin=_stdin())
    return command.run(request)


def _stdin() -> TextIO:
    """Return standard input; one that was closed before the start is as good as an empty one."""
    stream: TextIO | None = sys.stdin
    if stream is not None:
        return stream
    import io  # noqa: PLC0415 (hardly ever)

    return io.TextIOWrapper(io.BytesIO())


def _split(words: list[str], takes_value: Sequence[str]) -> tuple[list[str], str | None, list[str]]:
    """Return the options before the first plain word, that word, and the rest."""
    index = 0
    while index < len(words):
        word = words[index]
        if not word.startswith("-") or word == "-":
            return words[:index], word, words[index + 1 :]
        index += 2 if word in takes_value else 1
    return words, None, []


def _show_family(family: str, out: Output) -> None:
    for group in GROUPS:
        for name, _, summary in group.commands:
            if name.startswith(f"{family} "):
                out.line(f"schemory {name:<16}{summary}")


def _unknown(name: str) -> UsageError:
    import difflib  # noqa: PLC0415 (only for a typo)

    nearest = difflib.get_close_matches(name, _MODULES, 3)
    hints = [f"Did you mean `schemory {near}`?" for near in nearest]
    return UsageError(
        f"There is no command {name!r}.",
        suggestions=[*hints, "`schemory --help` lists the commands."],
    )


def _show_internal(fault: Exception, out: Output) -> int:
    import traceback  # noqa: PLC0415 (only for a defect)

    frame = traceback.extract_tb(fault.__traceback__)[-1]
    place = f"{os.path.basename(frame.filename)}:{frame.lineno}"  # noqa: PTH119 (no import for this)
    text = f"internal error: {type(fault).__name__} at {place}; please report it"
    if out.is_json:
        out.json({"error": text, "error_code": "INTERNAL", "context": {}, "suggestions": []})
    else:
        out.note(text)
    return STORE


def _show_system(fault: OSError, out: Output) -> int:
    """Tell what the system refused: a full disk behind stdout, a file that cannot be read."""
    where = f": {fault.filename}" if isinstance(fault.filename, str) else ""
    text = f"{fault.strerror or type(fault).__name__}{where}"
    if out.is_json:
        with suppress(OSError):
            out.json({"error": text, "error_code": "STORE_ERROR", "context": {}, "suggestions": []})
    else:
        with suppress(OSError):
            out.stderr.write(f"error: {text}\n")
    return STORE


def _has_stdout() -> bool:
    """Whether there are streams to write to; a closed stderr is replaced by one that swallows."""
    # Python has None where the process was started with a closed descriptor; its types do not say.
    streams: tuple[object, object] = (sys.stdout, sys.stderr)
    if streams[1] is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 (lives on)
    if streams[0] is None:
        sys.stderr.write("error: standard output is closed, so there is nowhere to answer\n")
    return streams[0] is not None


def _forget_stdout() -> None:
    """Send what is still buffered nowhere, so that the interpreter's last flush stays quiet."""
    empty = os.open(os.devnull, os.O_WRONLY)
    os.dup2(empty, sys.stdout.fileno())
    os.close(empty)
