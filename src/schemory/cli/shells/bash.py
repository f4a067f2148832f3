"""The completion script for bash (3.2 and newer)."""

from collections.abc import Iterable, Iterator
from typing import Final

from schemory.cli.shells.shape import CommandShape, Option, Shape, Value

_SCRIPT: Final = r"""# bash completion for schemory, made by `schemory completion bash`

# Each of these sets `kind` (words, place or text) and `values` for one place of a command line.

_schemory_option() {
    case "$1:$2" in
@OPTIONS@
        *) return 1 ;;
    esac
}

_schemory_operand() {
    kind=text
    case "$1:$2" in
@OPERANDS@
    esac
}

_schemory_flags() {
    values="@COMMON@"
    case "$1" in
@FLAGS@
    esac
}

_schemory() {
    local current=${COMP_WORDS[COMP_CWORD]} option="" command="" count=0 index word
    local kind=text values=""
    COMPREPLY=()
    for ((index = 1; index < COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        if [[ $word == "=" ]]; then
            continue # bash splits --db=FILE into three words
        elif [[ -n $option ]]; then
            option=""
        elif [[ $word == -?* ]]; then
            if _schemory_option "$command" "$word"; then option=$word; fi
        elif [[ -z $command ]]; then
            command=$word
        elif [[ " @FAMILIES@ " == *" $command "* ]]; then
            command="$command $word"
        else
            count=$((count + 1))
        fi
    done
    [[ $current == "=" ]] && current=""
    if [[ -n $option ]]; then
        _schemory_option "$command" "$option"
    elif [[ $current == -* ]]; then
        kind=words
        _schemory_flags "$command"
    else
        _schemory_operand "$command" "$count"
    fi
    case $kind in
        words) COMPREPLY=($(compgen -W "$values" -- "$current")) ;;
        text) compopt +o default 2>/dev/null ;;
    esac
    [[ $kind == words ]] && compopt +o default 2>/dev/null
    return 0
}

complete -o default -F _schemory schemory
"""


def bash_script(shape: Shape) -> str:
    """Return the script; `-o default` lets bash itself complete files."""
    parts = {
        "OPTIONS": _lines(_options(shape)),
        "OPERANDS": _lines(_operands(shape)),
        "COMMON": _spellings(shape.common),
        "FLAGS": _lines(_flags(shape)),
        "FAMILIES": " ".join(shape.families),
    }
    script = _SCRIPT
    for name, text in parts.items():
        script = script.replace(f"@{name}@", text)
    return script


def _lines(cases: Iterable[str]) -> str:
    return "\n".join(f"        {case}" for case in cases)


def _options(shape: Shape) -> Iterator[str]:
    for option in shape.common:
        if option.value:
            yield _case((f"*:{spelling}" for spelling in option.spellings), option.value)
    for command in shape.commands:
        for option in command.options:
            if option.value:
                names = (f'"{command.name}":{spelling}' for spelling in option.spellings)
                yield _case(names, option.value)


def _operands(shape: Shape) -> Iterator[str]:
    yield _case(['"":0'], Value(name="command", words=tuple(shape.first_words)))
    for first, members in shape.families.items():
        words = tuple(each.words[1] for each in members)
        yield _case([f'"{first}":0'], Value(name="command", words=words))
    for command in shape.commands:
        for index, operand in enumerate(command.operands):
            place = "*" if operand.is_last_of_many else str(index)
            yield _case([f'"{command.name}":{place}'], operand.value)


def _case(patterns: Iterable[str], value: Value) -> str:
    kind = "words" if value.words else "place" if value.is_place else "text"
    return f'{"|".join(patterns)}) kind={kind} values="{" ".join(value.words)}" ;;'


def _flags(shape: Shape) -> Iterator[str]:
    for command in shape.commands:
        if own := _own(command):
            yield f'"{command.name}") values="$values {own}" ;;'


def _own(command: CommandShape) -> str:
    return _spellings(command.options)


def _spellings(options: Iterable[Option]) -> str:
    return " ".join(spelling for option in options for spelling in option.spellings)
