"""What a page is asked for, and the addresses of other pages."""

import json
from collections.abc import Mapping
from typing import Final, cast
from urllib.parse import parse_qsl, quote, urlencode

from schemory.errors import InvalidParamError
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import compact
from schemory.storage.protocols import Position

_MOST_FIELDS: Final = 50
_AFTER: Final = "after"


@dataclass(frozen=True, slots=True)
class Asked:
    """One request for a page.

    Attributes:
        base: What every address of the viewer begins with; it holds the token.
        page: Which page: `entries`; `` = the first one.
        fields: The query's fields; of those that come twice the last.
    """

    base: str
    page: str
    fields: Mapping[str, str]

    def text(self, name: str) -> str:
        """Return a field without white space around it, `` where it is not given."""
        return self.fields.get(name, "").strip()

    def exact(self, name: str) -> str:
        """Return a field as it is, for names that are kept to the letter."""
        return self.fields.get(name, "")

    def after(self) -> Position | None:
        """Return where the listing goes on; None = at its beginning.

        Raises:
            InvalidParamError: The address was changed by hand.
        """
        text = self.text(_AFTER)
        if not text:
            return None
        try:
            value: object = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, list):
            raise _bad_place()
        parts = cast("list[object]", value)
        if not all(isinstance(each, int | str) for each in parts):
            raise _bad_place()
        return tuple(cast("list[int | str]", parts))

    def to(self, page: str, **fields: str | None) -> str:
        """Return the address of a page."""
        given = {name: text for name, text in fields.items() if text}
        query = f"?{urlencode(given, quote_via=quote)}" if given else ""
        return f"{self.base}{page}{query}"

    def onwards(self, position: Position) -> str:
        """Return the address of this listing's next page."""
        fields = {name: text for name, text in self.fields.items() if name != _AFTER}
        return self.to(self.page, **fields, **{_AFTER: compact(list(position))})

    def first(self) -> str:
        """Return the address of this listing's first page."""
        return self.to(self.page, **{n: t for n, t in self.fields.items() if n != _AFTER})


def parse_fields(query: str) -> Mapping[str, str]:
    """Return the fields of a query; what is not UTF-8 is replaced, what is too much left out."""
    return dict(parse_qsl(query, keep_blank_values=True, errors="replace")[:_MOST_FIELDS])


def _bad_place() -> InvalidParamError:
    return InvalidParamError(
        "This address does not lead to a page of this listing.",
        suggestions=["Start the listing again."],
    )
