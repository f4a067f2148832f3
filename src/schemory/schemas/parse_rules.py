"""Small rules that every part of a schema document is held to while it is read."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from schemory.model.jsonvalue import is_finite_number, json_kind
from schemory.model.likeness import edit_distance, nearest
from schemory.schemas.report import Findings, Steps
from schemory.schemas.texts import MAX_TEXT_BYTES, find_markup

_TYPO_EDITS = 2


def as_object(value: object) -> Mapping[str, object] | None:
    """Return a JSON object with its keys as texts, or None when `value` is none."""
    if not isinstance(value, Mapping):
        return None
    members = cast("Mapping[object, object]", value)
    return {str(key): member for key, member in members.items()}


def as_list(value: object) -> Sequence[object] | None:
    """Return a JSON array, or None when `value` is none."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return None
    return cast("Sequence[object]", value)


def check_keys(
    data: Mapping[str, object], known: Iterable[str], steps: Steps, findings: Findings
) -> None:
    """Fault each key that looks like a misspelt known one; warn of every other unknown key."""
    names = tuple(known)
    for key in data:
        if key in names:
            continue
        meant = _meant(key, names)
        if meant:
            what = f'"{key}" looks like a misspelling of "{meant[0]}"'
            findings.fault(
                (*steps, key), what, nearest=meant, suggestion=f'write "{meant[0]}", or remove it'
            )
        else:
            near = nearest(key, names)
            what = f'"{key}" is unknown here and ignored'
            hint = f"known keys: {', '.join(names)}"
            findings.warn((*steps, key), what, nearest=near, suggestion=hint)


def _meant(key: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the known keys that `key` may be a misspelling of, likeliest first; mostly none."""
    edits = {name: edit_distance(key, name, at_most=_TYPO_EDITS) for name in names}
    close = [name for name in names if edits[name] <= _TYPO_EDITS]
    close.sort(key=lambda name: edits[name])
    if not close:
        return ()
    # `min` is near `max`, but a name that it begins is likelier meant.
    begun = [name for name in names if len(key) > _TYPO_EDITS and name.startswith(key)]
    return tuple(dict.fromkeys([*begun, *close]))[:3]


def read_flag(
    data: Mapping[str, object], key: str, steps: Steps, findings: Findings, *, default: bool = False
) -> bool:
    """Return a true-or-false member, or `default` when it is absent or at fault."""
    value = data.get(key, default)
    if isinstance(value, bool):
        return value
    findings.fault((*steps, key), f'"{key}" must be true or false, not {json_kind(value)}')
    return default


def read_count(
    data: Mapping[str, object], key: str, steps: Steps, findings: Findings
) -> int | None:
    """Return a whole number from 0 on, or None when it is absent or at fault."""
    value = data.get(key)
    if key not in data:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    findings.fault((*steps, key), f'"{key}" must be a whole number from 0 on')
    return None


def read_number(
    data: Mapping[str, object], key: str, steps: Steps, findings: Findings
) -> float | None:
    """Return a finite number, or None when it is absent or at fault."""
    if key not in data:
        return None
    value = data[key]
    if is_finite_number(value):
        return value
    findings.fault((*steps, key), f'"{key}" must be a finite number, not {json_kind(value)}')
    return None


def check_order(
    low: float | None, high: float | None, keys: tuple[str, str], steps: Steps, findings: Findings
) -> None:
    """Fault a lower bound that is over its upper bound."""
    if low is not None and high is not None and low > high:
        least, most = keys
        findings.fault((*steps, least), f'"{least}" must not be greater than "{most}"')


def check_description(
    data: Mapping[str, object], steps: Steps, findings: Findings, *, subject: str
) -> str:
    """Return a description; its faults of text are warnings, another type than text is a fault."""
    where = (*steps, "description")
    value = data.get("description", "")
    if not isinstance(value, str):
        findings.fault(where, f"a description must be a string, not {json_kind(value)}")
        return ""
    if not value.strip():
        what = f"{subject} has no description, so an agent must guess what it is for"
        findings.warn(where, what, suggestion='add "description": "…"')
        return ""
    size = len(value.encode("utf-8", "replace"))
    if size > MAX_TEXT_BYTES:
        what = f"the description has {size} bytes; hosts take {MAX_TEXT_BYTES}, so it is cut"
        findings.warn(where, what, suggestion="shorten it")
    markup = find_markup(value)
    if markup is not None:
        what = "the description holds markup that strict hosts refuse; it is shown without it"
        findings.warn(where, what, suggestion="write it in plain words, add_TYPE for a blank")
    return value


def word_key(text: str) -> str:
    """Return `text` as a lower-case key of ASCII letters, digits and `_`; may be empty.

    >>> word_key("Größe (cm)"), word_key("currentLocation"), word_key("氏名")
    ('grosse_cm', 'current_location', '')
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text).replace("ß", "ss")
    ascii_only = unicodedata.normalize("NFKD", spaced).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "_", ascii_only.lower()).strip("_")
