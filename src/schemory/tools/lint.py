"""What strict hosts accept in a tool list (surfaces.md); returns everything that they would not."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from schemory.errors import Problem
from schemory.model.hidden import find_hidden
from schemory.model.jsonvalue import Json
from schemory.tools.coerce import is_array, is_object

MAX_DESCRIPTION_BYTES = 1024
MAX_DEPTH = 5
"""How many schemas may lie inside each other in an input schema, the root included."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,47}\Z")
_PROPERTY = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")
_KEYWORDS = frozenset(
    (
        *("type", "title", "description", "default", "enum"),
        *("properties", "required", "additionalProperties"),
        *("items", "minItems", "maxItems"),
        *("minimum", "maximum", "minLength", "maxLength"),
    )
)
_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean"})
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_MARKUP = re.compile(r"<[A-Za-z/!][^<>]*>|\]\(")
_OUTPUT_ENVELOPE_LEVELS = 1


def lint_tools(tools: Sequence[Mapping[str, Json]]) -> tuple[Problem, ...]:
    """Return every problem of a wire tool list, each with the tool's name in its path."""
    return tuple(_list_problems(tools))


def lint_tool(tool: Mapping[str, Json]) -> tuple[Problem, ...]:
    """Return every problem of one wire tool."""
    return tuple(_tool_problems(tool))


def _list_problems(tools: Sequence[Mapping[str, Json]]) -> Iterator[Problem]:
    names = [str(tool.get("name")) for tool in tools]
    if names != sorted(names):
        yield _fault("$", "the list must be sorted by name")
    seen: set[str] = set()
    for name, tool in zip(names, tools, strict=True):
        if name.casefold() in seen:
            yield _fault(f"$.{name}", "two tools share this name, ignoring case")
        seen.add(name.casefold())
        yield from _tool_problems(tool)


def _tool_problems(tool: Mapping[str, Json]) -> Iterator[Problem]:
    name = str(tool.get("name"))
    path = f"$.{name}"
    if not _NAME.match(name):
        yield _fault(path, "a tool name is a letter or _, then letters, digits, _: 48 at most")
    if not tool.get("title"):
        yield _fault(f"{path}.title", "a title for people is missing")
    yield from _text_problems(tool.get("title"), f"{path}.title")
    if not tool.get("description"):
        yield _fault(f"{path}.description", "a description is missing")
    yield from _text_problems(tool.get("description"), f"{path}.description")
    yield from _hint_problems(tool.get("annotations"), f"{path}.annotations")
    yield from _root_problems(tool.get("inputSchema"), f"{path}.inputSchema", MAX_DEPTH)
    depth = MAX_DEPTH + _OUTPUT_ENVELOPE_LEVELS
    yield from _root_problems(tool.get("outputSchema"), f"{path}.outputSchema", depth)


def _hint_problems(annotations: Json, path: str) -> Iterator[Problem]:
    for hint in _HINTS:
        if not is_object(annotations) or not isinstance(annotations.get(hint), bool):
            yield _fault(path, f"{hint} must be said explicitly")


def _root_problems(schema: Json, path: str, depth: int) -> Iterator[Problem]:
    if not is_object(schema) or schema.get("type") != "object":
        yield _fault(path, "the root must be of type object")
        return
    if not is_object(schema.get("properties")):
        yield _fault(path, "the root must list its properties")
    if not is_array(schema.get("required")):
        yield _fault(path, "the root must say what is required, if only []")
    if schema.get("additionalProperties") is not False:
        yield _fault(path, "the root must refuse additional properties")
    yield from _schema_problems(schema, path, depth)


def _schema_problems(schema: Json, path: str, depth: int) -> Iterator[Problem]:
    if not is_object(schema):
        yield _fault(path, "must be a schema object")
        return
    if depth < 1:
        yield _fault(path, f"schemas may nest {MAX_DEPTH} levels at most")
        return
    for keyword in schema:
        if keyword not in _KEYWORDS:
            yield _fault(path, f"the keyword {keyword} is refused by strict hosts")
    if str(schema.get("type")) not in _TYPES:
        yield _fault(path, f"type must be one of {', '.join(sorted(_TYPES))}")
    yield from _text_problems(schema.get("description"), f"{path}.description")
    yield from _text_problems(schema.get("title"), f"{path}.title")
    yield from _enum_problems(schema, path)
    yield from _part_problems(schema, path, depth)


def _enum_problems(schema: Mapping[str, Json], path: str) -> Iterator[Problem]:
    if "enum" not in schema:
        return
    values = schema["enum"]
    fits = is_array(values) and bool(values) and all(isinstance(v, str) for v in values)
    if schema.get("type") != "string" or not fits:
        yield _fault(path, "enum is for strings only and lists at least one")
    for value in values if is_array(values) else ():
        yield from _text_problems(value, f"{path}.enum")


def _part_problems(schema: Mapping[str, Json], path: str, depth: int) -> Iterator[Problem]:
    if schema.get("type") == "array":
        if not is_object(schema.get("items")):
            yield _fault(path, "an array must say the type of its items")
        else:
            yield from _schema_problems(schema["items"], f"{path}.items", depth - 1)
    properties = schema.get("properties", {})
    if not is_object(properties):
        yield _fault(path, "properties must be an object")
        return
    for key, part in properties.items():
        if not _PROPERTY.match(key):
            yield _fault(f"{path}.properties", f"the key {key!r} is refused by strict hosts")
        yield from _schema_problems(part, f"{path}.properties.{key}", depth - 1)
    required = schema.get("required", [])
    if not is_array(required) or not set(cast("Sequence[str]", required)) <= set(properties):
        yield _fault(path, "required must list keys of properties")


def _text_problems(text: Json, path: str) -> Iterator[Problem]:
    if text is None:
        return
    if not isinstance(text, str):
        yield _fault(path, "must be text")
        return
    if len(text.encode("utf-8", "surrogatepass")) > MAX_DESCRIPTION_BYTES:
        yield _fault(path, f"must have at most {MAX_DESCRIPTION_BYTES} bytes")
    if find_hidden(text):
        yield _fault(path, "must not contain hidden characters")
    if _MARKUP.search(text):
        yield _fault(path, "must not contain markup")


def _fault(path: str, message: str) -> Problem:
    return Problem(code="INVALID_PARAM", path=path, message=message)
