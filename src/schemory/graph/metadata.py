"""Appending and removing single metadata lines (G§4.4, graph.md §2)."""

from collections.abc import Sequence

from schemory.graph.checks import (
    Faults,
    Missing,
    check_secrets,
    find_nodes,
    line_problems,
    require_items,
)
from schemory.graph.inputs import MetadataItem
from schemory.graph.results import MetadataAdded, MetadataRemoved
from schemory.graph.work import Work
from schemory.model.events import (
    AfterAddMetadata,
    AfterDeleteMetadata,
    BeforeAddMetadata,
    BeforeDeleteMetadata,
)
from schemory.model.metadata import merge_lines
from schemory.model.node import NodeChange, NodeRecord
from schemory.model.text import nfc


def add_metadata(
    work: Work, items: Sequence[MetadataItem], *, allow_secret: bool
) -> tuple[MetadataAdded, ...]:
    """Append the lines that are not there yet, in order; all items or none."""
    _require_lines(items)
    faults = _check_lines(items, allow_secret=allow_secret)
    records = work.planned(
        lambda: _find_all(work, items, faults.copy()),
        lambda _: [
            BeforeAddMetadata(node_name=nfc(item.node_name), metadata=tuple(item.lines))
            for item in items
        ],
    )
    results: list[MetadataAdded] = []
    for index, item in enumerate(items):
        before = records[nfc(item.node_name)]
        there = set(before.node.metadata)
        added = tuple(line for line in dict.fromkeys(item.lines) if line not in there)
        after = _write(work, before, (*before.node.metadata, *added))
        records[after.name] = after
        if added:
            work.done(AfterAddMetadata(node_name=after.name, metadata=added))
        results.append(
            MetadataAdded(
                node=after,
                added=added,
                already_there=_rest(item.lines, added),
                warnings=tuple(faults.warnings) if index == 0 else (),
            )
        )
    return tuple(results)


def delete_metadata(work: Work, items: Sequence[MetadataItem]) -> tuple[MetadataRemoved, ...]:
    """Remove lines by exact text, each occurrence; all items or none."""
    _require_lines(items)
    records = work.planned(
        lambda: _find_all(work, items, Faults()),
        lambda _: [
            BeforeDeleteMetadata(node_name=nfc(item.node_name), metadata=tuple(item.lines))
            for item in items
        ],
    )
    results: list[MetadataRemoved] = []
    for item in items:
        before = records[nfc(item.node_name)]
        there, asked = set(before.node.metadata), set(item.lines)
        removed = tuple(line for line in dict.fromkeys(item.lines) if line in there)
        kept = tuple(line for line in before.node.metadata if line not in asked)
        after = _write(work, before, kept)
        records[after.name] = after
        if removed:
            work.done(AfterDeleteMetadata(node_name=after.name, metadata=removed))
        not_there = tuple(line for line in dict.fromkeys(item.lines) if line not in there)
        results.append(MetadataRemoved(node=after, removed=removed, not_there=not_there))
    return tuple(results)


def _rest(given: Sequence[str], added: Sequence[str]) -> tuple[str, ...]:
    """Return the given lines without the first occurrence of each added one."""
    left = list(given)
    for line in added:
        left.remove(line)
    return merge_lines(left)


def _write(work: Work, before: NodeRecord, lines: tuple[str, ...]) -> NodeRecord:
    if lines == before.node.metadata:
        return before
    kept = set(lines)
    typed = tuple(value for value in before.typed if value.line in kept)
    change = NodeChange(id=before.id, metadata=lines, typed=typed)
    return work.tx.update_nodes([change])[0]


def _require_lines(items: Sequence[MetadataItem]) -> None:
    path = items[0].lines_path if items else "$.metadata"
    require_items([line for item in items for line in item.lines], path)


def _check_lines(items: Sequence[MetadataItem], *, allow_secret: bool) -> Faults:
    faults = Faults()
    for index, item in enumerate(items):
        faults.extend(index, line_problems(item.lines, item.lines_path))
        texts = [(f"{item.lines_path}[{at}]", line) for at, line in enumerate(item.lines)]
        check_secrets(faults, index, texts, allow_secret=allow_secret)
    return faults


def _find_all(work: Work, items: Sequence[MetadataItem], faults: Faults) -> dict[str, NodeRecord]:
    records = find_nodes(work.tx, (item.node_name for item in items))
    missing = Missing(work.tx)
    for index, item in enumerate(items):
        if nfc(item.node_name) not in records:
            faults.add(index, missing.problem(item.node_name, item.name_path))
    faults.raise_any()
    return records
