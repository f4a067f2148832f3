"""The completion script for zsh, with a summary beside each word."""

from collections.abc import Iterable, Iterator
from typing import Final

from schemory.cli.shells.shape import CommandShape, Operand, Option, Shape, Value

_SCRIPT: Final = r"""#compdef schemory
# zsh completion for schemory, made by `schemory completion zsh`

_schemory() {
    local curcontext="$curcontext" state ret=1
    local -a line common commands
    common=(
@COMMON@
    )
    commands=(
@COMMANDS@
    )
    _arguments -C $common '1: :->command' '*:: :->rest' && ret=0
    case $state in
        command) _describe -t commands 'schemory command' commands && ret=0 ;;
        rest)
            curcontext="${curcontext%:*:*}:schemory-$words[1]:"
            case $words[1] in
@REST@
            esac
            ;;
    esac
    return ret
}

if [[ $funcstack[1] == _schemory ]]; then
    _schemory "$@"
else
    compdef _schemory schemory
fi
"""


def zsh_script(shape: Shape) -> str:
    """Return the script; it may be sourced, or kept as `_schemory` in a folder of `fpath`."""
    parts = {
        "COMMON": _indented(8, (spec for option in shape.common for spec in _option(option))),
        "COMMANDS": _indented(8, _described(shape.first_words.items())),
        "REST": _indented(16, _rest(shape)),
    }
    script = _SCRIPT
    for name, text in parts.items():
        script = script.replace(f"@{name}@", text)
    return script


def _rest(shape: Shape) -> Iterator[str]:
    for command in shape.commands:
        if len(command.words) == 1:
            yield f"{command.words[0]})"
            yield from _after(command)
            yield "    ;;"
    for first, members in shape.families.items():
        yield f"{first})"
        yield "    _arguments -C $common '1: :->second' '*:: :->third' && ret=0"
        yield "    case $state in"
        yield "        second)"
        yield "            commands=("
        listed = ((each.words[1], each.summary) for each in members)
        yield from (f"                {line}" for line in _described(listed))
        yield "            )"
        yield f"            _describe -t commands 'schemory {first} command' commands && ret=0"
        yield "            ;;"
        yield "        third)"
        yield "            case $words[1] in"
        for command in members:
            yield f"                {command.words[1]})"
            yield from (f"                {line}" for line in _after(command))
            yield "                    ;;"
        yield "            esac"
        yield "            ;;"
        yield "    esac"
        yield "    ;;"


def _after(command: CommandShape) -> Iterator[str]:
    """Yield the call that completes what stands after one command."""
    specs = [spec for option in command.options for spec in _option(option)]
    specs += [_operand(index, each) for index, each in enumerate(command.operands, start=1)]
    yield " \\\n".join(["    _arguments $common", *(f"{' ' * 20}{spec}" for spec in specs)]) + (
        " && ret=0"
    )


def _option(option: Option) -> Iterator[str]:
    star = "*" if option.is_repeatable else ""
    equals = "=" if option.value else ""
    value = f":{_value(option.value)}" if option.value else ""
    for spelling in option.spellings:
        sign = equals if spelling.startswith("--") else ""
        yield f"'{star}{spelling}{sign}[{_text(option.summary)}]{value}'"


def _operand(index: int, operand: Operand) -> str:
    if operand.is_last_of_many:
        return f"'*:{_value(operand.value)}'"
    return f"'{index}:{':' if operand.is_optional else ''}{_value(operand.value)}'"


def _value(value: Value) -> str:
    action = f"({' '.join(value.words)})" if value.words else "_files" if value.is_place else " "
    return f"{_text(value.name)}:{action}"


def _described(words: Iterable[tuple[str, str]]) -> Iterator[str]:
    return (f"'{word}:{_text(summary)}'" for word, summary in words)


def _text(text: str) -> str:
    """Return `text` for a single-quoted part of a specification."""
    for mark in "\\[]:":
        text = text.replace(mark, f"\\{mark}")
    return text.replace("'", "'\\''")


def _indented(width: int, lines: Iterable[str]) -> str:
    return "\n".join(f"{' ' * width}{line}" for line in lines)
