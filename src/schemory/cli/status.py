"""`status`: what is stored where, which tools there are, and what is wrong."""

import argparse
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import schemory
from schemory.cli.command import OK, Command, Request
from schemory.cli.memory_hints import shell_hint
from schemory.cli.output import Output, Style
from schemory.config import DEFAULT_SPACE, Settings
from schemory.errors import InvalidParamError, PathNotAllowedError
from schemory.model.entry import Status
from schemory.model.jsonvalue import Json
from schemory.model.text import counted

if TYPE_CHECKING:
    from schemory.app import App

_SHARED = "shared by everything that is started without a project"
_MAX_TYPES = 8


def _configure(parser: argparse.ArgumentParser) -> None:
    del parser


def _run(request: Request) -> int:
    with request.app() as app:
        facts = status_of(app)
    if request.out.is_json:
        request.out.json(facts)
    else:
        _show(facts, request.out)
    return OK


def status_of(app: "App") -> dict[str, Json]:
    """Return everything that `status` tells."""
    settings = app.settings
    with app.graph.reading() as reader:
        counts = reader.count()
        last = reader.last_seq()
    price = app.toolbox.price()
    memory, memory_warnings = memory_of(app)
    return {
        "version": schemory.__version__,
        "python": sys.version.split()[0],
        "store": {
            **app.store.status(),
            "location": settings.store_location,
            "chosenBy": settings.store_source,
        },
        "project": _project_of(settings),
        "graph": {
            "nodes": counts.nodes,
            "edges": counts.edges,
            "kept": counts.kept,
            "nodeTypes": dict(counts.node_types),
            "edgeTypes": dict(counts.edge_types),
            "transactions": last,
        },
        "memory": memory,
        "schemas": {
            "types": list(app.catalog.types()),
            "folders": list(settings.schema_folders),
            "packs": list(settings.packs),
            "faults": [str(fault) for fault in app.catalog.faults()],
            "warnings": [str(fault) for fault in app.catalog.warnings()],
        },
        "tools": {
            "count": price.tools,
            "approxTokens": price.tokens,
            "profile": str(app.toolbox.profile),
            "toolsets": list(settings.toolsets),
        },
        "configFile": settings.config_file,
        "warnings": list(dict.fromkeys([*app.warnings(), *memory_warnings])),
    }


def memory_of(app: "App") -> tuple[dict[str, Json] | None, tuple[str, ...]]:
    """Return what the memory holds for the project that memory commands mean here, and warns of."""
    from schemory.memory.inputs import ProjectRef  # noqa: PLC0415 (not for help)

    settings = app.settings
    if settings.graph_file is not None:  # the memory would be in another file
        return None, ()
    folder = None if settings.project else settings.working_folder
    try:
        status = app.memory.status(ProjectRef(project_path=folder))
    except (InvalidParamError, PathNotAllowedError):
        return None, ()  # here is no project that the memory may be used for
    facts: dict[str, Json] = {
        "project": status.project.id if status.project else None,
        "entries": status.entries,
        **{str(name): count for name, count in status.counts.items()},
        "index": status.index.value,
    }
    return facts, status.warnings


def _project_of(settings: Settings) -> dict[str, Json]:
    project = settings.project
    facts: dict[str, Json] = {
        "id": settings.space,
        "chosenBy": settings.space_source,
        "isShared": settings.space == DEFAULT_SPACE,
    }
    if project is not None:
        facts["resolvedBy"] = project.resolved_by.value
        facts["displayName"] = project.display_name
        facts["canonicalPath"] = project.canonical_path
    return facts


def _show(facts: Mapping[str, Json], out: Output) -> None:
    store, project, graph, schemas, tools = (
        _part(facts, name) for name in ("store", "project", "graph", "schemas", "tools")
    )
    out.line(f"{out.style('schemory', Style.BOLD)} {facts['version']}")
    types = _part(schemas, "types")
    where = f", {project['canonicalPath']}" if project.get("canonicalPath") else ""
    shared = f", {_SHARED}" if project["isShared"] else where
    shown = {
        "store": f"{store['location']} ({store['chosenBy']})",
        "project": f"{project['id']} ({project['chosenBy']}{shared})",
        "graph": _graph_line(graph),
        **_memory_line(facts["memory"]),
        "node types": _types_line(_part(graph, "nodeTypes")),
        "schemas": f"{len(types):,} types"
        if types
        else "none; `schemory init --pack rpg` makes some",
        "tools": f"{tools['count']}, about {tools['approxTokens']:,} tokens ({tools['profile']})",
    }
    if facts["configFile"]:
        shown["config file"] = str(facts["configFile"])
    out.facts(shown)
    for warning in map(shell_hint, _part(facts, "warnings")):
        out.line(f"{out.style('warning:', Style.YELLOW)} {out.style(warning, Style.DIM)}")


def _memory_line(memory: Json) -> dict[str, str]:
    if not isinstance(memory, Mapping):
        return {}
    by_status = [f"{_number(memory[s.value]):,} {s}" for s in Status if memory.get(s.value)]
    return {"memory": f"{', '.join(by_status) or 'empty'} ({memory['project']})"}


def _graph_line(graph: Mapping[str, Json]) -> str:
    nodes, edges, kept = (_number(graph[key]) for key in ("nodes", "edges", "kept"))
    if not nodes and not edges:
        return "empty"
    line = f"{counted(nodes, 'node')}, {counted(edges, 'edge')}"
    return f"{line}, {counted(kept, 'kept line')}" if kept else line


def _types_line(types: Mapping[str, Json]) -> str:
    by_count = sorted(types.items(), key=lambda item: (-_number(item[1]), item[0]))
    told = [f"{name} {_number(count):,}" for name, count in by_count[:_MAX_TYPES]]
    rest = len(by_count) - _MAX_TYPES
    return ", ".join([*told, f"and {rest} more"] if rest > 0 else told) or "none"


def _part(facts: Mapping[str, Json], name: str) -> "Mapping[str, Json]":
    value = facts[name]
    return value if isinstance(value, Mapping) else dict.fromkeys(map(str, value or ()))  # type: ignore[arg-type]  # a list of texts, shown by its texts


def _number(value: Json) -> int:
    return value if isinstance(value, int) else 0


COMMANDS: tuple[Command, ...] = (
    Command(
        name="status",
        summary="show what is stored where, which tools there are, and what is wrong",
        configure=_configure,
        run=_run,
        examples=("schemory status", "schemory status --project . --json"),
    ),
)
