"""A search's filters, checked and in the form the store takes."""

from __future__ import annotations

from datetime import datetime

from schemory.errors import SchemoryError
from schemory.memory.faults import Faults, invalid, one_of, over_limit
from schemory.memory.inputs import CROSS_PROJECT, SearchRequest
from schemory.memory.labels import normal_label, normal_tag
from schemory.memory.moments import parse_moment
from schemory.memory.settings import MAX_QUERY_CHARS
from schemory.model.entry import SourceType, Status
from schemory.model.text import text_fault
from schemory.storage.memory_protocols import EntryFilter

MODES = ("project", CROSS_PROJECT)
TAG_MATCHES = ("all", "any")


def search_filter(request: SearchRequest, now: datetime) -> EntryFilter:
    """Return which entries may be found.

    Raises:
        InvalidParamError: A filter cannot be used; every problem is told.
        LimitExceededError: The query is too long.
    """
    faults = Faults()
    if len(request.query) > MAX_QUERY_CHARS:
        faults.add(over_limit("query", len(request.query), MAX_QUERY_CHARS, "characters"))
    if request.mode not in MODES:
        faults.add(one_of("mode", request.mode, MODES))
    if request.tags_match not in TAG_MATCHES:
        faults.add(one_of("tags_match", request.tags_match, TAG_MATCHES))
    source_type = request.source_type
    if source_type is not None and source_type not in set(SourceType):
        faults.add(one_of("source_type", source_type, tuple(SourceType)))
    found = EntryFilter(
        statuses=statuses_of(request.status),
        scope=label_filter(faults, "scope", request.scope),
        topic=label_filter(faults, "topic", request.topic),
        tags=_tags(faults, request.tags),
        match_all_tags=request.tags_match == "all",
        source_types=() if source_type is None else (source_type,),
        created_after=_moment(faults, "created_after", request.created_after, now),
        created_before=_moment(faults, "created_before", request.created_before, now),
    )
    faults.raise_any()
    return found


def statuses_of(status: Status | None) -> tuple[Status, ...]:
    """Return a status as filters take it; None = any."""
    return () if status is None else (status,)


def label_filter(faults: Faults, field: str, text: str | None) -> str | None:
    """Return a scope or topic to filter by; a blank one filters nothing."""
    if text is None:
        return None
    fault = text_fault(text)
    if fault is not None:
        faults.add(invalid(field, fault))
    return normal_label(text) or None


def _tags(faults: Faults, tags: tuple[str, ...]) -> tuple[str, ...]:
    for index, tag in enumerate(tags):
        fault = text_fault(tag)
        if fault is not None:
            faults.add(invalid(f"tags[{index}]", fault))
    return tuple(sorted({tag for tag in map(normal_tag, tags) if tag}))


def _moment(faults: Faults, field: str, text: str | None, now: datetime) -> str | None:
    if text is None:
        return None
    try:
        return parse_moment(text, field, now)
    except SchemoryError as error:
        faults.take(error)
        return None
