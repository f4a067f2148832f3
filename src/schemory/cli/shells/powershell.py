"""The completion script for PowerShell (5.1 and newer)."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from schemory.cli.shells.shape import Shape, Value

_SCRIPT: Final = r"""# PowerShell completion for schemory, made by `schemory completion powershell`

Register-ArgumentCompleter -Native -CommandName schemory -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # Words that may stand in a place: 'command:option', 'command:number', 'command:*'. A place
    # without words takes any text or, as 'place', a file.
    $places = @{
@PLACES@
    }
    $flags = @{
@FLAGS@
    }
    $common = @(@COMMON@)
    $families = @(@FAMILIES@)

    $option = ''
    $command = ''
    $count = 0
    $before = $commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition }
    foreach ($element in $before) {
        $word = $element.ToString()
        if ($option) { $option = '' }
        elseif ($word -like '-*') {
            if ($places.ContainsKey("${command}:$word")) { $option = "${command}:$word" }
            elseif ($places.ContainsKey("any:$word")) { $option = "any:$word" }
        }
        elseif (-not $command) { $command = $word }
        elseif ($families -contains $command) { $command = "$command $word" }
        else { $count++ }
    }
    if ($option) { $words = $places[$option] }
    elseif ($wordToComplete -like '-*') { $words = $common + $flags[$command] }
    elseif ($places.ContainsKey("${command}:$count")) { $words = $places["${command}:$count"] }
    else { $words = $places["${command}:*"] }
    $words | Where-Object { $_ -and $_ -like "$wordToComplete*" } | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
    }
}
"""


def powershell_script(shape: Shape) -> str:
    """Return the script; where it names no words PowerShell itself completes files."""
    flags = {
        command.name: tuple(each for option in command.options for each in option.spellings)
        for command in shape.commands
    }
    parts = {
        "PLACES": _table(dict(_places(shape))),
        "FLAGS": _table({name: words for name, words in flags.items() if words}),
        "COMMON": _list(each for option in shape.common for each in option.spellings),
        "FAMILIES": _list(shape.families),
    }
    script = _SCRIPT
    for name, text in parts.items():
        script = script.replace(f"@{name}@", text)
    return script


def _places(shape: Shape) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield ":0", tuple(shape.first_words)
    for first, members in shape.families.items():
        yield f"{first}:0", tuple(each.words[1] for each in members)
    yield from _taking("any", ((option.spellings, option.value) for option in shape.common))
    for command in shape.commands:
        options = ((option.spellings, option.value) for option in command.options)
        yield from _taking(command.name, options)
        for index, operand in enumerate(command.operands):
            place = "*" if operand.is_last_of_many else str(index)
            yield f"{command.name}:{place}", operand.value.words


def _taking(
    command: str, options: Iterable[tuple[tuple[str, ...], Value | None]]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for spellings, value in options:
        if value:
            yield from ((f"{command}:{spelling}", value.words) for spelling in spellings)


def _table(rows: Mapping[str, Iterable[str]]) -> str:
    return "\n".join(f"        {_text(key)} = @({_list(words)})" for key, words in rows.items())


def _list(words: Iterable[str]) -> str:
    return ", ".join(map(_text, words))


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
