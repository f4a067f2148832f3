"""What a person should know about a graph file, in sentences."""

from collections.abc import Iterable, Sequence

from schemory.model.lines.records import FaultKind
from schemory.storage.jsonl.reading import Contents
from schemory.storage.jsonl.sync import Wanted

_SHOWN = 5


def file_warnings(contents: Contents, target: Wanted) -> list[str]:
    """Return what in the file is not in the graph as it stands there, and where."""
    broken = [fault for fault in contents.faults if fault.kind is not FaultKind.CONFLICT]
    markers = [fault.line for fault in contents.faults if fault.kind is FaultKind.CONFLICT]
    found: list[str] = []
    if markers:
        found.append(
            f"The graph file has merge conflict markers (lines {_few(map(str, markers))}); the "
            "records of both sides are used. Resolve the conflict in the file."
        )
    if broken:
        told = _few(f"line {fault.line} {fault.reason}" for fault in broken)
        found.append(f"Not used, but left in the graph file as it stands: {told}.")
    if target.dangling:
        keys = [line.edge.key for line in target.dangling]
        missing = dict.fromkeys(
            name for key in keys for name in key[:2] if name not in target.nodes
        )
        names = _few(f'"{name}"' for name in missing)
        found.append(
            f"{len(keys)} edge(s) lead to nodes that are not in the graph file ({names}); they "
            "wait in the file and are not in the graph."
        )
    if contents.kept and not contents.nodes and not contents.edges:
        found.append(
            f"The graph file has no node and no edge, only {len(contents.kept)} JSON object(s) of "
            "another kind. Is it the right file?"
        )
    several = [name for name, records in contents.nodes.items() if len(records) > 1]
    if several:
        names = _few(f'"{name}"' for name in several)
        found.append(f"Several lines have the same name and are read as one node: {names}.")
    return found


def _few(items: Iterable[str]) -> str:
    listed: Sequence[str] = list(items)
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more
