"""What a rule of the secret scan says: the forms of known credentials, as plain data."""

from typing import NamedTuple


class TokenForm(NamedTuple):
    """A credential that begins with fixed letters and holds no white space.

    Attributes:
        name: The rule's stable name, told to the caller instead of the value.
        prefixes: The fixed beginnings; matching is case-sensitive.
        rest: Pattern of what follows the beginning, without the border after it.
        source: Where the provider describes the form.
    """

    name: str
    prefixes: tuple[str, ...]
    rest: str
    source: str


class ShapeForm(NamedTuple):
    """A credential known by what stands around or inside it rather than by its first letters.

    Attributes:
        name: The rule's stable name.
        keywords: The rule is tried only where one of these stands in the text.
        pattern: What to look for; the group `value` is the secret, else the entire match. With a
            group `user` the value is typed in by hand, and stand-ins for it are let pass.
        source: Where the form is described.
    """

    name: str
    keywords: tuple[str, ...]
    pattern: str
    source: str
