"""The JSONL backend: a graph file that people keep in git is itself the store."""

from schemory.storage.jsonl.store import JsonlStore

__all__ = ["JsonlStore"]
