"""Entries, links and tags as an export file says them: the store's columns, nulls included."""

from collections.abc import Mapping
from typing import Final

from schemory.model.entry import Entry, Link, Project, Tag
from schemory.model.jsonvalue import Json, compact
from schemory.transfer.memory.options import FORMAT, VERSION

ENTRY_FIELDS: Final = (
    *("id", "project_id", "scope", "topic", "title", "content", "summary"),
    *("source_type", "source_ref", "source_path", "source_uri"),
    *("source_sha256", "source_bytes", "source_blob", "content_sha256"),
    *("status", "confidence", "importance", "created_by", "created_at", "updated_at"),
    *("invalidated_at", "invalidation_reason", "metadata", "revision", "tags"),
)
"""What an entry has in a file, in this order."""

LINK_FIELDS: Final = (
    *("id", "source_entry_id", "target_entry_id", "relation", "label", "created_at", "metadata"),
)
TAG_FIELDS: Final = ("name", "description", "created_at")


def entry_text(entry: Entry) -> str:
    """Return an entry as one line of JSON."""
    return compact(entry_wire(entry))


def entry_wire(entry: Entry) -> dict[str, Json]:
    """Return an entry with all its fields."""
    return {name: getattr(entry, name) for name in ENTRY_FIELDS}


def link_wire(link: Link) -> dict[str, Json]:
    """Return a link with all its fields."""
    return {name: getattr(link, name) for name in LINK_FIELDS}


def outgoing_wire(link: Link) -> dict[str, Json]:
    """Return a link as it stands with its source."""
    return {name: value for name, value in link_wire(link).items() if name != "source_entry_id"}


def tag_wire(tag: Tag) -> dict[str, Json]:
    """Return a tag with all its fields."""
    return {name: getattr(tag, name) for name in TAG_FIELDS}


def project_wire(project: Project) -> dict[str, Json]:
    """Return what is known of the project."""
    return {
        "id": project.id,
        "display_name": project.display_name,
        "canonical_path": project.canonical_path,
        "git_remote": project.git_remote,
        "created_at": project.created_at or None,
        "updated_at": project.updated_at or None,
        "metadata": project.metadata,
    }


def head_wire(exported_at: str, project: Project) -> dict[str, Json]:
    """Return what a file says of itself."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "exported_at": exported_at,
        "project": project_wire(project),
    }


def line_head_wire(project: Project) -> Mapping[str, Json]:
    """Return the first line of JSON Lines: without times, so that equal memories are equal files.

    Nor does it say where the project lies on this machine: such a file is kept in git.
    """
    shown = ("id", "display_name", "git_remote", "metadata")
    told = {name: value for name, value in project_wire(project).items() if name in shown}
    return {"format": FORMAT, "version": VERSION, "project": told}
