"""The three tools that each schema brings: `add_<type>`, `update_<type>`, `delete_<type>`."""

from collections.abc import Mapping
from typing import Final

from schemory.model.jsonvalue import Json
from schemory.model.schema import NodeSchema
from schemory.schemas.input_schema import Verb, entity_schema
from schemory.schemas.texts import advertised
from schemory.tools.late import late
from schemory.tools.parts import (
    EDGES,
    INFO,
    NODES,
    PROJECT_ARGUMENT,
    SECRET_OVERRIDE,
    TEXTS,
    VERBS,
    WRITTEN,
)
from schemory.tools.registry import Effect, Tool
from schemory.tools.spec import Desk, Spec, make_tool

_handle = late("dynamic:handle")
_choose_wrapper = late("dynamic:choose_wrapper")

EFFECTS: Final[Mapping[Verb, Effect]] = {
    "add": Effect.WRITE,
    "update": Effect.WRITE,
    "delete": Effect.DESTRUCTIVE,
}
REVISION: Final = "expectedRevision"
UNADVERTISED: Final[Mapping[Verb, Mapping[str, Json]]] = {
    "add": {**SECRET_OVERRIDE, **INFO},
    "update": {**SECRET_OVERRIDE, **INFO, REVISION: {"type": "integer", "minimum": 0}},
    "delete": {},
}
"""What the generated tools and the generic ones accept beside what they advertise."""

ENTITY_DATA: Final[Mapping[Verb, Mapping[str, Json]]] = {
    "add": {"nodes": NODES, "edges": EDGES, **WRITTEN},
    "update": {"nodes": NODES, "edges": EDGES, "removedEdges": EDGES, **WRITTEN},
    "delete": {
        "deleted": TEXTS,
        "notFound": TEXTS,
        "edgesRemoved": {"type": "integer"},
        **WRITTEN,
    },
}


def entity_tools(desk: Desk, schema: NodeSchema) -> tuple[Tool, ...]:
    """Return the three tools of `schema`."""
    return tuple(make_tool(desk, _spec(schema, verb)) for verb in VERBS)


def _spec(schema: NodeSchema, verb: Verb) -> Spec:
    node_type = schema.node_type
    words = node_type.replace("_", " ")

    return Spec(
        name=f"{verb}_{node_type}",
        title=f"{verb.capitalize()} {words}",
        description=_description(schema, verb),
        effect=EFFECTS[verb],
        handle=lambda bench, call: _handle(bench, call, node_type, verb),
        properties={node_type: entity_schema(schema, verb)},
        required=(node_type,),
        chooses=lambda root: _choose_wrapper(root, schema, verb),
        data=ENTITY_DATA[verb],
        is_shared=node_type == PROJECT_ARGUMENT,
    )


def _description(schema: NodeSchema, verb: Verb) -> str:
    node_type = schema.node_type
    if verb == "add":
        return advertised(schema.description) or f"Add a new node of type {node_type}."
    if verb == "update":
        return (
            f"Change an existing {node_type}, found by name: only the properties given here "
            "change, and null removes one."
        )
    return f"Delete one {node_type} by name, with all its edges."
