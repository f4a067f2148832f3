"""A process of its own that writes into project memory; started by tests.

memory_worker.py PATH NAME COUNT    writes COUNT transactions (0 = for ever), prints each when
                                    acknowledged
"""

import hashlib
import sys
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count

from schemory.model.entry import Entry, Link, Relation, SourceType
from schemory.retrieval.tokens import TOKENS_VERSION, index_terms
from schemory.storage.memory_protocols import IndexTerms
from schemory.storage.protocols import WriteContext
from schemory.storage.sqlite.store import SqliteStore

WRITE = WriteContext(operation="work", author="worker")
TERMS = IndexTerms(TOKENS_VERSION, index_terms)


def new_entry(entry_id: str, content: str) -> Entry:
    return Entry(
        id=entry_id, project_id="p", scope="s", topic=entry_id[:2], content=content,
        content_sha256=hashlib.sha256(content.encode()).hexdigest(), tags=("shared",),
        source_type=SourceType.AGENT_NOTE, created_at="1", updated_at="1",
    )  # fmt: skip


def main() -> None:
    path, name, turns = sys.argv[1:]
    store = SqliteStore.open(path, now=lambda: datetime.now(UTC), ids=lambda: "id", terms=TERMS)
    for turn in range(int(turns)) if int(turns) else count():
        with store.memory_transaction("p", WRITE) as tx:
            first, second = f"{name}-{turn}-a", f"{name}-{turn}-b"
            tx.insert_entries([new_entry(each, f"ring of {each}") for each in (first, second)])
            tx.insert_links(
                [
                    Link(
                        id=f"{name}-{turn}", source_entry_id=first, target_entry_id=second,
                        relation=Relation.EXPLAINS, created_at="1",
                    )
                ]
            )  # fmt: skip
            counter = tx.find_entries(["counter"]).get("counter")
            if counter is None:
                tx.insert_entries([new_entry("counter", "1")])
            else:
                total = str(int(counter.content) + 1)
                tx.update_entries([replace(counter, content=total, revision=int(total))])
        sys.stdout.write(f"{turn}\n")
        sys.stdout.flush()
    store.close()


if __name__ == "__main__":
    main()
