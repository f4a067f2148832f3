"""`completion`: print a script that lets a shell complete this program's command lines."""

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from schemory.cli.command import OK, Command, Request

if TYPE_CHECKING:
    from schemory.cli.shells.shape import Shape


def _bash(shape: "Shape") -> str:
    from schemory.cli.shells.bash import bash_script  # noqa: PLC0415 (one shell is asked for)

    return bash_script(shape)


def _zsh(shape: "Shape") -> str:
    from schemory.cli.shells.zsh import zsh_script  # noqa: PLC0415 (as above)

    return zsh_script(shape)


def _fish(shape: "Shape") -> str:
    from schemory.cli.shells.fish import fish_script  # noqa: PLC0415 (as above)

    return fish_script(shape)


def _powershell(shape: "Shape") -> str:
    from schemory.cli.shells.powershell import powershell_script  # noqa: PLC0415 (as above)

    return powershell_script(shape)


SHELLS: Final[Mapping[str, Callable[["Shape"], str]]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
    "powershell": _powershell,
}


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=tuple(SHELLS), help=", ".join(SHELLS))


def _run(request: Request) -> int:
    from schemory.cli.main import all_commands  # noqa: PLC0415 (it imports this module, too)
    from schemory.cli.shells.shape import read_shape  # noqa: PLC0415 (not for help)

    shell: str = request.args.shell
    script = SHELLS[shell](read_shape(all_commands()))
    if request.out.is_json:
        request.out.json({"shell": shell, "script": script})
    else:
        request.out.stdout.write(script)
    return OK


COMMANDS: tuple[Command, ...] = (
    Command(
        name="completion",
        summary="print a script for bash, zsh, fish or powershell that completes command lines",
        configure=_configure,
        run=_run,
        examples=(
            'eval "$(schemory completion bash)"',
            "schemory completion fish > ~/.config/fish/completions/schemory.fish",
            "schemory completion powershell | Out-String | Invoke-Expression",
        ),
    ),
)
