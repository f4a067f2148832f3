"""Every benchmark: `python -m benchmarks`; the parts of memory are called `notes-…`."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks import graph, memory
from benchmarks.comparing import common_arguments, report
from benchmarks.measure import Figure

_PREFIX = "notes-"
PARTS = (*graph.PARTS, *(_PREFIX + part for part in memory.PARTS))


def figures(folder: Path, given: argparse.Namespace) -> Iterator[Figure]:
    """Yield the figures of the chosen parts of both halves."""
    chosen = given.only or PARTS
    of_graph = [part for part in chosen if not part.startswith(_PREFIX)]
    of_memory = [part.removeprefix(_PREFIX) for part in chosen if part.startswith(_PREFIX)]
    if of_graph:
        yield from graph.figures(_made(folder / "graph"), given.nodes, of_graph)
    if of_memory:
        place = _made(folder / "memory")
        yield from memory.figures(place, given.entries, given.foreign, of_memory)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def main() -> int:
    """Run the benchmarks and print one table; 1 = a goal was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    graph.add_arguments(parser)
    memory.add_arguments(parser)
    common_arguments(parser, PARTS)
    return report(parser.parse_args(), figures)


if __name__ == "__main__":
    sys.exit(main())
