"""The seed's schema builder, loader and processor (G§3.5-G§3.7)."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from schemory.errors import SchemaFaultError
from schemory.graph.relations import edge_key
from schemory.model.edge import Edge
from schemory.model.frozen import replace
from schemory.model.graph import Graph
from schemory.model.jsonvalue import Json
from schemory.model.schema import NodeSchema
from schemory.schemas.load import SUFFIX, load_schema
from schemory.schemas.parse import parse_schema
from schemory.schemas.plan import plan_add
from schemory.schemas.report import fault_error


class SchemaBuilder:
    """Builds a schema step by step (G§3.5)."""

    def __init__(self, name: str, description: str) -> None:
        self._document: dict[str, Json] = {"name": name, "description": description}
        self._properties: dict[str, dict[str, Json]] = {}
        self._allows_additional = True

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "SchemaBuilder":
        """Return a builder that holds what a schema file says."""
        builder = cls(document["name"], document.get("description", ""))
        builder._properties = {k: dict(v) for k, v in document["properties"].items()}
        for key in document.get("required", ()):
            builder._properties[key]["required"] = True
        builder._allows_additional = bool(document.get("additionalProperties", True))
        return builder

    def add_string_property(
        self,
        name: str,
        description: str,
        required: bool = False,  # noqa: FBT001, FBT002 (the seed's own order of arguments)
        enum_values: Sequence[str] = (),
    ) -> "SchemaBuilder":
        """Add a text property."""
        return self._add(name, "string", description, required=required, enum=enum_values)

    def add_array_property(
        self,
        name: str,
        description: str,
        required: bool = False,  # noqa: FBT001, FBT002 (as above)
        enum_values: Sequence[str] = (),
    ) -> "SchemaBuilder":
        """Add a property that is a list of texts."""
        return self._add(name, "array", description, required=required, enum=enum_values)

    def _add(
        self, name: str, kind: str, description: str, *, required: bool, enum: Sequence[str]
    ) -> "SchemaBuilder":
        found: dict[str, Json] = {"type": kind, "description": description, "required": required}
        self._properties[name] = {**found, "enum": list(enum)} if enum else found
        return self

    def add_relationship(
        self, property_name: str, edge_type: str, description: str, node_type: str | None = None
    ) -> "SchemaBuilder":
        """Let a property make an edge; a property that is not there yet is added as a text."""
        own: dict[str, Json] = {"edgeType": edge_type, "description": description}
        if node_type is not None:
            own["nodeType"] = node_type
        if property_name not in self._properties:
            self.add_string_property(property_name, description)
        self._properties[property_name]["relationship"] = own
        return self

    def allow_additional_properties(self, allowed: bool) -> "SchemaBuilder":  # noqa: FBT001 (the seed's)
        """Say whether undeclared properties are stored."""
        self._allows_additional = allowed
        return self

    def create_update_schema(self) -> "SchemaBuilder":
        """Return the variant for partial updates: only `name` is required."""
        name = str(self._document["name"])
        update = SchemaBuilder(
            "update_" + name.removeprefix("add_"), str(self._document["description"])
        )
        update._properties = {
            key: {**facets, "required": key == "name"} for key, facets in self._properties.items()
        }
        update._allows_additional = self._allows_additional
        return update

    @property
    def relationships(self) -> dict[str, Json]:
        """The relationship of each property that has one."""
        return {k: v["relationship"] for k, v in self._properties.items() if "relationship" in v}

    @property
    def schema(self) -> NodeSchema:
        """The product's own form.

        Raises:
            SchemaFaultError: What was built cannot be used.
        """
        parsed = parse_schema(self.build())
        if parsed.schema is None:
            raise fault_error("", parsed.faults)
        return parsed.schema

    def build(self) -> dict[str, Json]:
        """Return the schema as its file would say it."""
        properties = {key: dict(facets) for key, facets in self._properties.items()}
        return {
            **self._document,
            "properties": properties,
            "additionalProperties": self._allows_additional,
        }


class SchemaLoader:
    """Reads schema files of one folder (G§3.6); the first bad file raises."""

    def __init__(self, schemas_dir: str | Path) -> None:
        self._folder = Path(schemas_dir)

    def load_schema(self, schema_name: str) -> SchemaBuilder:
        """Return the schema in `<schema_name>.schema.json`.

        Raises:
            SchemaFaultError: It cannot be used; names file, place and suggestion.
        """
        return self._load(self._folder / f"{schema_name}{SUFFIX}")

    def load_all_schemas(self) -> dict[str, SchemaBuilder]:
        """Return all schemas of the folder by node type."""
        builders = [self._load(path) for path in sorted(self._folder.glob(f"*{SUFFIX}"))]
        by_type: dict[str, SchemaBuilder] = {}
        for builder in builders:
            node_type = builder.schema.node_type
            if node_type in by_type:
                raise SchemaFaultError(f"two schema files define the type {node_type}")
            by_type[node_type] = builder
        return by_type

    @staticmethod
    def _load(path: Path) -> SchemaBuilder:
        load_schema(path)
        return SchemaBuilder.from_document(json.loads(path.read_text(encoding="utf-8-sig")))


def create_schema_node(args: Mapping[str, Json], schema: SchemaBuilder, entity_type: str) -> Graph:
    """Return the node and the edges that an add of `args` makes, without storing them (G§3.7).

    Raises:
        SchemoryError: Everything that is wrong with `args`.
    """
    plan = plan_add(schema.schema, args, path=f"$.{entity_type}")
    node = replace(plan.node, node_type=entity_type)
    keys = {
        edge_key(node.name, relation.relationship, target): relation.relationship.weight
        for relation in plan.relations
        for target in relation.targets
    }
    return Graph((node,), tuple(Edge(*key, weight) for key, weight in keys.items()))
