"""Which groups of a query a few entries hold: asked of the index, else of the texts."""

from collections.abc import Sequence
from typing import Final

import apsw

from schemory.storage.memory_protocols import IndexTerms, TermGroup
from schemory.storage.sqlite.memory_index import for_project, is_index_fault
from schemory.storage.sqlite.memory_match import answers_for
from schemory.storage.sqlite.memory_scan import held_without_index
from schemory.storage.sqlite.memory_terms import Phrase, each_phrase, held_by, quoted, terms_of
from schemory.storage.sqlite.rows import Row
from schemory.storage.sqlite.space import Space, id_list

# Met on a walk through all that match: opening the postings anew for each entry costs more.
_HELD: Final = """
  SELECT rowid, schemory_held(memory_index_{n}) FROM memory_index_{n}
  WHERE memory_index_{n} MATCH ? AND +rowid IN (SELECT value FROM carray(?))
"""


def held_groups(
    space: Space,
    project_id: str,
    groups: Sequence[TermGroup],
    row_ids: Sequence[int],
    terms: IndexTerms,
) -> dict[int, frozenset[int]]:
    """Return which groups each entry holds."""
    if not row_ids or not any(map(terms_of, groups)):
        return dict.fromkeys(row_ids, frozenset[int]())
    phrases = each_phrase(groups)
    expression = " OR ".join(map(quoted, phrases))
    sql = for_project(_HELD, space.number)
    try:
        rows: list[Row] = list(space.db.execute(sql, (expression, id_list(row_ids))))
    except apsw.Error as error:
        if is_index_fault(error):
            return held_without_index(space, project_id, groups, row_ids, terms)
        raise
    if not rows and not answers_for(space, terms):
        return held_without_index(space, project_id, groups, row_ids, terms)
    held = dict.fromkeys(row_ids, frozenset[int]())
    held.update({row_id: _held(groups, phrases, marks) for row_id, marks in rows})
    return held


def _held(groups: Sequence[TermGroup], phrases: Sequence[Phrase], marks: bytes) -> frozenset[int]:
    there = {phrase for phrase, mark in zip(phrases, marks, strict=True) if mark}
    return held_by(groups, lambda term, is_prefix: (term, is_prefix) in there)
