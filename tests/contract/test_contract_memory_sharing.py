"""What every store of project memory promises about entries that share rare words with a text."""

from collections.abc import Callable
from typing import Any

import pytest

from schemory.model.entry import Entry, Status
from schemory.storage.memory_protocols import MemoryStore, Sharing
from schemory.storage.protocols import WriteContext

WRITE = WriteContext(operation="test")
EntryMaker = Callable[..., Entry]


def insert(store: MemoryStore, *entries: Entry, project: str = "p") -> None:
    with store.memory_transaction(project, WRITE) as tx:
        tx.insert_entries(entries)


def sharing(store: MemoryStore, *terms: str, project: str = "p", **how: Any) -> Sharing:
    asked = {"statuses": (), "most_common": 2, "least_share": 0.0, "limit": 5, **how}
    with store.read_memory(project) as reader:
        return reader.find_sharing(terms, **asked)


def contents(found: Sharing) -> list[str]:
    return [entry.content for entry in found.entries]


@pytest.mark.covers("memory.store.sharing")
def test_who_shares_most_of_the_rare_terms_comes_first(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    insert(memory_store, *map(new_entry, ["alpha beta", "beta", "gamma delta", "delta common"]))
    insert(memory_store, *map(new_entry, ["common one", "common two"]))
    found = sharing(memory_store, "alpha", "beta", "common", "absent")
    assert contents(found) == ["alpha beta", "beta"]
    assert (found.rare, found.common) == (2, 1)  # `absent` stands nowhere
    assert contents(sharing(memory_store, "alpha", "beta", limit=1)) == ["alpha beta"]
    assert sharing(memory_store, "common") == Sharing(entries=(), rare=0, common=1)


@pytest.mark.covers("memory.store.sharing")
def test_who_holds_too_little_of_the_weight_is_left_out(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    # Of three terms that stand in one entry each, one is a third of the weight and two are two.
    insert(memory_store, new_entry("alpha beta"), new_entry("gamma"))
    terms = ("alpha", "beta", "gamma")
    assert contents(sharing(memory_store, *terms, least_share=0.3)) == ["alpha beta", "gamma"]
    assert contents(sharing(memory_store, *terms, least_share=0.4)) == ["alpha beta"]
    assert contents(sharing(memory_store, *terms, least_share=0.7)) == []


@pytest.mark.covers("memory.store.sharing")
def test_only_entries_of_the_project_and_the_statuses_asked_for_share(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    insert(memory_store, new_entry("alpha one"), new_entry("alpha two", status=Status.ARCHIVED))
    foreign = new_entry("alpha three", project_id="q")
    insert(memory_store, foreign, project="q")
    assert contents(sharing(memory_store, "alpha")) == ["alpha one", "alpha two"]
    active = sharing(memory_store, "alpha", statuses=(Status.ACTIVE,))
    assert contents(active) == ["alpha one"]
    assert sharing(memory_store, "alpha", project="nowhere") == Sharing()
    assert sharing(memory_store, "\ud800", '"', "alpha", most_common=2).rare == 1


@pytest.mark.covers("memory.store.sharing")
def test_a_transaction_sees_who_shares_with_what_it_wrote(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    with memory_store.memory_transaction("p", WRITE) as tx:
        how: dict[str, Any] = {"statuses": (), "most_common": 9, "least_share": 0, "limit": 5}
        assert tx.find_sharing(["alpha"], **how) == Sharing()
        tx.insert_entries([new_entry("alpha")])
        assert contents(tx.find_sharing(["alpha"], **how)) == ["alpha"]
