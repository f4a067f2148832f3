"""From a file's bytes to its text and back, with byte order mark and line ends as they were."""

import codecs

from schemory.errors import ConfigError
from schemory.model.frozen import dataclass, replace

_FOREIGN_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A text as it is written in a file."""

    text: str
    has_mark: bool = False

    def encode(self) -> bytes:
        """Return the file's bytes."""
        return (codecs.BOM_UTF8 if self.has_mark else b"") + self.text.encode("utf-8")

    def with_text(self, text: str) -> "Written":
        """Return the same form with another text."""
        return replace(self, text=text)

    @property
    def line_end(self) -> str:
        """The line end that most of its lines have."""
        windows = self.text.count("\r\n")
        return "\r\n" if windows * 2 > self.text.count("\n") else "\n"


def read_form(data: bytes, file: str) -> Written:
    """Return the text of a file with its form.

    Raises:
        ConfigError: It is no UTF-8 text, with the place.
    """
    if data.startswith(_FOREIGN_MARKS):
        raise broken(file, 1, 1, "is UTF-16, which the client cannot read; save it as UTF-8")
    has_mark = data.startswith(codecs.BOM_UTF8)
    body = data.removeprefix(codecs.BOM_UTF8)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as fault:
        line, column = place_of(body[: fault.start].decode("utf-8"), None)
        raise broken(file, line, column, "is no UTF-8 text here") from None
    return Written(text=text, has_mark=has_mark)


def place_of(text: str, at: int | None) -> tuple[int, int]:
    r"""Return line and column, from 1, of a position (None: the end).

    >>> place_of("ab\ncd", 4)
    (2, 2)
    """
    before = text if at is None else text[:at]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def broken(file: str, line: int, column: int, fault: str) -> ConfigError:
    """Return the error for a file that cannot be understood; nothing of its content is told."""
    message = f"{file} {fault} (line {line}, column {column}); it was left as it is"
    return ConfigError.at(
        f"{file}:{line}:{column}",
        message,
        suggestion="Mend that place, then run the same command again.",
    )
