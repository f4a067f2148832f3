"""References to variables that a client was to fill in and did not."""

import re
from collections.abc import Iterator, Mapping
from functools import cache


@cache  # hardly any text holds a brace
def _reference() -> re.Pattern[str]:
    return re.compile(r"\$\{(?:env:)?[A-Za-z_]\w*(?::-[^}]*)?\}|\{env:[A-Za-z_]\w*\}")


def find_unfilled(values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each variable whose text is still a reference, with what to say of it.

    Such a text would else be taken for a path: a store called `${env:NAME}` in some folder.
    """
    for name, text in values.items():
        if "{" in text and _reference().fullmatch(text.strip()):
            told = f"{name} is {text!r}, which the client has not filled in; allowed: a value"
            yield name, f"{told} (is that variable set where the client runs?)"
