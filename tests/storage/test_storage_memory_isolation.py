"""No project ever sees another's bytes: random work on many, every answer looked through."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from schemory.errors import SchemoryError
from schemory.model.entry import AuditRow, Entry, Link, Project, Relation, Status, Tag
from schemory.storage.memory_protocols import (
    EntryFilter,
    MemoryReader,
    MemoryTransaction,
    TermGroup,
)
from schemory.storage.protocols import WriteContext
from schemory.storage.sqlite.store import SqliteStore

EntryMaker = Callable[..., Entry]
PROJECTS = [f"zq{name}zq" for name in ("one", "two", "three", "four", "five", "six")]


def context(project: str) -> WriteContext:
    return WriteContext(operation=f"{project}-op", author=f"{project}-author", client=project)


class Work:
    """Does random things in one project after another; everything written bears its name."""

    def __init__(self, store: SqliteStore, new_entry: EntryMaker, chance: Random) -> None:
        self.store = store
        self.new_entry = new_entry
        self.chance = chance
        self.ids: list[str] = []  # of all projects: each is tried on any other too
        self.links: list[str] = []

    def step(self, project: str) -> None:
        actions = [
            self.insert, self.insert, self.insert, self.update, self.delete, self.link, self.unlink,
            self.undo, self.audit, self.describe,
        ]  # fmt: skip
        with self.store.memory_transaction(project, context(project)) as tx:
            self.chance.choice(actions)(tx)

    def insert(self, tx: MemoryTransaction) -> None:
        name = tx.project_id
        entry = self.new_entry(
            f"shared words of {name}", project_id=name, title=f"title {name}", scope=name,
            topic=f"shared {name}", tags=(f"tag-{name}", "shared"), summary=name, source_ref=name,
            source_uri=name, created_by=name, metadata={"k": name}, invalidation_reason=name,
        )  # fmt: skip
        tx.insert_entries([entry])
        self.ids.append(entry.id)

    def update(self, tx: MemoryTransaction) -> None:
        for entry in tx.find_entries(self.some_ids()).values():
            text = f"shared again {tx.project_id}"
            states = self.chance.choice(list(Status))
            changed = replace(entry, content=text, status=states, revision=entry.revision + 1)
            tx.update_entries([changed])

    def delete(self, tx: MemoryTransaction) -> None:
        ids = self.some_ids()[:3]
        own = tx.find_entries(ids)
        assert tx.delete_entries(ids) == len(own)

    def link(self, tx: MemoryTransaction) -> None:
        own = list(tx.find_entries(self.some_ids()))
        for source, target in pairwise(own):
            link_id = f"l{len(self.links):03}"
            self.links.append(link_id)
            if not tx.list_links([source], direction="out", limit=9):
                tx.insert_links(
                    [
                        Link(
                            id=link_id, source_entry_id=source, target_entry_id=target,
                            relation=Relation.EXPLAINS, created_at="1", label=tx.project_id,
                            metadata={"k": tx.project_id},
                        )
                    ]
                )  # fmt: skip

    def unlink(self, tx: MemoryTransaction) -> None:
        tx.delete_links(self.links[-2:])

    def undo(self, tx: MemoryTransaction) -> None:
        tx.undo(tx.seq - 1)

    def audit(self, tx: MemoryTransaction) -> None:
        name = tx.project_id
        tx.insert_audit(
            AuditRow(
                id=name, timestamp="1", project_id=name, operation=name, entry_id=name, actor=name,
                params={"k": name}, result={"k": name},
            )
        )  # fmt: skip

    def describe(self, tx: MemoryTransaction) -> None:
        name = tx.project_id
        tx.put_tags([Tag(name=f"tag-{name}", created_at="1", description=name)])
        tx.put_project(Project(id=name, display_name=name, git_remote=name, metadata={"k": name}))

    def some_ids(self) -> list[str]:
        return self.chance.sample(self.ids, min(8, len(self.ids)))


def answers(reader: MemoryReader, ids: list[str], links: list[str]) -> Iterator[object]:
    """Every answer that a project gives to questions about its own and others' things."""
    words = ["shared", "words", *(f"zq{name}zq" for name in ("one", "two", "six"))]
    groups = [TermGroup(whole=(word,)) for word in words]
    told: list[object] = []
    yield reader.find_project()
    yield reader.find_entries(ids)
    active = EntryFilter(statuses=(Status.ACTIVE,))
    for wanted in (EntryFilter(), EntryFilter(tags=("shared",)), active):
        for order in ("updated", "created", "id"):
            yield reader.list_entries(wanted, order=order, limit=1000)
        yield reader.match(groups, wanted, limit=1000, verify=lambda texts: keep(told, texts))
        for kind in ("scope", "topic", "tag"):
            yield reader.list_names(kind, wanted, limit=1000)
    yield told
    yield reader.list_links(limit=1000)
    yield reader.list_links(ids, limit=1000)
    yield [reader.find_link(link_id) for link_id in links]
    yield reader.list_tags()
    yield [reader.list_earlier_texts(entry_id, limit=100) for entry_id in ids]
    yield reader.list_audit(limit=1000)
    yield reader.commits(limit=1000)


def keep(told: list[object], texts: object) -> bool:
    told.append(texts)
    return True


@pytest.mark.covers("memory.store.isolation")
@pytest.mark.parametrize("seed", range(3))
def test_no_answer_holds_another_projects_bytes(
    memory_store: SqliteStore, new_entry: EntryMaker, seed: int
) -> None:
    chance = Random(seed)
    work = Work(memory_store, new_entry, chance)
    for _ in range(120):
        project = chance.choice(PROJECTS)
        try:
            work.step(project)
        except SchemoryError as error:
            told = repr((error.message, error.problems, error.context, error.suggestions))
            assert [name for name in PROJECTS if name in told and name != project] == []
    for project in PROJECTS:
        others = [name for name in PROJECTS if name != project]
        with memory_store.read_memory(project) as reader:
            given = repr(list(answers(reader, work.ids, work.links)))
        assert [name for name in others if name in given] == []
        assert project in given
    assert memory_store.find_faults() == ()


@pytest.mark.covers("memory.store.isolation")
def test_what_a_project_does_changes_nothing_in_another(
    memory_store: SqliteStore, new_entry: EntryMaker
) -> None:
    chance = Random(5)
    work = Work(memory_store, new_entry, chance)
    for _ in range(15):
        with memory_store.memory_transaction("zqonezq", context("zqonezq")) as tx:
            work.insert(tx)

    def look() -> str:
        with memory_store.read_memory("zqonezq") as reader:
            return repr(list(answers(reader, work.ids[:15], [])))

    before = look()
    for _ in range(60):
        try:
            work.step("zqtwozq")
        except SchemoryError:
            continue
    assert look() == before
