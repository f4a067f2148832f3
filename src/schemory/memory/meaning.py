"""What a search needs to go by meaning too, or why it cannot: told, never a failed search."""

from contextlib import suppress
from typing import Final

from schemory.errors import SchemoryError, UnsupportedError
from schemory.memory.inputs import ProjectRef
from schemory.memory.ranked import Meaning, asks_for_names
from schemory.memory.work import Work
from schemory.retrieval.query import SearchQuery
from schemory.storage.memory_protocols import Matches

CATCH_UP_SECONDS: Final = 2.0
"""So long a search outside a server makes vectors that are missing, before it looks."""


def meaning_of(work: Work, query: SearchQuery, warnings: list[str]) -> Meaning | None:
    """Return what the query is compared by beside its words; why not goes to `warnings`.

    None without a word when no model was chosen, or when the query only names things.
    """
    vectors = work.vectors
    if vectors is None or query.is_empty or asks_for_names(query):
        return None
    try:
        return Meaning(vectors.nearest(query.text), vectors.weight)
    except UnsupportedError as error:
        warnings.append(unavailable_warning(error.message))
        return None


def make_missing(work: Work, ref: ProjectRef) -> None:
    """Make vectors that are missing, for a moment, where nothing does so in the background.

    Before a search opens its snapshot. Whatever stands in the way is no reason not to search: what
    is missing is told with the hits.
    """
    vectors = work.vectors
    if vectors is None or vectors.worker is not None:
        return
    place = work.place(ref)
    with suppress(SchemoryError):
        vectors.catch_up(place.id, seconds=CATCH_UP_SECONDS)


def pending_warnings(matches: Matches) -> list[str]:
    """Return what to say where not every entry can be found by meaning yet."""
    if matches.embedded is None or matches.embedded >= matches.entries:
        return []
    missing, total = matches.entries - matches.embedded, matches.entries
    is_one = "entry has" if missing == 1 else "entries have"
    what = f"{missing:,} {is_one} no vector yet (of {total:,})"
    return [f"{what}: found by words, not yet by meaning alone."]


def unavailable_warning(reason: str) -> str:
    """Return what to say where meaning was to be searched and cannot be."""
    return f"Search by meaning is switched on but cannot work, so words alone count: {reason}."
