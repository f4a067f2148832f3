"""The generic twins of the generated tools: `add_node`, `update_node`, `delete_node`.

They take the type as an argument, so that a large set of schemas costs three tools, and do exactly
what the generated tools do.
"""

import re
from collections.abc import Mapping
from typing import Final, cast

from schemory.errors import InvalidParamError, Problem, SchemoryError
from schemory.model.frozen import replace
from schemory.model.jsonvalue import Json
from schemory.schemas.input_schema import Verb
from schemory.tools.bench import Bench, text_of
from schemory.tools.coerce import NO_JSON, as_kind, is_object
from schemory.tools.dynamic import ENTITY_VERBS
from schemory.tools.entity_tools import EFFECTS, ENTITY_DATA, UNADVERTISED
from schemory.tools.registry import Call, Reply
from schemory.tools.spec import Chooser, Spec
from schemory.tools.validate import Schema

_PATH = "$.properties"
_GENERATED_CALL = re.compile(
    r"\b(add|update|delete)_(?!(?:nodes?|edges|metadata)\b)([a-z][a-z0-9_]*) ?"
    r'\{ ?"\2" ?: ?(?=\{)'
)

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


def _entity(call: Call) -> Mapping[str, Json]:
    """Return the properties with the name among them, as the generated tools take it."""
    given = cast("Mapping[str, Json]", call.arguments.get("properties", {}))
    name = call.arguments.get("name")
    if name is None:
        return given
    if given.get("name", name) != name:
        message = "properties.name differs from name; give the name once, as name"
        problem = Problem(code="INVALID_PARAM", path=f"{_PATH}.name", message=message)
        raise InvalidParamError(message, problems=[problem])
    return {"name": name, **given}


def _relocated(problem: Problem) -> Problem:
    """Return the problem with the path of the name as this tool takes it."""
    is_about_name = problem.path == f"{_PATH}.name"
    return replace(problem, path="$.name") if is_about_name else problem


def _choose_name_place(root: Schema) -> Chooser:
    """Return what lets the name stand among the properties, where the generated tools have it."""
    inside = {**root, "required": ["nodeType", "properties"]}

    def choose(arguments: Mapping[str, Json]) -> Schema:
        given = as_kind("object", arguments.get("properties"))
        is_inside = given is not NO_JSON and is_object(given) and "name" in given
        return inside if is_inside and "name" not in arguments else root

    return choose


def generic_call(text: str) -> str:
    """Return `text` with calls of generated tools said as calls of the generic ones.

    >>> generic_call('add_npc {"npc":{"name":"Bilbo"}} creates it')
    'add_node {"nodeType":"npc","properties":{"name":"Bilbo"}} creates it'
    """
    return _GENERATED_CALL.sub(r'\1_node {"nodeType":"\2","properties":', text)


def _spec(verb: Verb) -> Spec:
    properties: dict[str, Json] = {"nodeType": _TYPE, "name": _NAME}
    others = dict(UNADVERTISED[verb])
    (others if verb == "delete" else properties)["properties"] = _PROPERTIES
    return Spec(
        name=f"{verb}_node",
        title=f"{verb.capitalize()} a node of a schema's type",
        description=_DESCRIPTIONS[verb],
        effect=EFFECTS[verb],
        handle=lambda bench, call: _handle(bench, call, verb),
        properties=properties,
        required=("nodeType", "name"),
        unadvertised=others,
        chooses=_choose_name_place,
        data=ENTITY_DATA[verb],
    )


TWIN_SPECS: Final = (_spec("add"), _spec("update"), _spec("delete"))
"""The three generic tools."""
