"""The knowledge graph against the raw engine: `python -m benchmarks.graph [--nodes N] [--json]`."""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import count, islice
from pathlib import Path
from statistics import median

import apsw
from benchmarks import comparing, made, processes, raw, server, startup
from benchmarks.comparing import (
    Parts,
    against_raw,
    common_arguments,
    growing,
    measured,
    report,
    say,
)
from benchmarks.measure import Figure, by_turns, median_of, once, ratio

from schemory.graph.inputs import NodeInput
from schemory.graph.results import PageOptions, Room
from schemory.model.edge import EdgeRecord
from schemory.model.jsonvalue import Json, compact
from schemory.model.node import NodeRecord
from schemory.model.text import fold
from schemory.safety.secrets import find_secrets
from schemory.storage.protocols import SearchQuery
from schemory.storage.sqlite.index_text import grams_of, lines_text, match_all, name_text
from schemory.storage.sqlite.store import SqliteStore
from schemory.tools.wire import edge_text, node_text
from schemory.transfer.importer import import_graph

HUB = "The Hub of Everything"
BUDGET = 60_000
RARE = "quokkazephyr"
_ROUNDS = 40
_LOADS = 3
_LINES_FROM = 1 << 40


def newcomer(number: int) -> NodeInput:
    """Return a node that no store has yet."""
    lines = ("Role: Keeper of the gate", "Status: Active", f"Description: {'word ' * 18}{number}")
    return NodeInput(f"Newcomer {number} of the benchmark", "npc", lines)


# One write


def adding(base: Path, folder: Path) -> Iterator[Figure]:
    """Measure one added node per transaction against the same rows written bare."""

    def write(store: SqliteStore) -> Iterator[None]:
        graph = made.graph_of(store)
        for number in range(comparing.WRITES + 2):
            graph.add_nodes([newcomer(number)])
            yield

    note = "index text and secret scan are included"
    yield against_raw("add one node, FULL, p50", made.open_store, write, base, folder, note=note)
    node = newcomer(1)
    derive = median_of(lambda: (name_text(node.name), lines_text(node.metadata)), 200)
    text = "\n".join(node.metadata)
    scan = median_of(lambda: find_secrets(text, precise_only=True), 200)
    yield Figure(name="… of it: index text", ours=derive, value=derive, value_unit="ms")
    yield Figure(name="… of it: secret scan", ours=scan, value=scan, value_unit="ms")


# Many writes


def loading(folder: Path, nodes: int) -> Iterator[Figure]:
    """Measure the import of a graph file against the same rows loaded bare."""
    file = folder / "import.jsonl"
    _write_file(file, nodes)
    with raw.recording() as recorder, closing(_store_for_load(folder / "load-told.db")) as store:
        recorder.transactions.clear()
        import_graph(store, made.SPACE, file)
    ready = list(made.nodes(nodes))
    joined = list(made.edges(ready, None, 0))
    times = [
        _load_once(folder, number, file, recorder, lambda store: made.load(store, ready, joined))
        for number in range(_LOADS)
    ]
    took, took_bare, took_values = (median(each) for each in zip(*times, strict=True))
    size = f"{nodes:,} nodes, {3 * nodes:,} edges"
    note = "CPU; parsing, checks, index text and the secret scan are included"
    yield ratio(f"import a file of {size}", took, took_bare, 2.0, note)
    note = "CPU; ready values through the store's verbs, making rows and index text included"
    yield ratio("… of it: the store alone", took_values, took_bare, None, note)


def _store_for_load(path: Path) -> SqliteStore:
    store = made.open_store(path)
    made.graph_of(store).add_nodes([newcomer(0)])
    return store


def _load_once(
    folder: Path,
    number: int,
    file: Path,
    recorder: raw.Recorder,
    fill: Callable[[SqliteStore], None],
) -> tuple[float, float, float]:
    """Return what an import, the bare rows and the store's verbs took, each on a new file."""
    ours, bare, values = (folder / f"load-{number}-{kind}.db" for kind in ("o", "b", "v"))
    with closing(_store_for_load(ours)) as store:
        took = once(lambda: import_graph(store, made.SPACE, file), time.process_time)
    _store_for_load(bare).close()
    with closing(raw.connect(bare)) as db:
        took_bare = once(raw.load(db, recorder.transactions), time.process_time)
    with closing(_store_for_load(values)) as store:
        took_values = once(lambda: fill(store), time.process_time)
    return took, took_bare, took_values


def _write_file(file: Path, number: int) -> None:
    nodes = list(made.nodes(number))
    with file.open("w", encoding="utf-8") as out:
        for node in nodes:
            line: dict[str, Json] = {
                "type": "node",
                "name": node.name,
                "nodeType": node.node_type,
                "metadata": node.metadata,
            }
            out.write(compact(line) + "\n")
        for edge in made.edges(nodes, None, 0):
            line = {
                "type": "edge",
                "from": edge.from_name,
                "to": edge.to_name,
                "edgeType": edge.edge_type,
                "weight": 1,
            }
            out.write(compact(line) + "\n")


# Searching

_PAGE_SQL = """
SELECT n.* FROM node_index_1 AS i CROSS JOIN graph_nodes AS n
WHERE i.node_index_1 MATCH ? AND n.id = i.rowid & 1099511627775
ORDER BY i.rowid LIMIT 50
"""
_RANKED_SQL = """
SELECT n.id, n.name, n.metadata FROM node_index_1 AS i CROSS JOIN node AS n
WHERE i.node_index_1 MATCH ? AND n.id = i.rowid & 1099511627775
ORDER BY i.rowid LIMIT 1001
"""


def searching(store_path: Path) -> Iterator[Figure]:
    """Measure the first 50 matches of a rare and a common text against bare statements."""
    with closing(made.open_store(store_path)) as store, closing(raw.connect(store_path)) as db:
        for name, text in (("rare", RARE), ("common", made.COMMON)):
            term = fold(text)
            asked = (match_all(grams_of(term)),)
            ours = partial(_search, store, SearchQuery(terms=(term,)))
            bare = partial(_fetch, db, [(_PAGE_SQL, asked)])
            times = by_turns(ours, bare, _ROUNDS, time.process_time)
            note = "CPU; the first 50 rows of the postings, unverified"
            if name == "rare":
                yield ratio("search, rare text", *times, 2.0, note)
            else:
                yield from _ranked(ours, db, asked)
                note += "; no answer to which order the listing is in"
                yield ratio("… vs one page of it", *times, None, note)
        graph = made.graph_of(store)
        for name, text in (("rare", RARE), ("common", made.COMMON), ("absent", "xyzzyqq")):
            took = median_of(partial(graph.search_nodes, text, _page_options()), _ROUNDS)
            note = "search_nodes as a tool calls it: matches, neighbours, edges within the budget"
            yield Figure(
                name=f"search_nodes, {name}", ours=took, value=took, value_unit="ms", note=note
            )


def _ranked(ours: Callable[[], object], db: apsw.Connection, asked: tuple[str]) -> Iterator[Figure]:
    bare = partial(_fetch, db, [(_RANKED_SQL, asked), (_PAGE_SQL, asked)])
    took, took_bare = by_turns(ours, bare, _ROUNDS, time.process_time)
    note = "CPU; up to 1,001 candidates, which decide whether the answer is ranked, then 50 rows"
    yield ratio("search, common text, vs the same", took, took_bare, 2.0, note)
    yield Figure(name="search, common text, CPU", ours=took, value=took, value_unit="ms", goal=10.0)


def _search(store: SqliteStore, query: SearchQuery) -> object:
    with store.read(made.SPACE) as reader:
        return reader.search(query, after=None, limit=50)


def _fetch(
    db: apsw.Connection, statements: Sequence[tuple[str, Sequence[int | str]]]
) -> list[object]:
    db.execute("BEGIN")
    rows = [row for sql, bound in statements for row in db.execute(sql, bound)]
    db.execute("COMMIT")
    return list(rows)


def _fetch_json(
    db: apsw.Connection, statements: Sequence[tuple[str, Sequence[int | str]]]
) -> list[int]:
    return [len(compact(row).encode()) for row in _fetch(db, statements)]


# Opening

_NODE_SQL = "SELECT * FROM graph_nodes WHERE project = 1 AND name = ?"
_AROUND_SQL = """
SELECT * FROM graph_nodes WHERE project = 1 AND id IN (
  SELECT to_id FROM edge INDEXED BY edge_by_triple WHERE project = 1 AND from_id = ?1
  UNION SELECT from_id FROM edge INDEXED BY edge_by_to WHERE project = 1 AND to_id = ?1
  ORDER BY 1 LIMIT ?2)
"""
_TOUCHING_SQL = """
SELECT * FROM graph_edges WHERE project = 1 AND id IN (
  SELECT id FROM (SELECT id FROM edge INDEXED BY edge_by_triple
                  WHERE project = 1 AND from_id = ?1 ORDER BY to_id LIMIT ?2)
  UNION ALL
  SELECT id FROM (SELECT id FROM edge INDEXED BY edge_by_to
                  WHERE project = 1 AND to_id = ?1 ORDER BY from_id LIMIT ?2))
"""


def opening(store_path: Path, names: Sequence[str]) -> Iterator[Figure]:
    """Measure opened nodes with their neighbourhood against bare statements."""
    with closing(made.open_store(store_path)) as store, closing(raw.connect(store_path)) as db:
        graph = made.graph_of(store)
        ids = {name: _node_id(db, name) for name in (*names, HUB)}
        turn = {"ours": count(), "raw": count()}

        def next_name(who: str) -> str:
            return names[next(turn[who]) % len(names)]

        def bare() -> object:
            name = next_name("raw")
            return _fetch(db, _open_statements(name, ids[name], 1000))

        times = by_turns(
            lambda: graph.open_nodes([next_name("ours")], _page_options()),
            bare,
            5 * _ROUNDS,
            time.process_time,
        )
        yield ratio("open a node", *times, 2.0, "CPU; with all its neighbours and edges")
        shown = len(graph.open_nodes([HUB], _page_options()).nodes) - 1
        statements = _open_statements(HUB, ids[HUB], shown)
        ours = partial(graph.open_nodes, [HUB], _page_options())
        times = by_turns(ours, partial(_fetch, db, statements), _ROUNDS, time.process_time)
        degree = len(db.execute("SELECT 1 FROM edge WHERE from_id = ?", (ids[HUB],)).fetchall())
        note = f"CPU; a page of {shown} neighbours within {BUDGET:,} bytes, LIMIT {shown} bare"
        yield ratio(f"open a hub of {degree:,} edges", *times, 2.0, note)
        bare_json = partial(_fetch_json, db, statements)
        times = by_turns(ours, bare_json, _ROUNDS, time.process_time)
        note = "CPU; the page ends by its size in JSON, so the bare rows are made JSON too"
        yield ratio("… vs the rows as JSON", *times, None, note)


def _open_statements(name: str, node_id: int, limit: int) -> list[tuple[str, Sequence[int | str]]]:
    return [
        (_NODE_SQL, (name,)),
        (_AROUND_SQL, (node_id, limit)),
        (_TOUCHING_SQL, (node_id, limit)),
    ]


def _node_id(db: apsw.Connection, name: str) -> int:
    return int(db.execute("SELECT id FROM node WHERE project = 1 AND name = ?", (name,)).get)


def _page_options() -> PageOptions:
    return PageOptions(room=Room(max_bytes=BUDGET, size_of=_size_of))


def _size_of(record: NodeRecord | EdgeRecord) -> int:
    text = edge_text(record) if isinstance(record, EdgeRecord) else node_text(record)
    return len(text.encode()) + 1


# Growth


def _costs(store: SqliteStore, nodes: int) -> dict[str, float]:
    graph = made.graph_of(store)
    numbers = count()
    names = [node.name for node in islice(made.nodes(nodes), nodes // 2, nodes // 2 + 50)]
    turns = count()
    verbs: dict[str, Callable[[], object]] = {
        "add_nodes": lambda: graph.add_nodes([newcomer(next(numbers))]),
        "open_nodes": lambda: graph.open_nodes([names[next(turns) % len(names)]], _page_options()),
        "search_nodes, rare": lambda: graph.search_nodes(RARE, _page_options()),
    }
    return {verb: median_of(work, 3 * _ROUNDS) for verb, work in verbs.items()}


# Everything


def make_stores(folder: Path, nodes: int) -> dict[int, Path]:
    """Fill three stores, each ten times the size of the one before."""
    stores: dict[int, Path] = {}
    for size in (nodes // 100, nodes // 10, nodes):
        say(f"filling a store of {size:,} nodes and {3 * size:,} edges")
        stores[size] = folder / f"store-{size}.db"
        with closing(made.open_store(stores[size])) as store:
            made.fill(store, size, hub=HUB, hub_edges=size // 2)
            made.graph_of(store).add_nodes([NodeInput(f"The {RARE} of old", "npc")])
    return stores


PARTS = ("write", "import", "search", "open", "growth", "processes", "memory", "startup")


def figures(folder: Path, nodes: int, chosen: Sequence[str]) -> Iterator[Figure]:
    """Yield the figures of some parts, as they are measured."""
    nodes = max(1000, nodes)
    stores = make_stores(folder, nodes)
    largest = stores[max(stores)]
    names = [node.name for node in islice(made.nodes(max(stores)), 500, 600)]
    parts: Parts = {
        "write": lambda: adding(largest, folder),
        "import": lambda: loading(folder, nodes // 5),
        "search": lambda: searching(largest),
        "open": lambda: opening(largest, names),
        "growth": lambda: growing(stores, folder, made.open_store, _costs, "nodes"),
        "processes": lambda: processes.writing(folder),
        "memory": lambda: server.remembering(largest, HUB, RARE),
        "startup": lambda: startup.starting(folder),
    }
    yield from measured(parts, chosen)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this benchmark alone understands."""
    parser.add_argument("--nodes", type=int, default=100_000, help="nodes of the largest graph")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its table; 1 = a goal was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.graph", description=__doc__)
    add_arguments(parser)
    common_arguments(parser, PARTS)
    return report(
        parser.parse_args(arguments),
        lambda folder, given: figures(folder, given.nodes, given.only or PARTS),
    )


if __name__ == "__main__":
    sys.exit(main())
