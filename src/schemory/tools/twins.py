"""The generic twins of the generated tools: `add_node`, `update_node`, `delete_node`.

They take the type as an argument, so that a large set of schemas costs three tools, and do exactly
what the generated tools do.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, cast

from schemory.errors import InvalidParamError, Problem, SchemoryError
from schemory.model.jsonvalue import Json
from schemory.schemas.input_schema import Verb
from schemory.tools.bench import Bench, Spec, text_of
from schemory.tools.dynamic import EFFECTS, ENTITY_DATA, ENTITY_VERBS, UNADVERTISED
from schemory.tools.registry import Call, Reply

_PATH = "$.properties"

_TYPE: Final[Mapping[str, Json]] = {"type": "string", "description": "A type of list_schemas."}
_NAME: Final[Mapping[str, Json]] = {"type": "string", "minLength": 1}
_PROPERTIES: Final[Mapping[str, Json]] = {
    "type": "object",
    "properties": {},
    "additionalProperties": True,
    "description": "The type's properties, see describe_schema.",
}
_DESCRIPTIONS: Final[Mapping[Verb, str]] = {
    "add": (
        "Add a node of a type that has a schema, checked against it; relationship properties "
        "make the edges. describe_schema tells the properties of a type. Search first, so that "
        "nothing is stored twice."
    ),
    "update": (
        "Change an existing node of a type that has a schema: only the properties given here "
        "change, and null removes one."
    ),
    "delete": "Delete one node by type and name, with all its edges.",
}


def _handle(bench: Bench, call: Call, verb: Verb) -> Reply:
    entity = _entity(call)
    try:
        return ENTITY_VERBS[verb](bench, call, text_of(call, "nodeType"), entity, _PATH)
    except SchemoryError as error:
        error.problems = tuple(map(_relocated, error.problems))
        raise


def _entity(call: Call) -> dict[str, Json]:
    """Return the properties with the name among them, as the generated tools take it."""
    given = cast("Mapping[str, Json]", call.arguments.get("properties", {}))
    name = text_of(call, "name")
    if given.get("name", name) != name:
        message = "properties.name differs from name; give the name once, as name"
        problem = Problem(code="INVALID_PARAM", path=f"{_PATH}.name", message=message)
        raise InvalidParamError(message, problems=[problem])
    return {"name": name, **given}


def _relocated(problem: Problem) -> Problem:
    """Return the problem with the path of the name as this tool takes it."""
    is_about_name = problem.path == f"{_PATH}.name"
    return replace(problem, path="$.name") if is_about_name else problem


def _spec(verb: Verb) -> Spec:
    properties: dict[str, Json] = {"nodeType": _TYPE, "name": _NAME}
    if verb != "delete":
        properties["properties"] = _PROPERTIES
    return Spec(
        name=f"{verb}_node",
        title=f"{verb.capitalize()} a node of a schema's type",
        description=_DESCRIPTIONS[verb],
        effect=EFFECTS[verb],
        handle=lambda bench, call: _handle(bench, call, verb),
        properties=properties,
        required=("nodeType", "name"),
        unadvertised=UNADVERTISED[verb],
        data=ENTITY_DATA[verb],
    )


TWIN_SPECS: Final = (_spec("add"), _spec("update"), _spec("delete"))
"""The three generic tools."""
