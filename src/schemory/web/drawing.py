"""A drawing of what is around a node: the node in the middle, its neighbours on a circle."""

import math
from collections.abc import Callable, Iterator
from typing import Final

from schemory.graph.results import Neighbourhood
from schemory.model.edge import EdgeRecord
from schemory.model.frozen import dataclass
from schemory.web.markup import Element, el

_WIDTH: Final = 760
_HEIGHT: Final = 520
_RADIUS: Final = 6
_MIDDLE_RADIUS: Final = 10
_LABEL: Final = 22
_ARROW: Final = "arrow"
_ROOM: Final = (250, 215)
"""Half the width and height of the ring; the rest is for names."""


@dataclass(frozen=True, slots=True)
class _Spot:
    x: float
    y: float
    radius: int

    def towards(self, other: "_Spot") -> tuple[float, float]:
        """Return the point on this spot's rim that faces another."""
        length = math.hypot(other.x - self.x, other.y - self.y) or 1.0
        reach = (self.radius + 3) / length
        return self.x + (other.x - self.x) * reach, self.y + (other.y - self.y) * reach


def draw(around: Neighbourhood, address: Callable[[str], str]) -> Element:
    """Return the drawing; every node is a link, and the page's table says the same in words.

    Args:
        around: The node first, then its neighbours.
        address: Where the page of a node of that name is.
    """
    names = [record.name for record in around.nodes]
    spots = dict(zip(names, _spots(len(names)), strict=True))
    kinds = {record.name: record.node.node_type for record in around.nodes}
    return el(
        "svg",
        el(
            "defs",
            el(
                "marker",
                el("path", d="M0 0 8 4 0 8z", class_="arrow"),
                id=_ARROW,
                viewBox="0 0 8 8",
                refX="8",
                refY="4",
                markerWidth="7",
                markerHeight="7",
                orient="auto-start-reverse",
            ),
        ),
        (part for edge in around.edges for part in _edge(edge, spots)),
        (_node(name, kinds[name], spots[name], address(name)) for name in names),
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="group",
        aria_label=f"{len(names) - 1} neighbours of {names[0]}",
        class_="drawing",
    )


def _spots(count: int) -> Iterator[_Spot]:
    """Yield the middle, then places on a ring, clockwise from the top."""
    yield _Spot(_WIDTH / 2, _HEIGHT / 2, _MIDDLE_RADIUS)
    for index in range(count - 1):
        angle = 2 * math.pi * index / (count - 1) - math.pi / 2
        x = _WIDTH / 2 + _ROOM[0] * math.cos(angle)
        y = _HEIGHT / 2 + _ROOM[1] * math.sin(angle)
        yield _Spot(x, y, _RADIUS)


def _edge(record: EdgeRecord, spots: dict[str, _Spot]) -> Iterator[Element]:
    edge = record.edge
    start, end = spots[edge.from_name], spots[edge.to_name]
    if edge.from_name == edge.to_name:
        yield el(
            "circle",
            el("title", _told(record)),
            cx=_at(start.x),
            cy=_at(start.y - start.radius - 8),
            r="8",
            class_="edge",
        )
        return
    (x1, y1), (x2, y2) = start.towards(end), end.towards(start)
    yield el(
        "line",
        el("title", _told(record)),
        x1=_at(x1),
        y1=_at(y1),
        x2=_at(x2),
        y2=_at(y2),
        marker_end=f"url(#{_ARROW})",
        class_="edge",
    )
    # Nearer to the outer end, where edges lie further apart.
    outer, inner = (start, end) if start.radius < end.radius else (end, start)
    yield el(
        "text",
        _short(edge.edge_type),
        x=_at(inner.x + (outer.x - inner.x) * 0.62),
        y=_at(inner.y + (outer.y - inner.y) * 0.62 - 3),
        class_="edge-type",
        text_anchor="middle",
    )


def _node(name: str, kind: str, spot: _Spot, address: str) -> Element:
    is_middle = spot.radius == _MIDDLE_RADIUS
    side = 0 if is_middle or abs(spot.x - _WIDTH / 2) < 1 else spot.x - _WIDTH / 2
    anchor = "middle" if side == 0 else "start" if side > 0 else "end"
    shift = 0 if side == 0 else math.copysign(spot.radius + 5, side)
    below = spot.y > _HEIGHT / 2
    rise = (spot.radius + 14 if below or is_middle else -spot.radius - 6) if side == 0 else 4
    return el(
        "a",
        el("title", f"{name} ({kind})"),
        el("circle", cx=_at(spot.x), cy=_at(spot.y), r=spot.radius),
        el("text", _short(name), x=_at(spot.x + shift), y=_at(spot.y + rise), text_anchor=anchor),
        href=address,
        class_="middle" if is_middle else None,
    )


def _told(record: EdgeRecord) -> str:
    edge = record.edge
    weight = "" if edge.weight == 1 else f", weight {edge.weight:g}"
    return f"{edge.from_name} → {edge.to_name} ({edge.edge_type}{weight})"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LABEL else flat[: _LABEL - 1] + "…"


def _at(value: float) -> str:
    return f"{value:.1f}"
