"""Reads the `relationship` of a property: the edge that the property makes."""

from collections.abc import Mapping, Sequence
from typing import cast

from schemory.model.jsonvalue import json_kind
from schemory.model.likeness import nearest
from schemory.model.schema import Direction, OnMissing, Relationship
from schemory.model.text import name_fault, nfc
from schemory.model.weight import DEFAULT_WEIGHT, weight_fault
from schemory.schemas.parse_rules import as_object, check_keys, read_flag
from schemory.schemas.report import Findings, Steps

_KEYS = ("edgeType", "nodeType", "description", "direction", "onMissing", "enforce", "weight")


def parse_relationship(data: object, steps: Steps, findings: Findings) -> Relationship | None:
    """Return the relationship at `steps`, or None when it is at fault."""
    members = as_object(data)
    if members is None:
        what = f"a relationship must be an object, not {json_kind(data)}"
        findings.fault(steps, what, suggestion='{"edgeType": "located_in", "nodeType": "location"}')
        return None
    check_keys(members, _KEYS, steps, findings)
    edge_type = _read_name(members, "edgeType", steps, findings)
    if edge_type is None and "edgeType" not in members:
        what = "a relationship needs the type of its edge"
        findings.fault((*steps, "edgeType"), what, suggestion='add "edgeType": "related_to"')
    node_type = _read_name(members, "nodeType", steps, findings)
    direction = _read_choice(members, "direction", tuple(Direction), steps, findings)
    on_missing = _read_choice(members, "onMissing", tuple(OnMissing), steps, findings)
    enforce = read_flag(members, "enforce", steps, findings)
    for key, is_set in (("enforce", enforce), ("onMissing", on_missing == OnMissing.CREATE)):
        if is_set and "nodeType" not in members:
            what = f'"{key}" needs to know the target\'s type'
            findings.fault((*steps, key), what, suggestion='add "nodeType": "…"')
    return Relationship(
        edge_type=edge_type or "",
        node_type=node_type,
        description=_read_description(members, steps, findings),
        direction=Direction(direction),
        on_missing=OnMissing(on_missing),
        enforce=enforce,
        weight=_read_weight(members, steps, findings),
    )


def _read_name(
    members: Mapping[str, object], key: str, steps: Steps, findings: Findings
) -> str | None:
    if key not in members:
        return None
    value = members[key]
    if not isinstance(value, str):
        findings.fault((*steps, key), f'"{key}" must be a string, not {json_kind(value)}')
        return None
    fault = name_fault(value)
    if fault is not None:
        findings.fault((*steps, key), f'"{key}" {fault}')
    return nfc(value)


def _read_choice(
    members: Mapping[str, object],
    key: str,
    allowed: Sequence[str],
    steps: Steps,
    findings: Findings,
) -> str:
    value = members.get(key, allowed[0])
    if isinstance(value, str) and value in allowed:
        return value
    near = nearest(value, allowed) if isinstance(value, str) else ()
    findings.fault((*steps, key), f'"{key}" must be one of {", ".join(allowed)}', nearest=near)
    return allowed[0]


def _read_description(members: Mapping[str, object], steps: Steps, findings: Findings) -> str:
    value = members.get("description", "")
    if isinstance(value, str):
        return value
    what = f"a description must be a string, not {json_kind(value)}"
    findings.fault((*steps, "description"), what)
    return ""


def _read_weight(members: Mapping[str, object], steps: Steps, findings: Findings) -> float:
    value = members.get("weight", DEFAULT_WEIGHT)
    fault = weight_fault(value)
    if fault is not None:
        findings.fault((*steps, "weight"), f'"weight" {fault}')
        return DEFAULT_WEIGHT
    return float(cast("float", value))
