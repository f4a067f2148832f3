"""Random work on several projects' memory, held against plain dictionaries that do the same."""

import copy
import shutil
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

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

from schemory.errors import InvalidParamError
from schemory.model.entry import Entry, Link, Relation, SourceType, Status
from schemory.model.moment import Clock, IdMaker
from schemory.storage.memory_protocols import (
    EntryFilter,
    IndexTerms,
    MemoryReader,
    MemoryTransaction,
    TermGroup,
)
from schemory.storage.protocols import WriteContext
from schemory.storage.sqlite.memory_scan import has_terms
from schemory.storage.sqlite.store import SqliteStore

WRITE = WriteContext(operation="machine")
PROJECTS = ("p", "q")
WORDS = ["alpha", "beta", "连接池", "src/auth.py", "naïve", "don't", '"', "OR", "\U0001f600", "%_"]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
places = st.sampled_from(["s", "S", "über uns"])
tags = st.sets(st.sampled_from(["a", "b", "ß"]), max_size=2).map(lambda names: tuple(sorted(names)))


@dataclass
class Model:
    """What one project should hold."""

    entries: dict[str, Entry] = field(default_factory=dict)
    links: dict[str, Link] = field(default_factory=dict)

    def parts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        contents = {i: replace(e, revision=1, updated_at="") for i, e in self.entries.items()}
        return contents, self.links


class Abandoned(Exception):  # noqa: N818 (a test's own)
    pass


class MemoryMachine(RuleBasedStateMachine):
    """Rules make one transaction each; its steps are drawn inside."""

    @staticmethod
    def open_store(folder: Path) -> SqliteStore:
        raise NotImplementedError(folder)

    terms: IndexTerms
    is_on_disk: bool

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="machine-"))
        self.store = self.open_store(self.folder)
        self.models = {name: Model() for name in PROJECTS}
        self.states: dict[str, list[Model]] = {name: [Model()] for name in PROJECTS}
        self.made = 0

    # The steps of a transaction

    def act(self, data: st.DataObject, tx: MemoryTransaction, model: Model) -> None:
        choices = [self.insert, self.insert]
        if model.entries:
            choices += [self.update, self.link]
        if model.links:
            choices += [self.unlink]
        data.draw(st.sampled_from(choices))(data, tx, model)

    def insert(self, data: st.DataObject, tx: MemoryTransaction, model: Model) -> None:
        new = [self.entry(data, tx.project_id) for _ in range(data.draw(st.integers(1, 3)))]
        tx.insert_entries(new)
        model.entries |= {entry.id: entry for entry in new}

    def entry(self, data: st.DataObject, project: str) -> Entry:
        self.made += 1
        content = data.draw(texts)
        return Entry(
            id=f"e{self.made:03}",
            project_id=project,
            scope=data.draw(places),
            topic=data.draw(places),
            content=content,
            content_sha256=content,
            source_type=SourceType.AGENT_NOTE,
            created_at=data.draw(st.sampled_from("123")),
            updated_at=data.draw(st.sampled_from("123")),
            title=data.draw(st.none() | texts),
            tags=data.draw(tags),
        )

    def update(self, data: st.DataObject, tx: MemoryTransaction, model: Model) -> None:
        old = model.entries[data.draw(st.sampled_from(sorted(model.entries)))]
        new = replace(
            self.entry(data, tx.project_id),
            id=old.id,
            status=data.draw(st.sampled_from(Status)),
            revision=old.revision + 1,
        )
        tx.update_entries([new])
        model.entries[old.id] = new

    def link(self, data: st.DataObject, tx: MemoryTransaction, model: Model) -> None:
        ends = st.sampled_from(sorted(model.entries))
        self.made += 1
        new = Link(
            id=f"l{self.made:03}",
            source_entry_id=data.draw(ends),
            target_entry_id=data.draw(ends),
            relation=data.draw(st.sampled_from(list(Relation)[:2])),
            created_at="1",
        )
        if _triple(new) not in map(_triple, model.links.values()):
            tx.insert_links([new])
            model.links[new.id] = new

    def unlink(self, data: st.DataObject, tx: MemoryTransaction, model: Model) -> None:
        link_id = data.draw(st.sampled_from(sorted(model.links)))
        tx.delete_links([link_id])
        del model.links[link_id]

    # Rules

    @rule(data=st.data(), project=st.sampled_from(PROJECTS), is_kept=st.booleans())
    def transact(self, data: st.DataObject, project: str, *, is_kept: bool) -> None:
        model = copy.deepcopy(self.models[project])
        try:
            with self.store.memory_transaction(project, WRITE) as tx:
                for _ in range(data.draw(st.integers(1, 3))):
                    self.act(data, tx, model)
                check(tx, model)
                _abandon_unless(is_kept)
        except Abandoned:
            return
        self.settle(project, model)

    def settle(self, project: str, model: Model) -> None:
        """Remember what a transaction left, if the ledger has it."""
        with self.store.read_memory(project) as reader:
            newest = reader.last_seq()
        self.models[project] = model
        if newest == len(self.states[project]):
            self.states[project].append(copy.deepcopy(model))
        assert newest == len(self.states[project]) - 1

    @rule(data=st.data(), project=st.sampled_from(PROJECTS))
    def delete(self, data: st.DataObject, project: str) -> None:
        model = copy.deepcopy(self.models[project])
        if not model.entries:
            return
        choice = st.lists(st.sampled_from(sorted(model.entries)), unique=True, max_size=2)
        ids = data.draw(choice)
        with self.store.memory_transaction(project, WRITE) as tx:
            assert tx.delete_entries(ids) == len(ids)
        for entry_id in ids:
            del model.entries[entry_id]
        model.links = {i: e for i, e in model.links.items() if not set(_triple(e)[:2]) & set(ids)}
        self.settle(project, model)

    @rule(project=st.sampled_from(PROJECTS))
    def undo_the_newest(self, project: str) -> None:
        """Undoing the newest transaction gives the state before it, unless it deleted."""
        states = self.states[project]
        if len(states) < 2:
            return
        before = states[-2]
        if self.has_deleted(project, len(states) - 1):
            with pytest.raises(InvalidParamError, match="was purged"):
                self.undo(project, len(states) - 1)
            return
        self.undo(project, len(states) - 1)
        self.settle(project, self.read(project))
        assert self.models[project].parts() == before.parts()

    def undo(self, project: str, seq: int) -> None:
        with self.store.memory_transaction(project, WRITE) as tx:
            tx.undo(seq)

    def has_deleted(self, project: str, seq: int) -> bool:
        with self.store.read_memory(project) as reader:
            (commit,) = reader.commits(after_seq=seq - 1, limit=1)
        return "entries_purged" in commit.items

    def read(self, project: str) -> Model:
        with self.store.read_memory(project) as reader:
            hits = reader.list_entries(EntryFilter(), limit=1000).hits
            links = reader.list_links(limit=1000)
        return Model({h.entry.id: h.entry for h in hits}, {each.id: each for each in links})

    @precondition(lambda self: self.is_on_disk)
    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = self.open_store(self.folder)

    @rule(project=st.sampled_from(PROJECTS))
    def rebuild(self, project: str) -> None:
        with self.store.memory_transaction(project, WRITE) as tx:
            assert tx.rebuild_index() == len(self.models[project].entries)

    @invariant()
    def each_project_is_as_its_model(self) -> None:
        for name, model in self.models.items():
            with self.store.read_memory(name) as reader:
                check(reader, model)

    @invariant()
    def a_word_finds_what_holds_it(self) -> None:
        words = ("alpha", "auth", "连", "naive")
        for name, model in self.models.items():
            with self.store.read_memory(name) as reader:
                for word in words:
                    group = TermGroup(whole=(word,), is_prefix=word == "连")
                    found = {m.id for m in reader.match([group], EntryFilter(), limit=999).matches}
                    assert found == {
                        entry.id
                        for entry in model.entries.values()
                        if has_terms(entry, self.terms)(word, group.is_prefix)
                    }

    def teardown(self) -> None:
        assert self.store.find_faults() == ()
        self.store.close()
        shutil.rmtree(self.folder)


def check(reader: MemoryReader, model: Model) -> None:
    hits = reader.list_entries(EntryFilter(), limit=1000).hits
    newest_first = sorted(model.entries.values(), key=lambda e: (e.updated_at, e.id))[::-1]
    assert [hit.entry for hit in hits] == newest_first
    assert reader.find_entries(model.entries) == model.entries
    assert reader.list_links(limit=1000) == tuple(model.links[i] for i in sorted(model.links))
    names = reader.list_names("tag", EntryFilter(), limit=100)
    counts: dict[str, int] = {}
    for entry in model.entries.values():
        for tag in entry.tags:
            counts[tag] = counts.get(tag, 0) + 1
    assert {n.name: n.count for n in names} == counts


def _abandon_unless(is_kept: bool) -> None:  # noqa: FBT001 (reads as a sentence)
    if not is_kept:
        raise Abandoned


def _triple(link: Link) -> tuple[str, str, Relation]:
    return link.source_entry_id, link.target_entry_id, link.relation


@pytest.mark.covers("memory.store.machine")
@pytest.mark.parametrize("place", ["memory", "disk"])
def test_random_work_on_memory_agrees_with_plain_dictionaries(
    index_rules: IndexTerms, clock: Clock, ids: IdMaker, place: str
) -> None:
    class Machine(MemoryMachine):
        terms = index_rules
        is_on_disk = place == "disk"

        @staticmethod
        def open_store(folder: Path) -> SqliteStore:
            path: Path | str = folder / "memory.db" if place == "disk" else ":memory:"
            return SqliteStore.open(path, now=clock, ids=ids, terms=index_rules)

    run_state_machine_as_test(Machine, settings=settings(stateful_step_count=15))
