"""Random work on a store, held against a plain dictionary that does the same.

The model knows items by the ids the store gave them, keeps one copy per committed transaction and
works out for itself what an undo must do: every item the transaction changed goes back to what it
was, unless something of it has changed since or the result would break a rule.
"""

import copy
import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from schemory.errors import UndoConflictError
from schemory.model.edge import Edge, EdgeChange, EdgeKey, NewEdge
from schemory.model.moment import Clock, IdMaker
from schemory.model.node import NewNode, Node, NodeChange, TypedValue
from schemory.model.text import nfc
from schemory.storage.protocols import (
    Capability,
    GraphStore,
    GraphTransaction,
    KeptLine,
    WriteContext,
)
from schemory.storage.sqlite.store import SqliteStore

WRITE = WriteContext(operation="machine", author="tester")
NASTY = [
    "a",
    "A",
    "é",
    "e\u0301",
    "straße",
    "STRASSE",
    "İstanbul",
    "istanbul",
    "ΣΑΣ",
    "σας",
    "👩‍👩‍👧",
    "שלום",
    "x" * 500,
    "__proto__",
    "中文",
    "'; --",
    '"\\',
    "line\nbreak",
    "%_",
]
Item = TypeVar("Item")
texts = st.sampled_from(list(dict.fromkeys(map(nfc, NASTY))))  # names and types come normalised
lines = st.lists(st.sampled_from([*NASTY, *(f"Key: {text}" for text in NASTY)]), max_size=3)
weights = st.sampled_from([0.0, 0.1, 1 / 3, 1.0])


@dataclass(frozen=True)
class ModelNode:
    node: Node
    typed: tuple[TypedValue, ...] = ()


@dataclass(frozen=True)
class ModelEdge:
    from_id: int
    to_id: int
    edge_type: str
    weight: float
    property_name: str | None


@dataclass
class Model:
    nodes: dict[int, ModelNode] = field(default_factory=dict)
    edges: dict[int, ModelEdge] = field(default_factory=dict)
    kept: dict[int, str] = field(default_factory=dict)

    def parts(self) -> list[Mapping[int, object]]:
        return [self.nodes, self.edges, self.kept]

    def id_of(self, name: str) -> int | None:
        return next((i for i, each in self.nodes.items() if each.node.name == name), None)

    def key(self, edge: ModelEdge) -> EdgeKey:
        start, end = self.nodes[edge.from_id], self.nodes[edge.to_id]
        return EdgeKey(start.node.name, end.node.name, edge.edge_type)

    def triples(self) -> set[EdgeKey]:
        return {self.key(edge) for edge in self.edges.values()}

    def is_lawful(self) -> bool:
        names = [each.node.name for each in self.nodes.values()]
        ends = {end for edge in self.edges.values() for end in (edge.from_id, edge.to_id)}
        if len(set(names)) < len(names) or not ends <= set(self.nodes):
            return False
        if len(set(self.kept.values())) < len(self.kept):
            return False
        return len(self.triples()) == len(self.edges)

    def undone(self, before: "Model", after: "Model") -> "Model | None":
        """Return the state without what led from `before` to `after`, or None for a conflict."""
        result = copy.deepcopy(self)
        for old, new, now in zip(before.parts(), after.parts(), self.parts(), strict=True):
            for item_id in old.keys() | new.keys():
                if old.get(item_id) != new.get(item_id) and now.get(item_id) != new.get(item_id):
                    return None
        _go_back(result.nodes, before.nodes, after.nodes)
        _go_back(result.edges, before.edges, after.edges)
        _go_back(result.kept, before.kept, after.kept)
        return result if result.is_lawful() else None


def _go_back(mine: dict[int, Item], old: dict[int, Item], new: dict[int, Item]) -> None:
    for item_id in old.keys() | new.keys():
        if old.get(item_id) != new.get(item_id):
            mine.pop(item_id, None)
            if item_id in old:
                mine[item_id] = old[item_id]


class Abandoned(Exception):  # noqa: N818 (a test's own)
    pass


class StoreMachine(RuleBasedStateMachine):
    """Rules make one transaction each; its steps are drawn inside."""

    @staticmethod
    def open_store(folder: Path) -> GraphStore:
        raise NotImplementedError(folder)

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="machine-"))
        self.store = self.open_store(self.folder)
        self.has_history = Capability.HISTORY in self.store.capabilities
        self.model = Model()
        self.states = [Model()]  # by ledger number

    # The steps of a transaction

    def act(self, data: st.DataObject, tx: GraphTransaction, model: Model) -> None:
        choices = [self.insert, self.keep]
        if model.nodes:
            choices += [self.update, self.delete, self.link]
        if model.edges:
            choices += [self.relink, self.cut]
        data.draw(st.sampled_from(choices))(data, tx, model)

    def insert(self, data: st.DataObject, tx: GraphTransaction, model: Model) -> None:
        taken = {each.node.name for each in model.nodes.values()}
        names = data.draw(st.lists(texts, unique=True, max_size=3))
        new = [Node(n, data.draw(texts), tuple(data.draw(lines))) for n in names if n not in taken]
        for record in tx.insert_nodes([NewNode(node=node) for node in new]):
            model.nodes[record.id] = ModelNode(record.node)

    def update(self, data: st.DataObject, tx: GraphTransaction, model: Model) -> None:
        node_id = data.draw(st.sampled_from(sorted(model.nodes)))
        old = model.nodes[node_id]
        name = data.draw(texts)
        if model.id_of(name) is not None:
            name = old.node.name
        node = Node(name, data.draw(texts), tuple(data.draw(lines)))
        value = data.draw(st.sampled_from(["x", 1, 1.5, True, None, ["a"]]))
        typed = (TypedValue(property_name="key", line=node.metadata[0], value=value),) \
            if node.metadata else ()  # fmt: skip
        tx.update_nodes(
            [
                NodeChange(
                    id=node_id, name=name, node_type=node.node_type, metadata=node.metadata,
                    typed=typed,
                )
            ]
        )  # fmt: skip
        model.nodes[node_id] = ModelNode(node, typed)

    def delete(self, data: st.DataObject, tx: GraphTransaction, model: Model) -> None:
        ids = data.draw(st.lists(st.sampled_from(sorted(model.nodes)), unique=True, max_size=2))
        gone = {i for i, e in model.edges.items() if {e.from_id, e.to_id} & set(ids)}
        assert tx.delete_nodes(ids) == len(gone)
        model.nodes = {i: each for i, each in model.nodes.items() if i not in ids}
        model.edges = {i: each for i, each in model.edges.items() if i not in gone}

    def link(self, data: st.DataObject, tx: GraphTransaction, model: Model) -> None:
        ends = st.sampled_from(sorted(model.nodes))
        edge = ModelEdge(
            data.draw(ends), data.draw(ends), data.draw(texts), data.draw(weights),
            data.draw(st.sampled_from([None, "friend"])),
        )  # fmt: skip
        if model.key(edge) not in model.triples():
            new = NewEdge(
                edge=Edge(*model.key(edge), edge.weight), property_name=edge.property_name
            )
            (record,) = tx.insert_edges([new])
            model.edges[record.id] = edge

    def relink(self, data: st.DataObject, tx: GraphTransaction, model: Model) -> None:
        edge_id = data.draw(st.sampled_from(sorted(model.edges)))
        old = model.edges[edge_id]
        ends = st.sampled_from(sorted(model.nodes))
        new = ModelEdge(
            data.draw(ends), data.draw(ends), data.draw(texts), data.draw(weights),
            old.property_name,
        )  # fmt: skip
        if model.key(new) in model.triples() - {model.key(old)}:
            return
        tx.update_edges([EdgeChange(id=edge_id, key=model.key(new), weight=new.weight)])
        model.edges[edge_id] = new

    def cut(self, data: st.DataObject, tx: GraphTransaction, model: Model) -> None:
        edge_id = data.draw(st.sampled_from(sorted(model.edges)))
        tx.delete_edges([edge_id])
        del model.edges[edge_id]

    def keep(self, data: st.DataObject, tx: GraphTransaction, model: Model) -> None:
        text = json.dumps({"note": data.draw(texts)}, ensure_ascii=False)
        assert tx.insert_kept([KeptLine(text=text)]) == (text not in set(model.kept.values()))
        for position, line in tx.list_kept(limit=999):
            model.kept.setdefault(position, line.text)

    # Rules: whole transactions

    @rule(data=st.data(), steps=st.integers(1, 4))
    def commit(self, data: st.DataObject, steps: int) -> None:
        def work(tx: GraphTransaction, model: Model) -> None:
            for _ in range(steps):
                self.act(data, tx, model)

        self.transact(work)

    @rule(data=st.data(), outer=st.integers(0, 2), inner=st.integers(1, 3), fails=st.booleans())
    def nest(self, data: st.DataObject, outer: int, inner: int, *, fails: bool) -> None:
        def work(tx: GraphTransaction, model: Model) -> None:
            for _ in range(outer):
                self.act(data, tx, model)
            self.nested(data, tx, model, inner, fails=fails)
            self.act(data, tx, model)

        self.transact(work)

    def nested(
        self, data: st.DataObject, tx: GraphTransaction, model: Model, steps: int, *, fails: bool
    ) -> None:
        before = copy.deepcopy(model)
        try:
            with tx.savepoint():
                for _ in range(steps):
                    self.act(data, tx, model)
                if data.draw(st.booleans()):
                    self.nested(data, tx, model, 1, fails=not fails)
                if fails:
                    raise Abandoned  # noqa: TRY301 (the savepoint has to see it)
        except Abandoned:
            model.nodes, model.edges, model.kept = before.nodes, before.edges, before.kept

    def transact(self, work: Callable[[GraphTransaction, Model], object]) -> None:
        model = copy.deepcopy(self.model)
        with self.store.transaction("default", WRITE) as tx:
            work(tx, model)
        self.model = model
        with self.store.read("default") as reader:
            if reader.last_seq() == len(self.states):
                self.states.append(copy.deepcopy(model))
            else:  # nothing was written
                assert reader.last_seq() == len(self.states) - 1
                assert self.states[-1] == model

    @rule(data=st.data(), steps=st.integers(1, 3))
    def fail(self, data: st.DataObject, steps: int) -> None:
        model = copy.deepcopy(self.model)
        with pytest.raises(Abandoned), self.store.transaction("default", WRITE) as tx:
            for _ in range(steps):
                self.act(data, tx, model)
            raise Abandoned

    @precondition(lambda self: self.has_history and len(self.states) > 1)
    @rule(data=st.data())
    def undo(self, data: st.DataObject) -> None:
        last = len(self.states) - 1
        seq = data.draw(st.integers(max(1, last - 3), last))
        expected = self.model.undone(self.states[seq - 1], self.states[seq])
        if expected is None:
            with pytest.raises(UndoConflictError), self.store.transaction("default", WRITE) as tx:
                tx.undo(seq)
            return

        def work(tx: GraphTransaction, model: Model) -> None:
            tx.undo(seq)
            model.nodes, model.edges, model.kept = expected.nodes, expected.edges, expected.kept

        self.transact(work)

    @rule()
    def reopen(self) -> None:
        if self.store.location != ":memory:":
            self.store.close()
            self.store = self.open_store(self.folder)
            if not self.has_history:
                self.renumber()

    def renumber(self) -> None:
        """Follow a store that numbers its items anew when it opens, in the same order."""
        old = self.model
        with self.store.read("default") as reader:
            nodes = [record.id for record in reader.list_nodes(limit=999)]
            edges = [record.id for record in reader.list_edges(limit=999)]
            kept = [position for position, _ in reader.list_kept(limit=999)]
            last_seq = reader.last_seq()
        now = dict(zip(sorted(old.nodes), nodes, strict=True))
        self.model = Model(
            nodes={now[i]: each for i, each in old.nodes.items()},
            edges={
                new: replace(
                    old.edges[i], from_id=now[old.edges[i].from_id], to_id=now[old.edges[i].to_id]
                )
                for i, new in zip(sorted(old.edges), edges, strict=True)
            },
            kept={new: old.kept[i] for i, new in zip(sorted(old.kept), kept, strict=True)},
        )
        self.states = [Model()] * last_seq + [copy.deepcopy(self.model)]

    # What must hold after each transaction

    @invariant()
    def the_store_holds_what_the_model_holds(self) -> None:
        model = self.model
        with self.store.read("default") as reader:
            stored = {r.id: ModelNode(r.node, r.typed) for r in reader.list_nodes(limit=999)}
            assert stored == model.nodes
            links = {e.id: (e.key, e.edge.weight) for e in reader.list_edges(limit=999)}
            assert links == {i: (model.key(e), e.weight) for i, e in model.edges.items()}
            kept = {position: line.text for position, line in reader.list_kept(limit=999)}
            assert kept == model.kept
            counts = reader.count()
            assert (counts.nodes, counts.edges) == (len(stored), len(links))
            names = [each.node.name for each in model.nodes.values()]
            assert {n: r.id for n, r in reader.find_nodes(NASTY).items()} == {
                name: model.id_of(name) for name in sorted(names, key=NASTY.index)
            }

    @precondition(lambda self: self.has_history)
    @invariant()
    def each_nodes_past_is_what_it_was(self) -> None:
        with self.store.read("default") as reader:
            for node_id, each in list(self.model.nodes.items())[:2]:
                versions = reader.history(each.node.name, limit=500)
                for version in versions:
                    if version.record is not None and version.record.id == node_id:
                        then = self.states[version.seq].nodes[node_id]
                        assert (version.record.node, version.record.typed) == (
                            then.node,
                            then.typed,
                        )
                changed = {
                    seq
                    for seq in range(1, len(self.states))
                    if self.states[seq].nodes.get(node_id)
                    != self.states[seq - 1].nodes.get(node_id)
                }
                assert changed <= {version.seq for version in versions}

    def teardown(self) -> None:
        if isinstance(self.store, SqliteStore):
            assert self.store.find_faults() == ()
        self.store.close()
        shutil.rmtree(self.folder)


@pytest.mark.covers("storage.machine")
def test_random_work_agrees_with_a_plain_dictionary(
    backend: Callable[[Path, Clock, IdMaker], GraphStore], clock: Clock, ids: IdMaker
) -> None:
    class Machine(StoreMachine):
        @staticmethod
        def open_store(folder: Path) -> GraphStore:
            return backend(folder, clock, ids)

    run_state_machine_as_test(Machine, settings=settings(stateful_step_count=20))
