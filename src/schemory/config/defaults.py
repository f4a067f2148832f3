"""Whether values that stand in for an entry's own can be stored at all (memory.md §3).

A default that breaks the rules of its field would let the server start and each write fail.
"""

from collections.abc import Iterator, Mapping
from typing import cast

from schemory.memory.labels import default_fault, normal_label, normal_tag
from schemory.memory.settings import Limits

SCOPE = "MEMORY_SCOPE_DEFAULT"
TAGS = "MEMORY_ALLOWED_TAGS"


def unusable_defaults(values: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield the setting and its fault, for each default that no entry could have.

    Args:
        values: The memory's settings by key, parsed.
    """
    limits = Limits.of(values)
    scope = str(values[SCOPE])
    if scope:
        fault = default_fault(normal_label(scope), limits.max_scope_chars)
        if fault:
            yield SCOPE, f"it {fault}"
    for tag in map(normal_tag, cast("tuple[str, ...]", values[TAGS])):
        fault = default_fault(tag, limits.max_tag_chars)
        if fault:
            yield TAGS, f"each tag {fault}"
