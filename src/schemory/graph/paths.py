"""Walks from node to node: shortest paths and neighbourhoods, both bounded (graph.md §8)."""

import heapq
from collections.abc import Iterator, Sequence

from schemory.errors import Problem, error_for
from schemory.graph.checks import Missing, find_nodes, invalid
from schemory.graph.relations import other_end
from schemory.graph.results import Neighbourhood, PathFound
from schemory.model.edge import EdgeRecord
from schemory.model.frozen import dataclass
from schemory.model.node import NodeRecord
from schemory.model.text import nfc
from schemory.storage.protocols import GraphReader

MAX_EDGES = 50_000
"""How many edges one walk follows before it gives up, and says so."""

MAX_DEPTH = 20
"""The longest walk that may be asked for."""

_CHUNK = 500
_REVERSED = {"out": "in", "in": "out", "both": "both"}


class _Ways:
    """Follows edges, and counts them against the bound."""

    def __init__(self, reader: GraphReader, direction: str, edge_types: Sequence[str]) -> None:
        self._reader = reader
        self._direction = direction
        self._types = tuple(map(nfc, edge_types))
        self._left = MAX_EDGES

    @property
    def is_exhausted(self) -> bool:
        return self._left <= 0

    def leaving(
        self, node_id: int, *, is_backward: bool = False
    ) -> Iterator[tuple[EdgeRecord, int]]:
        """Yield the edges of a node with the id of their other end, in creation order."""
        after_id = 0
        direction = _REVERSED[self._direction] if is_backward else self._direction
        while not self.is_exhausted:
            edges = self._reader.edges_of(
                node_id,
                direction=direction,
                edge_types=self._types,
                after_id=after_id,
                limit=_CHUNK,
            )
            for edge in edges:
                self._left -= 1
                yield edge, other_end(node_id, edge)[0]
            if len(edges) < _CHUNK:
                return
            after_id = edges[-1].id


def find_path(
    reader: GraphReader,
    from_name: str,
    to_name: str,
    *,
    max_hops: int,
    weighted: bool,
    direction: str,
    edge_types: Sequence[str],
) -> PathFound:
    """Return a path with the fewest hops, or with the least sum of `1 - weight`.

    Among equals it is always the same one. `direction` says how edges may be walked: `both`
    regardless of where they point, `out` along them, `in` against them.
    """
    _check(
        [
            _range_problem(max_hops, MAX_DEPTH, "$.maxHops"),
            _direction_problem(direction),
        ]
    )
    start, goal = _ends(reader, from_name, to_name)
    ways = _Ways(reader, direction, edge_types)
    if weighted:
        label, explored = _cheapest(ways, start.id, goal.id, max_hops)
        steps = [] if label is None else list(_back(label))[::-1]
        cost = label.cost if label is not None else 0.0
    else:
        steps, explored = _shortest(ways, start.id, goal.id, max_hops)
        cost = float(len(steps) - 1)
    if not steps:
        return PathFound(
            nodes=(), edges=(), cost=None, explored=explored, is_truncated=ways.is_exhausted
        )
    nodes = reader.find_nodes_by_id([step.node_id for step in steps])
    return PathFound(
        nodes=tuple(nodes[step.node_id] for step in steps),
        edges=tuple(step.edge for step in steps if step.edge is not None),
        cost=float(f"{cost:.12g}"),
        explored=explored,
        is_truncated=False,
    )


@dataclass(frozen=True, slots=True)
class _Label:
    """A way to a node: what it costs, how long it is, where it came from."""

    node_id: int
    cost: float = 0.0
    hops: int = 0
    edge: EdgeRecord | None = None
    before: "_Label | None" = None

    def onward(self, edge: EdgeRecord, node_id: int, cost: float) -> "_Label":
        return _Label(node_id, self.cost + cost, self.hops + 1, edge, self)


def _back(label: _Label | None) -> Iterator[_Label]:
    while label is not None:
        yield label
        label = label.before


def _shortest(ways: _Ways, start: int, goal: int, max_hops: int) -> tuple[list[_Label], int]:
    """Search level by level from both ends at once, always on the side with fewer nodes to ask.

    Whole levels were searched before, so the first node known to both sides lies on a shortest
    path, and a path is found among few nodes even where a search from one side would see most.
    """
    sides = _Side(_Label(start)), _Side(_Label(goal), is_backward=True)
    if start == goal:
        return [_Label(start)], 1
    for _ in range(max_hops):
        near, far = sorted(sides, key=lambda side: len(side.level))
        met = near.widen(ways, far)
        if met is not None:
            return _joined(sides[0].seen[met], sides[1].seen[met]), _count(sides)
        if not near.level:
            break
    return [], _count(sides)


def _count(sides: tuple["_Side", "_Side"]) -> int:
    return len(sides[0].seen.keys() | sides[1].seen.keys())


class _Side:
    """One half of a search from both ends."""

    def __init__(self, label: _Label, *, is_backward: bool = False) -> None:
        self._is_backward = is_backward
        self.level = [label]
        self.seen = {label.node_id: label}

    def widen(self, ways: _Ways, far: "_Side") -> int | None:
        """Go one level further; returns the first node that the other side knows."""
        following: list[_Label] = []
        for label in self.level:
            for edge, other in ways.leaving(label.node_id, is_backward=self._is_backward):
                if other in self.seen:
                    continue
                step = label.onward(edge, other, 1.0)
                self.seen[other] = step
                following.append(step)
                if other in far.seen:
                    return other
        self.level = following
        return None


def _joined(forward: _Label, backward: _Label) -> list[_Label]:
    """Return the steps from start to goal; each holds the edge that leads to it."""
    steps = list(_back(forward))[::-1]
    steps += [
        _Label(label.before.node_id, edge=label.edge)
        for label in _back(backward)
        if label.before is not None
    ]
    return steps


def _cheapest(ways: _Ways, start: int, goal: int, max_hops: int) -> tuple[_Label | None, int]:
    """Dijkstra; a node is expanded again only for a way that is dearer but has fewer hops."""
    order = 0
    heap: list[tuple[float, int, int, _Label]] = [(0.0, 0, order, _Label(start))]
    fewest: dict[int, int] = {}
    while heap:
        _, hops, _, label = heapq.heappop(heap)
        if label.node_id == goal:
            return label, len(fewest) + 1
        if fewest.get(label.node_id, max_hops + 1) <= hops:
            continue
        fewest[label.node_id] = hops
        if hops == max_hops:
            continue
        for edge, other in ways.leaving(label.node_id):
            step = label.onward(edge, other, 1.0 - edge.edge.weight)
            order += 1
            heapq.heappush(heap, (step.cost, step.hops, order, step))
    return None, len(fewest)


def get_neighbors(
    reader: GraphReader,
    name: str,
    *,
    depth: int,
    edge_types: Sequence[str],
    direction: str,
    limit: int,
) -> Neighbourhood:
    """Return what lies within `depth` steps of a node: at most `limit` nodes beside it."""
    _check(
        [
            _range_problem(depth, MAX_DEPTH, "$.depth"),
            _range_problem(limit, MAX_EDGES, "$.limit"),
            _direction_problem(direction),
        ]
    )
    start = find_nodes(reader, [name]).get(nfc(name))
    if start is None:
        raise error_for([Missing(reader).problem(name, "$.name")])
    ways = _Ways(reader, direction, edge_types)
    distances: dict[int, int] = {start.id: 0}
    edges: dict[int, EdgeRecord] = {}
    is_cut = _spread(ways, distances, edges, depth, limit)
    nodes = reader.find_nodes_by_id(distances)
    ordered = sorted(distances, key=lambda node_id: (distances[node_id], node_id))
    return Neighbourhood(
        nodes=tuple(nodes[node_id] for node_id in ordered),
        distances={nodes[node_id].name: distances[node_id] for node_id in ordered},
        edges=tuple(edges[edge_id] for edge_id in sorted(edges)),
        is_truncated=is_cut or ways.is_exhausted,
    )


def _spread(
    ways: _Ways, distances: dict[int, int], edges: dict[int, EdgeRecord], depth: int, limit: int
) -> bool:
    """Fill in distances and edges level by level; says whether the limit kept something out."""
    level = list(distances)
    is_cut = False
    for distance in range(1, depth + 1):
        following: list[int] = []
        for node_id in level:
            for edge, other in ways.leaving(node_id):
                if other not in distances:
                    if len(distances) > limit:
                        is_cut = True
                        break
                    distances[other] = distance
                    following.append(other)
                edges[edge.id] = edge
        level = following
    return is_cut


def _ends(reader: GraphReader, from_name: str, to_name: str) -> tuple[NodeRecord, NodeRecord]:
    found = find_nodes(reader, [from_name, to_name])
    missing = Missing(reader)
    _check(
        [
            None if nfc(name) in found else missing.problem(name, path)
            for name, path in ((from_name, "$.from"), (to_name, "$.to"))
        ]
    )
    return found[nfc(from_name)], found[nfc(to_name)]


def _check(problems: Sequence[Problem | None]) -> None:
    real = [problem for problem in problems if problem is not None]
    if real:
        raise error_for(real)


def _range_problem(value: int, most: int, path: str) -> Problem | None:
    if 1 <= value <= most:
        return None
    return invalid(path, f"{path.removeprefix('$.')} must be from 1 to {most}")


def _direction_problem(direction: str) -> Problem | None:
    if direction in _REVERSED:
        return None
    return invalid("$.direction", "direction must be out, in or both")
