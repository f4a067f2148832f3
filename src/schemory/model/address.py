"""Where a single fact stands, so that something else can point at it and find it again.

A fact is an item as a whole (a node, an edge, an entry), one property of it, or one of its metadata
lines. Items are named by internal ids, which are never reused, so that a rename moves nothing; a
line by its SHA-256, so that the address of a line that was changed leads nowhere rather than to
another line. Source: storage.md, graph.md §1.
"""

import hashlib
import re
from enum import StrEnum
from urllib.parse import quote, unquote

from schemory.errors import InvalidParamError
from schemory.model.edge import EdgeRecord
from schemory.model.frozen import dataclass, replace
from schemory.model.node import NodeRecord, TypedValue

_SCHEME = "fact:"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_FORM = re.compile(
    r"fact:(?P<project>[^/#]+)/(?P<kind>[a-z]+)/(?P<item>[^/#]+)"
    r"(?:#(?P<part>property|line)=(?P<value>[^/#]+))?"
)


class FactKind(StrEnum):
    """What kind of item a fact belongs to."""

    NODE = "node"
    EDGE = "edge"
    ENTRY = "entry"


@dataclass(frozen=True, slots=True, kw_only=True)
class FactAddress:
    """The address of a fact; `str()` gives its text form, `parse_address` reads it.

    Attributes:
        project_id: The project or graph space.
        item_id: The item's id inside it.
        property_name: The property that is meant, or None.
        line_digest: SHA-256 of the metadata line that is meant, or None.
    """

    project_id: str
    kind: FactKind
    item_id: str
    property_name: str | None = None
    line_digest: str | None = None

    def __post_init__(self) -> None:
        if not self.project_id or not self.item_id:
            raise InvalidParamError("a fact's address needs a project and an item")
        if self.property_name is not None and self.line_digest is not None:
            raise InvalidParamError("a fact is a property or a line, not both")
        if self.property_name == "":
            raise InvalidParamError("a fact's property must not be empty")
        if self.line_digest is not None and not _DIGEST.fullmatch(self.line_digest):
            raise InvalidParamError("a line's digest is 64 hexadecimal digits")

    def __str__(self) -> str:
        item = f"{_SCHEME}{_quoted(self.project_id)}/{self.kind}/{_quoted(self.item_id)}"
        if self.property_name is not None:
            return f"{item}#property={_quoted(self.property_name)}"
        return item if self.line_digest is None else f"{item}#line={self.line_digest}"

    def at_property(self, name: str) -> "FactAddress":
        """Return the address of one property of the item."""
        return replace(self, property_name=name, line_digest=None)

    def at_line(self, line: str) -> "FactAddress":
        """Return the address of one metadata line of the item."""
        return replace(self, property_name=None, line_digest=digest_line(line))


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="surrogatepass")


def digest_line(line: str) -> str:
    """Return a line's SHA-256 as 64 hexadecimal digits; text that differs in a byte has another."""
    return hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()


def parse_address(text: str) -> FactAddress:
    """Return the address that `text` is the text form of.

    >>> parse_address("fact:default/node/7#property=role").item_id
    '7'

    Raises:
        InvalidParamError: It is none.
    """
    found = _FORM.fullmatch(text)
    if found is None or found["kind"] not in set(FactKind):
        raise InvalidParamError(
            "not a fact's address",
            suggestions=["write it like fact:PROJECT/node/ID#property=KEY"],
        )
    value = None if found["value"] is None else _unquoted(found["value"])
    return FactAddress(
        project_id=_unquoted(found["project"]),
        kind=FactKind(found["kind"]),
        item_id=_unquoted(found["item"]),
        property_name=value if found["part"] == "property" else None,
        line_digest=value if found["part"] == "line" else None,
    )


def _unquoted(text: str) -> str:
    return unquote(text, errors="surrogatepass")


def node_address(project_id: str, node: NodeRecord) -> FactAddress:
    """Return the address of a stored node."""
    return FactAddress(project_id=project_id, kind=FactKind.NODE, item_id=str(node.id))


def edge_address(project_id: str, edge: EdgeRecord) -> FactAddress:
    """Return the address of a stored edge."""
    return FactAddress(project_id=project_id, kind=FactKind.EDGE, item_id=str(edge.id))


def typed_address(project_id: str, node: NodeRecord, value: TypedValue) -> FactAddress:
    """Return the address of a node's typed value."""
    return node_address(project_id, node).at_property(value.property_name)


def origin_address(project_id: str, owner: NodeRecord, edge: EdgeRecord) -> FactAddress | None:
    """Return the address of the owner's property that made an edge; None when none is known."""
    made_by = edge.property_name
    if not made_by or not re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", made_by):
        return None
    return node_address(project_id, owner).at_property(made_by)


def find_line(address: FactAddress, node: NodeRecord) -> str | None:
    """Return the line of `node` that the address means, or None once it was changed."""
    if address.line_digest is None:
        return None
    lines = (line for line in node.node.metadata if digest_line(line) == address.line_digest)
    return next(lines, None)
