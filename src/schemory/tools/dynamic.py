"""Handlers of the tools that schemas bring, and of their generic twins."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias, cast

from schemory.errors import InvalidParamError, Problem
from schemory.model.jsonvalue import Json
from schemory.model.schema import NodeSchema
from schemory.schemas.input_schema import Verb
from schemory.schemas.plan import entity_name
from schemory.tools.bench import (
    Bench,
    author_of,
    flag_of,
    whole_of,
)
from schemory.tools.coerce import NO_JSON, as_kind
from schemory.tools.entity_tools import REVISION, UNADVERTISED
from schemory.tools.graph import (
    deletion,
    shown_edges,
    shown_nodes,
    side_notes,
    write_reply,
)
from schemory.tools.registry import Call, Reply
from schemory.tools.spec import Chooser
from schemory.tools.validate import Schema, place, properties_of

EntityVerb: TypeAlias = Callable[[Bench, Call, str, Mapping[str, Json], str], Reply]


def handle(bench: Bench, call: Call, node_type: str, verb: Verb) -> Reply:
    """Do what one of a schema's own tools is there for."""
    wrapper = next(key for key in _wrappers(node_type, verb) if key in call.arguments)
    entity = cast("Mapping[str, Json]", call.arguments[wrapper])
    return ENTITY_VERBS[verb](bench, call, node_type, entity, f"$.{wrapper}")


def _wrappers(node_type: str, verb: Verb) -> tuple[str, str]:
    """Return the argument that holds the entity: as advertised, and as the old server had it."""
    return node_type, f"{verb}_{node_type}"


def choose_wrapper(root: Schema, schema: NodeSchema, verb: Verb) -> Chooser:
    """Return what finds the wrapper; its inside is left to the schema's own rules."""
    wrappers = _wrappers(schema.node_type, verb)
    others = {key: part for key, part in properties_of(root).items() if key not in wrappers}

    def choose(arguments: Mapping[str, Json]) -> Schema:
        given = [key for key in wrappers if key in arguments]
        if len(given) > 1:
            raise _refusal(f"{given[0]} and {given[1]} mean the same; give one of them", wrappers)
        if not given and any(key in schema.properties for key in arguments):
            raise _refusal(f"the properties belong into one argument, {wrappers[0]}", wrappers)
        wrapper = given[0] if given else wrappers[0]
        known = {**UNADVERTISED[verb], **others, wrapper: {"type": "object"}}
        return {**root, "properties": known, "required": [wrapper]}

    return choose


def _refusal(message: str, wrappers: tuple[str, str]) -> InvalidParamError:
    hint = f'Write {wrappers[1]} {{"{wrappers[0]}": {{"name": "…"}}}}.'
    problem = Problem(code="INVALID_PARAM", path="$", message=message, suggestion=hint)
    return InvalidParamError(message, problems=[problem])


def add_entity(
    bench: Bench, call: Call, node_type: str, entity: Mapping[str, Json], path: str
) -> Reply:
    """Store a node of a schema's type with the edges that its properties make."""
    result = bench.graph_for(call).add_entity(
        node_type,
        entity,
        path=path,
        allow_secret=flag_of(call, "allowSecret"),
        by=author_of(call),
    )
    data: dict[str, Json] = {
        "nodes": shown_nodes(call, result.nodes),
        "edges": shown_edges(call, result.edges),
        **side_notes(result),
    }
    return write_reply(bench, data, f"Created {node_type}: {result.nodes[0].name}")


def update_entity(
    bench: Bench, call: Call, node_type: str, entity: Mapping[str, Json], path: str
) -> Reply:
    """Change the given properties of a node, their lines and their edges."""
    revision, entity = _revision(bench, call, node_type, entity, path)
    result = bench.graph_for(call).update_entity(
        node_type,
        entity,
        path=path,
        expected_revision=revision,
        allow_secret=flag_of(call, "allowSecret"),
        by=author_of(call),
    )
    data: dict[str, Json] = {
        "nodes": shown_nodes(call, result.nodes),
        "edges": shown_edges(call, result.edges),
        "removedEdges": shown_edges(call, result.removed_edges),
        **side_notes(result),
    }
    return write_reply(bench, data, f"Updated {node_type}: {result.nodes[0].name}")


def _revision(
    bench: Bench, call: Call, node_type: str, entity: Mapping[str, Json], path: str
) -> tuple[int | None, Mapping[str, Json]]:
    """Return the expected revision, wherever it was given, and the entity without it."""
    schema = bench.catalog.get(node_type)
    is_property = schema is not None and schema.find_property(REVISION) is not None
    if REVISION not in entity or is_property:
        return whole_of(call, REVISION), entity
    inside = as_kind("integer", entity[REVISION])
    if inside is NO_JSON:
        message = f"{place(path)}.{REVISION} must be an integer"
        problem = Problem(code="INVALID_PARAM", path=f"{path}.{REVISION}", message=message)
        raise InvalidParamError(message, problems=[problem])
    rest = {key: value for key, value in entity.items() if key != REVISION}
    return cast("int", inside), rest


def delete_entity(
    bench: Bench, call: Call, node_type: str, entity: Mapping[str, Json], path: str
) -> Reply:
    """Delete a node of that type with its edges."""
    schema = bench.catalog.get(node_type)
    name = entity_name(schema, entity, path=path) if schema else str(entity.get("name"))
    result = bench.graph_for(call).delete_entity(node_type, name, path=path, by=author_of(call))
    return write_reply(bench, deletion(result), f"Deleted {node_type}: {result.deleted[0]}")


ENTITY_VERBS: Final[Mapping[Verb, EntityVerb]] = {
    "add": add_entity,
    "update": update_entity,
    "delete": delete_entity,
}
