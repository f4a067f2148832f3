"""Entries in a person's own editor: no text is lost, and no copy of one is left behind."""

import io
import os
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schemory.cli.main import main
from schemory.cli.memory_draft import fields_of
from schemory.cli.output import Output

if TYPE_CHECKING:
    from tests.cli.conftest import Runner

Edit = Callable[..., tuple[int, str]]


class _Stream(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def edit(cli: "Runner", home: Path, monkeypatch: pytest.MonkeyPatch) -> Edit:
    """Runs a command line at a terminal whose editor does `code` with `file`; (code, stderr)."""
    del cli
    monkeypatch.setenv("TMPDIR", str(home))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.delenv("VISUAL", raising=False)

    def run(code: str, *arguments: str) -> tuple[int, str]:
        program = home / "editor.py"
        head = f"#!{sys.executable}\nimport pathlib, sys\nfile = pathlib.Path(sys.argv[-1])\n"
        program.write_text(head + code)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("EDITOR", str(program))
        monkeypatch.setattr(sys, "stdin", _Stream())
        out, err = _Stream(), _Stream()
        done = main(arguments, Output(stdout=out, stderr=err, is_terminal=True))
        return done, err.getvalue()

    return run


def _added(cli: "Runner", text: str) -> str:
    done = cli("add", text, "--scope", "s", "--topic", "t")
    return str(done.out.split()[1])


def _content(cli: "Runner", entry_id: str) -> str:
    return str(cli("show", entry_id, "--json").data["entry"]["content"])


def _drafts(home: Path) -> list[Path]:
    return sorted(home.glob("schemory-*.md"))


@pytest.mark.covers("cli.memory.editor.tidy")
@pytest.mark.parametrize("code", ["", "sys.exit(3)", "file.write_text(file.read_text() + '\\n')"])
def test_looking_at_an_entry_leaves_no_copy_of_it_behind(
    edit: Edit, cli: "Runner", home: Path, code: str
) -> None:
    entry_id = _added(cli, "Only to be seen")
    done, err = edit(code, "edit", entry_id)
    assert done == 2
    assert "kept" not in err
    assert _drafts(home) == []


@pytest.mark.covers("cli.memory.editor.tidy")
def test_a_new_entry_that_was_left_blank_is_no_broken_text(edit: Edit, home: Path) -> None:
    done, err = edit("", "add")
    assert (done, "nothing was changed" in err, "---" in err) == (2, True, False)
    named = "text = file.read_text().replace('topic:', 'topic: x'); file.write_text(text)"
    done, err = edit(named, "add", "--scope", "s")
    assert (done, "an entry needs a content;" in err) == (2, True)
    assert len(_drafts(home)) == 1


@pytest.mark.covers("cli.memory.editor.text")
def test_bytes_that_are_no_utf8_are_refused_and_not_replaced(
    edit: Edit, cli: "Runner", home: Path
) -> None:
    entry_id = _added(cli, "As it was")
    done, err = edit("file.write_bytes(file.read_bytes() + b' caf\\xe9')", "edit", entry_id)
    assert (done, "no UTF-8" in err) == (2, True)
    (kept,) = _drafts(home)
    assert str(kept) in err
    assert kept.read_bytes().endswith(b"caf\xe9")
    assert _content(cli, entry_id) == "As it was"


@pytest.mark.covers("cli.memory.editor.text")
def test_a_file_that_the_editor_took_away_is_told_in_words(edit: Edit, cli: "Runner") -> None:
    entry_id = _added(cli, "Still here")
    done, err = edit("file.unlink()", "edit", entry_id)
    assert (done, "left no text" in err) == (2, True)
    assert _content(cli, entry_id) == "Still here"


@pytest.mark.covers("cli.memory.editor.text")
def test_marks_and_line_ends_of_a_windows_editor_are_not_the_texts(
    edit: Edit, cli: "Runner"
) -> None:
    entry_id = _added(cli, "one\ntwo")
    code = (
        "data = file.read_bytes().replace(b'two', b'three\\nfour')\n"
        "file.write_bytes(b'\\xef\\xbb\\xbf' + data.replace(b'\\n', b'\\r\\n'))"
    )
    assert edit(code, "edit", entry_id)[0] == 0
    assert _content(cli, entry_id) == "one\nthree\nfour"


@pytest.mark.covers("cli.memory.editor.text")
def test_line_ends_that_the_text_has_itself_stay(edit: Edit, cli: "Runner") -> None:
    done = cli("add", "-", "--scope", "s", "--topic", "t", stdin=b"one\r\ntwo\r\n")
    entry_id = str(done.out.split()[1])
    code = "file.write_bytes(file.read_bytes().replace(b'two', b'three'))"
    assert edit(code, "edit", entry_id)[0] == 0
    assert _content(cli, entry_id) == "one\r\nthree\r\n"
    assert fields_of("scope: s\r\n---\r\nx\r\ny")["content"] == "x\r\ny"


@pytest.mark.covers("cli.memory.editor.text")
def test_an_editor_setting_that_is_no_command_line_is_told(
    cli: "Runner", home: Path, edit: Edit, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry_id = _added(cli, "x")
    for setting in ('vi "unclosed', " "):
        monkeypatch.setenv("VISUAL", setting)
        done, err = edit("", "edit", entry_id)
        assert (done, "EDITOR" in err) == (2, True)
    assert _drafts(home) == []


@pytest.mark.covers("cli.memory.editor.interrupt")
@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals on Windows")
def test_ctrl_c_is_left_to_the_editor(cli: "Runner", home: Path) -> None:
    entry_id = _added(cli, "before")
    program = home / "patient.sh"
    program.write_text(
        '#!/bin/sh\ntrap ": > caught" INT\n: > ready\nsleep 1\necho "after" >> "$1"\n'
    )
    program.chmod(0o755)
    code, shown = _at_a_terminal(home, program, "edit", entry_id)
    assert (code, "changed content" in shown) == (0, True), shown
    assert (home / "caught").is_file()
    assert _content(cli, entry_id).endswith("after")


def _at_a_terminal(home: Path, program: Path, *arguments: str) -> tuple[int, str]:
    """Run the command line at a real terminal, and press Ctrl-C once the editor is ready."""
    import pty  # noqa: PLC0415 (not on Windows)

    pid, terminal = pty.fork()
    if pid == 0:  # pragma: no cover (another process)
        environment = {**os.environ, "EDITOR": str(program), "TMPDIR": str(home)}
        command = [sys.executable, "-m", "schemory", *arguments]
        os.execve(sys.executable, command, environment)  # noqa: S606 (ourselves)
    ends = time.monotonic() + 60
    while not (home / "ready").exists() and time.monotonic() < ends:
        time.sleep(0.01)
    os.write(terminal, b"\x03")
    shown = b""
    try:
        while part := os.read(terminal, 4096):
            shown += part
    except OSError:  # Linux says EIO where the other side has ended.
        pass
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode()
