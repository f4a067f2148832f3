"""The settings of one run, parsed and complete."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from schemory.hints import TYPE_CHECKING
from schemory.model.frozen import dataclass
from schemory.model.project import DEFAULT_PROJECT, ProjectIdentity

if TYPE_CHECKING:
    from typing import TypeAlias

Raw: TypeAlias = str | tuple[str, ...]
"""A setting before it is parsed: one text, or several."""

DEFAULT_SPACE = DEFAULT_PROJECT
"""The space of everything that was started without a project; shared by all of it."""


@cache  # compiled only for what may be a URL: most stores are files
def _passwords() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what finds a password before the host, and one in the query."""
    in_query = r"([?&](?:password|passwd|pwd|sslpassword)=)[^&#]*"
    return re.compile(r"(?<=://)([^/?#@:]*):([^/?#]*)@"), re.compile(in_query, re.IGNORECASE)


def mask_url(text: str) -> str:
    """Return `text` with the password of a URL hidden; other text as it is.

    >>> mask_url("postgresql://app:s3cret@db/prod?sslpassword=x")
    'postgresql://app:***@db/prod?sslpassword=***'
    """
    if "://" not in text and "=" not in text:
        return text
    before_host, in_query = _passwords()
    return in_query.sub(r"\1***", before_host.sub(r"\1:***@", text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What one run works with; paths are absolute texts, since a start loads no `pathlib`.

    Attributes:
        database: Absolute path of the SQLite file, `:memory:`, or a `postgresql://` URL.
        graph_file: The JSONL file that is the store instead; None = the database is.
        store_source: What chose the store: a flag, an environment key, the config file, `default`.
        space: The graph space, the same text as the project's id.
        space_source: What chose it, likewise.
        project: Whom the space belongs to; None for the shared space.
        schema_folders: Absolute; those that were named, else the user's own folder.
        schemas_named: Whether they were named; the user's own folder need not be there.
        packs: Names of built-in packs.
        use_sdk: Serve through the MCP SDK rather than the adapter of our own.
        memory: Parsed settings of the project memory by key; paths absolute.
        http: Parsed settings of the HTTP server by key; none = it is not asked for.
        working_folder: Where the process was started.
        config_file: The config file that was read, or None.
        warnings: Unknown keys and other things a person should know.
    """

    database: str
    graph_file: str | None
    store_source: str
    space: str
    space_source: str
    project: ProjectIdentity | None
    schema_folders: tuple[str, ...]
    schemas_named: bool
    packs: tuple[str, ...]
    strict_types: bool
    toolsets: tuple[str, ...]
    tools: str
    manage_schemas: bool
    allow_cross_project: bool
    response_budget: int
    debug: bool
    use_sdk: bool
    memory: Mapping[str, object]
    http: Mapping[str, object]
    working_folder: str
    config_file: str | None
    warnings: tuple[str, ...]

    @property
    def store_location(self) -> str:
        """The absolute path of the store (or its URL without the password) for people."""
        return self.graph_file or mask_url(self.database)
