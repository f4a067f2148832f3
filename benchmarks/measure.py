"""Take times fairly, and say them as ratios: ours and the raw engine by turns, in the same run."""

import gc
import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured thing beside its goal.

    Attributes:
        ours: What the product needed.
        raw: What the bare engine needed for the same rows; None = no comparison.
        unit: Of both, `ms` where nothing else is said.
        value: What the goal speaks of: the ratio of both, a growth, megabytes.
        goal: The most (or with `is_least` the least) that `value` should be; None = only told.
    """

    name: str
    ours: float
    value: float
    raw: float | None = None
    unit: str = "ms"
    value_unit: str = "x"
    goal: float | None = None
    is_least: bool = False
    note: str = ""

    @property
    def is_met(self) -> bool | None:
        """Whether the goal is reached; None without one."""
        if self.goal is None:
            return None
        return self.value >= self.goal if self.is_least else self.value <= self.goal


def ratio(name: str, ours: float, raw: float, goal: float | None, note: str = "") -> Figure:
    """Return a figure whose value is `ours / raw`, both in milliseconds."""
    return Figure(name=name, ours=ours, raw=raw, value=ours / raw, goal=goal, note=note)


def by_turns(
    ours: Callable[[], object],
    raw: Callable[[], object],
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[float, float]:
    """Run both by turns and return the median of each, in milliseconds."""
    times: tuple[list[float], list[float]] = ([], [])
    gc.collect()
    for i in range(rounds + 2):
        for taken, work in zip(times, (ours, raw), strict=True):
            begin = clock()
            work()
            spent = clock() - begin
            if i >= 2:  # noqa: PLR2004 (the first two warm up)
                taken.append(spent * 1000)
    return statistics.median(times[0]), statistics.median(times[1])


def median_of(work: Callable[[], object], rounds: int) -> float:
    """Return the median time of `work`, in milliseconds."""
    ours, _ = by_turns(work, lambda: None, rounds)
    return ours


def once(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return how long `work` takes, in milliseconds."""
    gc.collect()
    begin = clock()
    work()
    return (clock() - begin) * 1000


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` of all lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def table(figures: Sequence[Figure]) -> str:
    """Return the figures as a Markdown table."""
    head = ("what", "ours", "raw engine", "measured", "goal", "")
    rows: list[tuple[str, ...]] = [head, *map(_cells, figures)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    notes = [f"- {figure.name}: {figure.note}" for figure in figures if figure.note]
    return "\n".join([*lines, "", *notes])


def _cells(figure: Figure) -> tuple[str, ...]:
    raw = "" if figure.raw is None else f"{_short(figure.raw)} {figure.unit}"
    sign = "≥" if figure.is_least else "≤"
    goal = "" if figure.goal is None else f"{sign} {_short(figure.goal)} {figure.value_unit}"
    met = {True: "met", False: "MISSED", None: ""}[figure.is_met]
    value = f"{_short(figure.value)} {figure.value_unit}"
    return figure.name, f"{_short(figure.ours)} {figure.unit}", raw, value, goal, met


def _short(value: float) -> str:
    if value >= 1000 or value == int(value):  # noqa: PLR2004 (no fractions of what is large)
        return f"{value:,.0f}"
    return f"{value:.3g}"


def as_json(figures: Sequence[Figure]) -> str:
    """Return the figures as a JSON array."""
    rows = [{**asdict(figure), "met": figure.is_met} for figure in figures]
    return json.dumps(rows, indent=2, ensure_ascii=False)
