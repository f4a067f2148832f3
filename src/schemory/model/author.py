"""Who writes: stored beside what is written, in both halves of the store."""

from schemory.model.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes: `author` goes beside each row, `client` (transport and client) to the ledger."""

    author: str = ""
    client: str = ""


NOBODY = Author()
"""A writer that said nothing about itself."""
