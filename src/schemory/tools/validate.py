"""Checks a call's arguments against the very schema that is advertised, all problems at once.

The schema language is the subset that strict hosts accept (surfaces.md): type, properties,
required, items, enum, additionalProperties, default, minimum, maximum, minLength, maxLength,
minItems, maxItems. Some things go beyond it, and are never advertised: an object schema without
`properties` takes any object, the type `ANYTHING` takes any value, the keyword `NO_TEXT` refuses a
value written as text, `HIDDEN` keeps a property out of messages, `NULLABLE` hands a null on, and a
null bound is none.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, cast

from schemory.errors import Problem
from schemory.model.jsonvalue import Json, child_path, json_kind
from schemory.model.likeness import nearest
from schemory.model.text import counted
from schemory.tools.coerce import (
    JSON_KINDS,
    NO_JSON,
    as_kind,
    is_array,
    is_object,
    json_fault,
)
from schemory.tools.parts import ANYTHING, HIDDEN, NO_TEXT, NULLABLE

Schema = Mapping[str, Json]

_MAX_SHOWN_KEY = 64
_SHORTEST_SECRET = 20  # characters
_MAX_SHOWN_WORDS = 24
_MAX_ADVISED = 20
_ADVICE: Mapping[str, str] = {
    "project_id": "Leave project_id out: this server works on one project. It takes other "
    "projects only when started with --allow-cross-project.",
}


def member_path(path: str, key: str) -> str:
    """Return the JSON path of a member; a long key is shown cut."""
    return child_path(path, shown_key(key))


def place(path: str) -> str:
    """Return a JSON path as messages name it: without the root's `$.`.

    >>> place("$.nodes[3].name"), place("$")
    ('nodes[3].name', 'the arguments')
    """
    return "the arguments" if path == "$" else path.removeprefix("$.")


def shown_key(key: str) -> str:
    """Return `key` as messages show it: at most 64 characters, and no credential."""
    if len(key) >= _SHORTEST_SECRET and _is_secret(key):
        return "(a credential)"
    return key if len(key) <= _MAX_SHOWN_KEY else key[:_MAX_SHOWN_KEY] + "…"


def _is_secret(text: str) -> bool:
    from schemory.safety.secrets import find_secrets  # noqa: PLC0415 (for odd names only)

    return bool(find_secrets(text, precise_only=False))


def properties_of(schema: Schema) -> Mapping[str, Schema]:
    """Return an object schema's properties; empty where there are none."""
    return cast("Mapping[str, Schema]", schema.get("properties") or {})


def extended(schema: Schema, overlay: Mapping[str, Json]) -> Schema:
    """Return an input schema whose `properties` are deep-merged with `overlay`; both stay as is.

    What the overlay adds is hidden.
    """
    return {**schema, "properties": _merged(properties_of(schema), overlay)}


def _merged(base: Mapping[str, Json], over: Mapping[str, Json]) -> dict[str, Json]:
    result = dict(base)
    for key, value in over.items():
        old = result.get(key)
        if is_object(old) and is_object(value):
            result[key] = _merged(old, value)
        else:
            result[key] = {**value, HIDDEN: True} if is_object(value) else value
    return result


class Examined(NamedTuple):
    """Arguments coerced as far as they fit, and everything that does not."""

    arguments: Mapping[str, Json]
    problems: tuple[Problem, ...]


def examine_arguments(schema: Schema, arguments: object) -> Examined:
    """Return the arguments coerced, nulls of optional ones dropped and defaults filled in.

    Missing arguments (None) are `{}`; an object may arrive as JSON text.
    """
    given: object = {} if arguments is None else arguments
    fault = json_fault(given)
    if fault is not None:
        return Examined({}, (_problem("$", f"the arguments {fault}"),))
    checker = _Checker()
    checked = checker.check(schema, cast("Json", given), "$")
    return Examined(checked if is_object(checked) else {}, tuple(checker.problems))


def read_object(arguments: object) -> Mapping[str, Json]:
    """Return the root object of a call unchecked, so that its dialect can be recognised."""
    if arguments is None or json_fault(arguments) is not None:
        return {}
    found = as_kind("object", cast("Json", arguments))
    return found if found is not NO_JSON and is_object(found) else {}


def expected_form(schema: Schema) -> str:
    """Return what a value of `schema` has to be, in words: `an array of strings`."""
    kind = str(schema["type"])
    if kind == "array":
        return f"an array of {_plural(cast('Schema', schema['items']))}"
    if kind == "object" and properties_of(schema):
        return f"an object with {_shown(properties_of(schema))}"
    if kind in {"integer", "number"}:
        return f"{'an integer' if kind == 'integer' else 'a number'}{_range_words(schema)}"
    return JSON_KINDS[kind]


def _plural(items: Schema) -> str:
    kind = str(items["type"])
    if kind == "object" and properties_of(items):
        return f"objects with {_shown(properties_of(items))}"
    return "booleans" if kind == "boolean" else f"{kind}s"


def _range_words(schema: Schema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    if low is not None:
        return f" of at least {low}"
    return "" if high is None else f" of at most {high}"


def _shown(properties: Mapping[str, Schema]) -> str:
    return _words(key for key, schema in properties.items() if not schema.get(HIDDEN))


def _words(names: Iterable[str]) -> str:
    listed = list(names)
    rest = len(listed) - _MAX_SHOWN_WORDS
    return ", ".join(listed[:_MAX_SHOWN_WORDS]) + (f" and {rest} more" if rest > 0 else "")


def _problem(
    path: str, message: str, *, near: tuple[str, ...] = (), suggestion: str | None = None
) -> Problem:
    return Problem(
        code="INVALID_PARAM", path=path, message=message, nearest=near, suggestion=suggestion
    )


class _Checker:
    """One walk over one call's arguments; collects problems, returns coerced values."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def check(self, schema: Schema, value: Json, path: str) -> Json:
        """Return `value` as `schema` wants it; what does not fit becomes a problem."""
        kind = str(schema["type"])
        if kind == ANYTHING:
            return value
        if schema.get(NO_TEXT) and isinstance(value, str):
            return self._wrong_kind(schema, value, path)
        found = as_kind(kind, value)
        if found is NO_JSON:
            return self._wrong_kind(schema, value, path)
        if is_object(found):
            return self._object(schema, found, path)
        if isinstance(found, str):
            self._text(schema, found, path)
        elif is_array(found):
            return self._array(schema, found, path)
        elif not isinstance(found, bool) and isinstance(found, int | float):
            self._number(schema, found, path)
        return found

    def _report(
        self, path: str, message: str, near: tuple[str, ...] = (), suggestion: str | None = None
    ) -> None:
        self.problems.append(_problem(path, message, near=near, suggestion=suggestion))

    def _wrong_kind(self, schema: Schema, value: Json, path: str) -> Json:
        got = json_kind(value)
        if isinstance(value, str) and schema["type"] in {"object", "array"}:
            got = f"a string that holds no JSON {schema['type']}"
        message = f"{place(path)} must be {expected_form(schema)}, but is {got}"
        self._report(path, message, suggestion=_form_hint(schema, path))
        return None

    def _object(self, schema: Schema, value: Mapping[str, Json], path: str) -> Json:
        if "properties" not in schema:
            return value
        known = properties_of(schema)
        required = cast("Sequence[str]", schema.get("required") or ())
        result: dict[str, Json] = {}
        for key, item in value.items():
            if key not in known:
                if schema.get("additionalProperties", True) is False:
                    self._unknown(key, value, schema, path)
                else:
                    result[key] = item
            elif item is not None:
                result[key] = self.check(known[key], item, member_path(path, key))
            elif known[key].get(NULLABLE):
                result[key] = None
        for key, expected in known.items():
            if key in required and value.get(key) is None:
                self._missing(key, schema, value, path)
            elif key not in result and "default" in expected:
                result[key] = expected["default"]
        return result

    def _unknown(self, key: str, value: Mapping[str, Json], schema: Schema, path: str) -> None:
        known = properties_of(schema)
        required = cast("Sequence[str]", schema.get("required") or ())
        near: tuple[str, ...] = ()
        if len(self.problems) < _MAX_ADVISED:
            free = [name for name in known if name not in value]
            wanted = [name for name in required if name in free and key not in _ADVICE]
            near = nearest(key, free) or tuple(wanted[:1])
        where = "the call" if path == "$" else place(path)
        takes = f"takes {_shown(known)}" if known else "takes no arguments"
        hint = f"Write {near[0]} instead of {shown_key(key)}." if near else _ADVICE.get(key)
        self._report(
            member_path(path, key),
            f"{shown_key(key)} is no argument here: {where} {takes}",
            near,
            hint,
        )

    def _missing(self, key: str, schema: Schema, value: Mapping[str, Json], path: str) -> None:
        known = properties_of(schema)
        near: tuple[str, ...] = ()
        if len(self.problems) < _MAX_ADVISED:
            near = nearest(key, (name for name in value if name not in known), 1)
        meant = f" (is it {shown_key(near[0])}?)" if near else ""
        where = member_path(path, key)
        message = f"{place(where)} is missing: {expected_form(known[key])}{meant}"
        hint = None if near else _form_hint(known[key], where)
        self._report(where, message, suggestion=hint)

    def _array(self, schema: Schema, value: Sequence[Json], path: str) -> Json:
        self._bounds(len(value), schema, ("minItems", "maxItems"), "item", path)
        items = cast("Schema", schema["items"])
        return [self.check(items, item, child_path(path, i)) for i, item in enumerate(value)]

    def _text(self, schema: Schema, value: str, path: str) -> None:
        self._bounds(len(value), schema, ("minLength", "maxLength"), "character", path)
        allowed = cast("Sequence[str]", schema.get("enum") or ())
        if allowed and value not in allowed:
            near = nearest(value, allowed) if len(self.problems) < _MAX_ADVISED else ()
            hint = f"Use {near[0]}." if near else None
            self._report(path, f"{place(path)} must be one of: {_words(allowed)}", near, hint)

    def _number(self, schema: Schema, value: float, path: str) -> None:
        low = cast("float | None", schema.get("minimum"))
        high = cast("float | None", schema.get("maximum"))
        if (low is not None and value < low) or (high is not None and value > high):
            self._report(path, f"{place(path)} must be {expected_form(schema)}")

    def _bounds(
        self, size: int, schema: Schema, keywords: tuple[str, str], unit: str, path: str
    ) -> None:
        low = cast("int | None", schema.get(keywords[0]))
        high = cast("int | None", schema.get(keywords[1]))
        if low is not None and size < low:
            self._report(path, f"{place(path)} must have at least {counted(low, unit)}, has {size}")
        if high is not None and size > high:
            self._report(path, f"{place(path)} must have at most {counted(high, unit)}, has {size}")


def _form_hint(schema: Schema, path: str) -> str | None:
    """Return the form to write, ready to fill in; None where the message says it all."""
    if schema["type"] not in {"object", "array"}:
        return None
    return f"Write {place(path)} as {_skeleton(schema)}"


def _skeleton(schema: Schema) -> str:
    kind = schema["type"]
    if kind == "array":
        return f"[{_skeleton(cast('Schema', schema['items']))}]"
    if kind == "object":
        required = cast("Sequence[str]", schema.get("required") or ())
        known = properties_of(schema)
        return "{" + ", ".join(f'"{key}": {_skeleton(known[key])}' for key in required) + "}"
    return '"…"' if kind == "string" else f"<{kind}>"
