"""The graph against a plain dictionary model: whatever is called, both hold the same."""

import itertools
from datetime import UTC, datetime
from typing import TypeAlias

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from schemory.errors import SchemoryError
from schemory.graph.inputs import EdgeInput, EdgeUpdate, MetadataItem, NodeInput, NodeUpdate
from schemory.graph.service import KnowledgeGraph
from schemory.model.edge import EdgeKey
from schemory.schemas.catalog import SchemaCatalog
from schemory.storage.sqlite.store import SqliteStore

NAMES = ("a", "A", "ß", "İ", "e\u0301", "中", "__proto__", "👩‍👩‍👧", "ש", "x" * 500)
NFC = {name: "\u00e9" if name == "e\u0301" else name for name in NAMES}
LINES = ("Role: Wizard", "free", "a: b: c", "", "Friend: a")
Triple: TypeAlias = tuple[str, str, str]

names = st.sampled_from(NAMES)
some_names = st.lists(names, min_size=1, max_size=3)
kinds = st.sampled_from(["npc", "place"])
edge_types = st.sampled_from(["e", "f"])
some_lines = st.lists(st.sampled_from(LINES), max_size=3)
triples = st.tuples(names, names, edge_types)
weights = st.sampled_from([0.0, 0.25, 0.5, 1.0])
moves = st.tuples(triples, st.none() | names, st.none() | names, st.none() | edge_types)


class GraphMachine(RuleBasedStateMachine):
    """Calls verbs with all sorts of input; the model says what may succeed and what then holds."""

    def __init__(self) -> None:
        super().__init__()
        numbers = itertools.count()
        self.store = SqliteStore.open(
            ":memory:", now=lambda: datetime(2026, 3, 8, tzinfo=UTC), ids=lambda: str(next(numbers))
        )
        self.graph = KnowledgeGraph(self.store, space="default", catalog=SchemaCatalog())
        self.nodes: dict[str, tuple[str, list[str]]] = {}
        self.edges: dict[Triple, float] = {}

    def teardown(self) -> None:
        self.store.close()

    def expect(self, *, is_fine: bool) -> "pytest.RaisesExc[SchemoryError] | _Fine":
        return _Fine() if is_fine else pytest.raises(SchemoryError)

    @rule(given=st.lists(st.tuples(names, kinds, some_lines), min_size=1, max_size=3))
    def add_nodes(self, given: list[tuple[str, str, list[str]]]) -> None:
        found = [NFC[name] for name, _, _ in given]
        is_fine = len(set(found)) == len(found) and not set(found) & set(self.nodes)
        with self.expect(is_fine=is_fine):
            self.graph.add_nodes([NodeInput(n, kind, tuple(lines)) for n, kind, lines in given])
        if is_fine:
            self.nodes |= {NFC[name]: (kind, list(lines)) for name, kind, lines in given}

    @rule(name=names, kind=st.none() | kinds, lines=st.none() | some_lines)
    def update_node(self, name: str, kind: str | None, lines: list[str] | None) -> None:
        is_fine = NFC[name] in self.nodes and (kind is not None or lines is not None)
        update = NodeUpdate(
            name=name, node_type=kind, metadata=None if lines is None else tuple(lines)
        )
        with self.expect(is_fine=is_fine):
            self.graph.update_nodes([update])
        if is_fine:
            old_kind, old_lines = self.nodes[NFC[name]]
            self.nodes[NFC[name]] = (kind or old_kind, old_lines if lines is None else list(lines))

    @rule(given=some_names)
    def delete_nodes(self, given: list[str]) -> None:
        found = [NFC[name] for name in given]
        is_fine = len(set(found)) == len(found) and bool(set(found) & set(self.nodes))
        with self.expect(is_fine=is_fine):
            self.graph.delete_nodes(given)
        if is_fine:
            gone = set(found)
            self.nodes = {n: value for n, value in self.nodes.items() if n not in gone}
            self.edges = {t: w for t, w in self.edges.items() if not gone & set(t[:2])}

    @rule(given=st.lists(st.tuples(triples, st.none() | weights), min_size=1, max_size=3))
    def add_edges(self, given: list[tuple[Triple, float | None]]) -> None:
        found = [(NFC[f], NFC[t], kind) for (f, t, kind), _ in given]
        is_fine = (
            len(set(found)) == len(found)
            and not set(found) & set(self.edges)
            and all({f, t} <= set(self.nodes) for f, t, _ in found)
        )
        with self.expect(is_fine=is_fine):
            self.graph.add_edges([EdgeInput(*triple, weight) for triple, weight in given])
        if is_fine:
            own = (1.0 if weight is None else weight for _, weight in given)
            self.edges |= dict(zip(found, own, strict=True))

    @rule(given=st.lists(moves, min_size=1, max_size=4))
    def move_edges(self, given: list[tuple[Triple, str | None, str | None, str | None]]) -> None:
        keys = [(NFC[f], NFC[t], kind) for (f, t, kind), *_ in given]
        goals = [
            (NFC[new_from or f], NFC[new_to or t], new_kind or kind)
            for (f, t, kind), new_from, new_to, new_kind in given
        ]
        updates = [
            EdgeUpdate(
                from_name=f,
                to_name=t,
                edge_type=kind,
                new_from=new_from,
                new_to=new_to,
                new_edge_type=new_kind,
            )
            for (f, t, kind), new_from, new_to, new_kind in given
        ]
        left = {key: weight for key, weight in self.edges.items() if key not in keys}
        is_fine = (
            len(set(keys)) == len(keys)
            and all(key in self.edges for key in keys)
            and all(key != goal for key, goal in zip(keys, goals, strict=True))
            and all({f, t} <= set(self.nodes) for f, t, _ in goals)
            and len(set(goals)) == len(goals)
            and not set(goals) & set(left)
            and not has_round(dict(zip(keys, goals, strict=True)))
        )
        with self.expect(is_fine=is_fine):
            self.graph.update_edges(updates)
        if is_fine:
            moved = {goal: self.edges[key] for key, goal in zip(keys, goals, strict=True)}
            self.edges = left | moved

    @rule(triple=triples, weight=weights, is_set=st.booleans())
    def weigh_edge(self, triple: Triple, weight: float, *, is_set: bool) -> None:
        key = (NFC[triple[0]], NFC[triple[1]], triple[2])
        update = EdgeUpdate(
            from_name=triple[0],
            to_name=triple[1],
            edge_type=triple[2],
            weight=weight,
            weight_mode="set" if is_set else "blend",
        )
        is_fine = key in self.edges
        with self.expect(is_fine=is_fine):
            self.graph.update_edges([update])
        if is_fine:
            # Halves of powers of two are exact, so no rounding can differ.
            self.edges[key] = weight if is_set else (self.edges[key] + weight) / 2
            if not is_set:
                self.edges[key] = float(f"{self.edges[key]:.12g}")

    @rule(given=st.lists(triples, min_size=1, max_size=3))
    def delete_edges(self, given: list[Triple]) -> None:
        keys = [(NFC[f], NFC[t], kind) for f, t, kind in given]
        is_fine = len(set(keys)) == len(keys) and bool(set(keys) & set(self.edges))
        with self.expect(is_fine=is_fine):
            self.graph.delete_edges([EdgeKey(*triple) for triple in given])
        if is_fine:
            self.edges = {t: w for t, w in self.edges.items() if t not in keys}

    @rule(name=names, lines=some_lines, is_add=st.booleans())
    def change_lines(self, name: str, lines: list[str], *, is_add: bool) -> None:
        is_fine = NFC[name] in self.nodes and bool(lines)
        with self.expect(is_fine=is_fine):
            item = MetadataItem(name, tuple(lines))
            if is_add:
                self.graph.add_metadata([item])
            else:
                self.graph.delete_metadata([item])
        if is_fine:
            kind, old = self.nodes[NFC[name]]
            kept = [line for line in old if line not in lines]
            added = [line for line in dict.fromkeys(lines) if line not in old]
            self.nodes[NFC[name]] = (kind, old + added if is_add else kept)

    @rule(name=names, new_name=names)
    def rename(self, name: str, new_name: str) -> None:
        old, new = NFC[name], NFC[new_name]
        is_fine = old in self.nodes and new not in self.nodes
        with self.expect(is_fine=is_fine):
            self.graph.rename_node(name, new_name)
        if is_fine:
            self.nodes = {new if n == old else n: value for n, value in self.nodes.items()}
            self.edges = {
                (new if f == old else f, new if t == old else t, kind): weight
                for (f, t, kind), weight in self.edges.items()
            }

    @rule(name=names, into=names)
    def merge(self, name: str, into: str) -> None:
        gone, kept = NFC[name], NFC[into]
        is_fine = gone != kept and {gone, kept} <= set(self.nodes)
        with self.expect(is_fine=is_fine):
            self.graph.merge_nodes(name, into)
        if not is_fine:
            return
        kind, lines = self.nodes[kept]
        _, other = self.nodes.pop(gone)
        self.nodes[kept] = (kind, list(dict.fromkeys([*lines, *other])))
        edges: dict[Triple, float] = {}
        for (f, t, edge_type), weight in self.edges.items():
            if {f, t} == {gone, kept}:
                continue
            key = (kept if f == gone else f, kept if t == gone else t, edge_type)
            edges[key] = max(weight, edges.get(key, 0.0))
        self.edges = edges

    @rule(given=some_names)
    def fail_in_a_transaction(self, given: list[str]) -> None:
        with pytest.raises(SchemoryError), self.graph.transaction():
            fresh = [n for n in dict.fromkeys(given) if NFC[n] not in self.nodes]
            if fresh:
                self.graph.add_nodes([NodeInput(name, "x") for name in fresh])
            if self.nodes:
                self.graph.delete_nodes(list(self.nodes))
            self.graph.add_edges([EdgeInput("nobody", "nobody", "e")])

    @rule(given=some_names)
    def fail_in_a_savepoint(self, given: list[str]) -> None:
        with self.graph.transaction():
            with pytest.raises(SchemoryError), self.graph.transaction():
                if self.nodes:
                    self.graph.delete_nodes(list(self.nodes))
                self.graph.add_edges([EdgeInput("nobody", "nobody", "e")])
            for name in given:
                if NFC[name] not in self.nodes:
                    self.graph.add_nodes([NodeInput(name, "x")])
                    self.nodes[NFC[name]] = ("x", [])

    @invariant()
    def both_hold_the_same(self) -> None:
        page = self.graph.read_graph()
        assert {r.name: (r.node.node_type, list(r.node.metadata)) for r in page.nodes} == self.nodes
        assert {(*r.key,): r.edge.weight for r in page.edges} == self.edges
        assert [r.id for r in page.nodes] == sorted(r.id for r in page.nodes)
        for name in NAMES:
            assert (NFC[name] in self.nodes) == (self.graph.open_nodes([name]).not_found == ())


class _Fine:
    """A block that must not fail."""

    def __enter__(self) -> None:
        return

    def __exit__(self, *_: object) -> None:
        return


def has_round(steps: dict[Triple, Triple]) -> bool:
    """Whether some of the moves go round in a circle; goals are distinct, so a walk tells."""
    for start, key in steps.items():
        goal = key
        while goal in steps and goal != start:
            goal = steps[goal]
            if goal == key:
                break
        if goal == start:
            return True
    return False


TestGraphMachine = pytest.mark.covers("graph.machine")(GraphMachine.TestCase)
TestGraphMachine.settings = settings(stateful_step_count=30)
