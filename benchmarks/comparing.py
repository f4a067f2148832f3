"""What both halves' benchmarks share: writes by turns with the raw engine, growth, and the run."""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import apsw
from benchmarks import raw
from benchmarks.measure import Figure, as_json, by_turns, ratio, table

from schemory.storage.sqlite.store import SqliteStore

OpenStore = Callable[[Path], SqliteStore]
Parts = Mapping[str, Callable[[], Iterator[Figure]]]

WRITES = 200
_GOAL = 1.5


def take(steps: Iterator[object]) -> None:
    """Do one step."""
    next(steps)


def against_raw(
    name: str,
    open_store: OpenStore,
    write: Callable[[SqliteStore], Iterator[None]],
    base: Path,
    folder: Path,
    *,
    note: str,
    clock: Callable[[], float] = time.perf_counter,
    apart: float = 0.0,
) -> Figure:
    """Return what each step of `write`, a transaction each, takes against its rows written bare.

    Args:
        name: Of the figure.
        open_store: Opens a store as the product does.
        write: Yields after each of `WRITES` + 2 transactions; what it does before counts as well.
        base: The store to begin from.
        folder: Where copies of it may lie.
        note: Of the figure.
        clock: Wall time, or processor time.
        apart: Milliseconds of a step that have a figure of their own and do not count.
    """
    ours, bare, told = (Path(shutil.copy(base, folder / f"add-{i}.db")) for i in range(3))
    with raw.recording() as recorder, closing(open_store(told)) as store:
        recorder.transactions.clear()
        for _ in write(store):
            pass
    with closing(open_store(ours)) as store, closing(raw.connect(bare)) as db:
        steps = write(store)
        bare_step = partial(_replay_next, db, iter(recorder.transactions))
        took, plain = by_turns(partial(take, steps), bare_step, WRITES, clock)
    return ratio(name, took - apart, plain, _GOAL, note)


def _replay_next(db: apsw.Connection, written: Iterator[raw.Transaction]) -> None:
    raw.replay(db, next(written))


def growing(
    stores: Mapping[int, Path],
    folder: Path,
    open_store: OpenStore,
    costs_of: Callable[[SqliteStore, int], Mapping[str, float]],
    things: str,
) -> Iterator[Figure]:
    """Yield how the cost of each verb grows from the smallest store to the largest.

    Args:
        stores: By how much they hold.
        folder: Where copies of them may lie.
        open_store: Opens a store as the product does.
        costs_of: Returns what each verb takes in a store that holds so much, in milliseconds.
        things: What a store holds, for the notes.
    """
    costs: dict[str, dict[int, float]] = {}
    for number, path in stores.items():
        copied = Path(shutil.copy(path, folder / f"growth-{number}.db"))
        with closing(open_store(copied)) as store:
            for verb, took in costs_of(store, number).items():
                costs.setdefault(verb, {})[number] = took
        copied.unlink()
    for verb, by_size in costs.items():
        sizes = sorted(by_size)
        note = ", ".join(f"{size:,} {things}: {by_size[size]:.3g} ms" for size in sizes)
        yield Figure(
            name=f"growth of {verb}",
            ours=by_size[sizes[-1]],
            raw=by_size[sizes[0]],
            value=by_size[sizes[-1]] / by_size[sizes[0]],
            goal=2.0,
            note=f"raw column = the smallest store; {note}",
        )


def say(text: str) -> None:
    """Tell whoever waits what goes on."""
    print(f"... {text}", file=sys.stderr, flush=True)


def measured(parts: Parts, chosen: Sequence[str]) -> Iterator[Figure]:
    """Yield the figures of the chosen parts, telling each as it is known."""
    for part in chosen:
        for figure in parts[part]():
            say(f"{part}: {figure.name}: {figure.value:.3g} {figure.value_unit}")
            yield figure


def common_arguments(parser: argparse.ArgumentParser, parts: Sequence[str]) -> None:
    """Add what every benchmark understands."""
    parser.add_argument("--only", action="append", choices=parts, help="a part; repeatable")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--folder", type=Path, help="where to work; default: a temporary folder")


def report(
    given: argparse.Namespace, figures: Callable[[Path, argparse.Namespace], Iterator[Figure]]
) -> int:
    """Measure in a temporary folder, print the table and return 1 when a goal was missed."""
    with tempfile.TemporaryDirectory(dir=given.folder, prefix="schemory-bench-") as folder:
        found = list(figures(Path(folder), given))
    print(as_json(found) if given.json else table(found))
    return int(any(figure.is_met is False for figure in found))
