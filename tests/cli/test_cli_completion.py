"""Shell completion: the scripts, sourced and asked in real shells where the machine has them."""

import os
import re
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from schemory.cli.completion import SHELLS
from schemory.cli.main import all_commands
from schemory.cli.shells.shape import read_shape
from schemory.config import PROFILES, TOOLSETS
from schemory.model.entry import SourceType
from schemory.schemas.load import pack_names

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash on this machine")
needs_zsh = pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh on this machine")
needs_fish = pytest.mark.skipif(shutil.which("fish") is None, reason="no fish on this machine")
needs_pwsh = pytest.mark.skipif(shutil.which("pwsh") is None, reason="no PowerShell here")

FIRST_WORDS = {command.name.split()[0] for command in all_commands()}
KINDS = {kind.value for kind in SourceType}

ASKED: list[tuple[str, set[str]]] = [
    ("schemory mig", {"migrate"}),
    ("schemory schema ", {"check", "list", "show", "new", "pack"}),
    ("schemory --pack ", set(pack_names())),
    ("schemory --db x.sqlite schema pa", {"pack"}),
    ("schemory schema pack ", set(pack_names())),
    ("schemory list ", {"entries", "scopes", "topics", "tags"}),
    ("schemory list --type ", KINDS),
    ("schemory serve --tools ", set(PROFILES)),
    ("schemory serve --toolset ", set(TOOLSETS)),
    ("schemory serve --manage", {"--manage-schemas"}),
    ("schemory export x.json --format ", {"json", "zip", "jsonl"}),
    ("schemory completion ", set(SHELLS)),
    ("schemory import --from mem", {"memory-bank", "memory-node", "mem0", "mempalace"}),
    ("schemory install --client c", {"claude-code", "claude-desktop", "codex", "cursor", "cline"}),
    ("schemory skill --client a", {"agents"}),
]
"""What is typed, and all that may come next."""


@pytest.fixture
def script(cli: Callable[..., Any], tmp_path: Path) -> Callable[[str], Path]:
    """Writes the script for a shell."""

    def write(shell: str) -> Path:
        done = cli("completion", shell)
        assert (done.code, done.err) == (0, "")
        file = tmp_path / f"completion.{shell}"
        file.write_text(done.out, encoding="utf-8")
        return file

    return write


@pytest.mark.covers("cli.completion")
@pytest.mark.parametrize("shell", list(SHELLS))
def test_a_script_names_every_command_and_every_option(
    script: Callable[[str], Path], shell: str
) -> None:
    text = script(shell).read_text(encoding="utf-8")
    shape = read_shape(all_commands())
    for command in shape.commands:
        for word in command.words:
            assert re.search(rf"\b{re.escape(word)}\b", text)
        for option in (*command.options, *shape.common):
            for spelling in option.spellings:
                assert (spelling if shell != "fish" else spelling.lstrip("-")) in text
    assert "@" not in re.sub(r"\$@|@\(|@\{|\{@\}|\[@\]", "", text)  # nothing was left to fill in


@pytest.mark.covers("cli.completion")
def test_an_unknown_shell_is_told_which_there_are(cli: Callable[..., Any]) -> None:
    done = cli("completion", "tcsh")
    assert done.code == 2
    assert "bash" in done.err
    assert cli("completion", "bash", "--json").data["shell"] == "bash"


BASH = r"""
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_schemory
printf '%s\n' "${COMPREPLY[@]}"
"""


def ask_bash(script: Path, *words: str) -> set[str]:
    done = subprocess.run(
        [str(shutil.which("bash")), "--norc", "-c", BASH, "bash", str(script), *words],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert done.stderr == ""
    return set(done.stdout.split())


@needs_bash
@pytest.mark.covers("cli.completion")
def test_bash_completes_commands_options_and_values(script: Callable[[str], Path]) -> None:
    file = script("bash")
    for typed, expected in ASKED:
        assert ask_bash(file, *typed.split(" ")) == expected, typed
    assert ask_bash(file, "schemory", "") == FIRST_WORDS
    # bash takes "--pack=rp" apart at the sign
    assert ask_bash(file, "schemory", "--pack", "=", "rp") == {"rpg"}
    assert ask_bash(file, "schemory", "--pack", "=") == set(pack_names())
    assert ask_bash(file, "schemory", "--pack", "=", "rpg", "mig") == {"migrate"}
    # free text and files are not ours to propose
    assert ask_bash(file, "schemory", "add", "") == set()
    assert ask_bash(file, "schemory", "backup", "") == set()


ASK_FISH = 'source $argv[1]; complete -C "$argv[2]"'


@needs_fish
@pytest.mark.covers("cli.completion")
def test_fish_completes_commands_options_and_values(
    script: Callable[[str], Path], tmp_path: Path
) -> None:
    file = script("fish")
    (tmp_path / "a-file.sqlite").touch()

    def ask(typed: str) -> set[str]:
        done = subprocess.run(
            [str(shutil.which("fish")), "--no-config", "-c", ASK_FISH, "--", str(file), typed],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        )
        assert done.stderr == ""
        return {line.partition("\t")[0] for line in done.stdout.splitlines()}

    for typed, expected in ASKED:
        assert ask(typed) == expected, typed
    assert ask("schemory ") == FIRST_WORDS
    assert "a-file.sqlite" in ask("schemory backup a-")
    assert "a-file.sqlite" in ask("schemory --db a-")
    assert ask("schemory add a-") == set()


@contextmanager
def zsh(folder: Path) -> Iterator[Callable[[str, str], str]]:
    """A real interactive zsh: types a text and gives what is shown until some other text is."""
    import pty  # noqa: PLC0415 (POSIX only, as this shell)

    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover (becomes zsh)
        os.chdir(folder)
        environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "dumb"}
        os.execvpe("zsh", ["zsh", "-f", "-i"], environ)  # noqa: S606, S607 (a shell is meant)

    def type_text(text: str, awaited: str) -> str:
        os.write(terminal, text.encode())
        shown, end = "", time.monotonic() + 60
        while awaited not in shown and time.monotonic() < end:
            if select.select([terminal], [], [], 1)[0]:
                shown += os.read(terminal, 65536).decode(errors="replace")
        return shown

    try:
        type_text("unsetopt zle_bracketed_paste; PS1='%% '; echo re''ady\n", "ready")
        yield type_text
    finally:
        os.write(terminal, b"\x15exit\n")
        os.waitpid(child, 0)
        os.close(terminal)


@needs_zsh
@pytest.mark.covers("cli.completion")
def test_zsh_completes_commands_options_and_values(
    script: Callable[[str], Path], tmp_path: Path
) -> None:
    file = script("zsh")
    with zsh(tmp_path) as typed:
        typed("autoload -Uz compinit && compinit -u -D; echo d''one\n", "done")
        typed(f"source {file}; echo sour''ced\n", "sourced")
        for text, completed in (
            ("schemory mig\t", "schemory migrate"),
            ("schemory --pack r\t", "--pack rpg"),
            ("schemory --pack=r\t", "--pack=rpg"),
            ("schemory schema pa\t", "schema pack"),
            ("schemory serve --manage\t", "--manage-schemas"),
            ("schemory list --type hand\t", "--type handoff"),
            ("schemory list sco\t", "list scopes"),
            ("schemory link a sup\t", "link a supersedes"),
            ("schemory schema \t\t", "check schema files"),  # the summary beside the word
        ):
            assert completed in typed(text, completed), text
            typed("\x15", "")


@pytest.mark.covers("cli.completion")
def test_the_powershell_script_has_each_key_once_as_powershell_counts(
    script: Callable[[str], Path],
) -> None:
    # It refuses a table in which two keys differ by case only, and 5.1 reads other signs wrongly.
    text = script("powershell").read_text(encoding="utf-8")
    assert text.isascii()
    for table in re.findall(r"@\{\n(.*?)\n    \}", text, re.DOTALL):
        keys = [
            key.lower() for key in re.findall(r"^ +'((?:[^']|'')*)' = @\(", table, re.MULTILINE)
        ]
        assert len(keys) == len(table.splitlines()) == len(set(keys))


@needs_pwsh
@pytest.mark.covers("cli.completion")
def test_powershell_completes_commands_options_and_values(script: Callable[[str], Path]) -> None:
    file = script("powershell")
    for typed, expected in ASKED:
        code = (
            f". '{file}'; (TabExpansion2 -inputScript '{typed}' -cursorColumn {len(typed)})"
            ".CompletionMatches.CompletionText"
        )
        done = subprocess.run(
            [str(shutil.which("pwsh")), "-NoProfile", "-Command", code],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert set(done.stdout.split()) == expected
