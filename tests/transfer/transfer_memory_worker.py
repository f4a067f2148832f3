"""Exports or imports in a process of its own, to be killed: `export|import DATABASE FOLDER`."""

import sys
from pathlib import Path

from schemory.app import make_ids, system_clock
from schemory.memory.inputs import ProjectRef
from schemory.memory.service import ProjectMemory
from schemory.memory.settings import MemorySettings
from schemory.retrieval.tokens import TOKENS_VERSION, index_terms
from schemory.storage.memory_protocols import IndexTerms
from schemory.storage.sqlite.store import SqliteStore
from schemory.transfer.memory.export import export_project
from schemory.transfer.memory.importer import import_project
from schemory.transfer.memory.options import ExportFormat, ExportOptions


def main() -> None:
    what, database, folder = sys.argv[1:]
    ids = make_ids(system_clock)
    terms = IndexTerms(TOKENS_VERSION, index_terms)
    store = SqliteStore.open(Path(database), now=system_clock, ids=ids, terms=terms)
    memory = ProjectMemory(store, settings=MemorySettings(), now=system_clock, ids=ids)
    ref = ProjectRef(project_path=folder, project_id="p")
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    if what == "export":
        options = ExportOptions(format=ExportFormat.JSONL, overwrite=True)
        export_project(memory, ref, "out.jsonl", options)
    else:
        import_project(memory, ref, "out.jsonl")
    store.close()


if __name__ == "__main__":
    main()
