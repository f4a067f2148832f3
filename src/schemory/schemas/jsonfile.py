"""Reads one JSON file strictly, so that nothing in it is silently lost or guessed."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from schemory.errors import Problem, SchemaFaultError
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json
from schemory.schemas.report import Findings, Steps

MAX_BYTES = 1_048_576
"""A schema file is a page or two of text; more than this is something else."""

_HINTS: Mapping[str, str] = {
    "//": "JSON knows no comments; remove it",
    "/*": "JSON knows no comments; remove it",
    "#": "JSON knows no comments; remove it",
    "'": "use double quotes",
}
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class _Object(dict[str, object]):
    """A JSON object that remembers keys which stood in it more than once."""

    repeated: tuple[str, ...] = ()


@dataclass(slots=True)
class JsonFile:
    """A file's JSON value, or why there is none."""

    value: Json = None
    faults: tuple[Problem, ...] = ()


def read_json(path: Path) -> JsonFile:
    """Return the JSON of a file: UTF-8 with or without BOM, any line ends; never raises."""
    try:
        if not path.is_file():
            return _faulty("it is no file" if path.exists() else "there is no such file")
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        return _faulty(f"it cannot be read: {error.strerror or type(error).__name__}")
    return parse_json(raw)


def parse_json(raw: bytes) -> JsonFile:
    """Return the JSON in `raw`; a key twice in one object and NaN are faults; never raises."""
    if len(raw) > MAX_BYTES:
        return _faulty(f"it has more than {MAX_BYTES} bytes")
    if raw.startswith(_UTF16_MARKS):
        return _faulty("it is UTF-16", suggestion="save it as UTF-8")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return _faulty(
            f"it is not UTF-8 (at byte {error.start + 1})", suggestion="save it as UTF-8"
        )
    if not text.strip():
        return _faulty("it is empty", suggestion="`schemory schema new TYPE` makes one")
    return _parse_text(text)


def _parse_text(text: str) -> JsonFile:
    try:
        value: object = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        return _not_json(text, error)
    except RecursionError:
        return _faulty("it is nested too deeply")
    except ValueError as error:
        return _faulty(f"it is not JSON: {error}")
    findings = Findings()
    _find_repeated(value, findings)
    return JsonFile(cast("Json", value), tuple(findings.faults))


def _object(pairs: list[tuple[str, object]]) -> _Object:
    made = _Object(pairs)
    if len(made) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        made.repeated = tuple(key for key, count in counts.items() if count > 1)
    return made


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON number")


def _find_repeated(root: object, findings: Findings) -> None:
    todo: list[tuple[Steps, object]] = [((), root)]
    while todo:
        steps, value = todo.pop()
        if isinstance(value, _Object):
            for key in value.repeated:
                what = f'"{key}" stands more than once in the same object'
                findings.fault((*steps, key), what, suggestion="keep one of them")
            todo.extend(((*steps, key), member) for key, member in value.items())
        elif isinstance(value, list):
            items = cast("list[object]", value)
            todo.extend(((*steps, index), item) for index, item in enumerate(items))


def _not_json(text: str, error: json.JSONDecodeError) -> JsonFile:
    where = f"line {error.lineno}, column {error.colno}"
    return _faulty(f"it is not JSON: {error.msg} at {where}", suggestion=_hint(text, error.pos))


def _hint(text: str, position: int) -> str | None:
    """Return what people most often mean by the text that is no JSON."""
    before, rest = text[:position].rstrip(), text[position:].lstrip()
    follows = rest.removeprefix(",").lstrip()
    if follows.startswith(("}", "]")) and (rest.startswith(",") or before.endswith(",")):
        return "remove the comma before the closing bracket"
    if rest.rstrip() == ",":
        return "remove the comma at the end"
    if rest.startswith(("{", "[")) and before.endswith(("}", "]")):
        return "a file holds one schema; put the others into files of their own"
    if not rest:
        return "the file ends too early; it may be cut off"
    return next((hint for start, hint in _HINTS.items() if rest.startswith(start)), None)


def _faulty(message: str, *, suggestion: str | None = None) -> JsonFile:
    problem = Problem(code=SchemaFaultError.code, path="", message=message, suggestion=suggestion)
    return JsonFile(None, (problem,))
