"""The completion script for fish (3 and newer), with a summary beside each word."""

from collections.abc import Iterator
from typing import Final

from schemory.cli.shells.shape import Option, Shape, Value

_HEAD: Final = r"""# fish completion for schemory, made by `schemory completion fish`

# Whether an option of a command takes the next word as its value.
function __schemory_takes_value
    switch "$argv"
        case @TAKES_VALUE@
            return 0
    end
    return 1
end

# Print the command before the cursor (two words where the first is a family), then how many plain
# words follow it.
function __schemory_state
    set -l words (commandline -opc)
    set -e words[1]
    set -l is_value 0
    set -l count 0
    set -l command ""
    for word in $words
        if test $is_value = 1
            set is_value 0
            continue
        end
        switch $word
            case '-*'
                __schemory_takes_value "$command" $word; and set is_value 1
            case '*'
                if test -z "$command"
                    set command $word
                else if contains -- "$command" @FAMILIES@
                    set command "$command $word"
                else
                    set count (math $count + 1)
                end
        end
    end
    echo "$command"
    echo $count
end

function __schemory_after
    set -l state (__schemory_state)
    test "$state[1]" = "$argv"
end

function __schemory_at
    set -l state (__schemory_state)
    test "$state[2]" = "$argv[1]"; and test "$state[1]" = "$argv[2..-1]"
end

complete -c schemory -f
"""


def fish_script(shape: Shape) -> str:
    """Return the script."""
    head = _HEAD.replace("@TAKES_VALUE@", " ".join(_takes_value(shape)))
    head = head.replace("@FAMILIES@", " ".join(shape.families) or "''")
    return head + "\n".join(_lines(shape)) + "\n"


def _takes_value(shape: Shape) -> Iterator[str]:
    for option in shape.common:
        if option.value:
            yield from (f"'* {spelling}'" for spelling in option.spellings)
    for command in shape.commands:
        for option in command.options:
            if option.value:
                yield from (f"'{command.name} {spelling}'" for spelling in option.spellings)


def _lines(shape: Shape) -> Iterator[str]:
    yield from (_line("", _option(option)) for option in shape.common)
    for word, summary in shape.first_words.items():
        yield _line(_after(""), f"-a {word} -d {_text(summary)}")
    for first, members in shape.families.items():
        for command in members:
            yield _line(_after(first), f"-a {command.words[1]} -d {_text(command.summary)}")
    for command in shape.commands:
        yield from (_line(_after(command.name), _option(option)) for option in command.options)
        for index, operand in enumerate(command.operands):
            if operand.value.words or operand.value.is_place:
                is_many = operand.is_last_of_many
                where = _after(command.name) if is_many else _at(index, command.name)
                yield _line(where, _value(operand.value))


def _at(index: int, command: str) -> str:
    return f"-n '__schemory_at {index} {command}'"


def _after(command: str) -> str:
    return f"-n '__schemory_after {command}'" if command else "-n __schemory_after"


def _line(condition: str, what: str) -> str:
    return " ".join(each for each in ("complete -c schemory", condition, what) if each)


def _option(option: Option) -> str:
    names = " ".join(
        f"-l {spelling[2:]}" if spelling.startswith("--") else f"-s {spelling[1:]}"
        for spelling in option.spellings
    )
    value = ""
    if option.value:
        value = f" -r {_value(option.value)}" if option.value.is_place else " -x"
        if option.value.words:
            value = f" -x {_value(option.value)}"
    return f"{names}{value} -d {_text(option.summary)}"


def _value(value: Value) -> str:
    return "-F" if not value.words else f"-a {_text(' '.join(value.words))}"


def _text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
