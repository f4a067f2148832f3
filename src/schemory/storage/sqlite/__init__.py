"""The embedded backend: graph spaces in one SQLite file (storage.md)."""
