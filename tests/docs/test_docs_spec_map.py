"""`docs/spec-map.md` says where each word of the specification lives; each target must exist."""

import importlib
import re
from pathlib import Path

import pytest

SPEC_MAP = Path(__file__).parent.parent.parent / "docs" / "spec-map.md"
_TARGET = re.compile(r"`(schemory(?:\.[A-Za-z_][A-Za-z0-9_]*)+)`")
TARGETS = sorted(set(_TARGET.findall(SPEC_MAP.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_of_the_spec_map_exists(target: str) -> None:
    parts = target.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError as error:
            if error.name is None or not target.startswith(error.name):
                raise
            continue
        for name in parts[length:]:
            found = getattr(found, name)
        return
    pytest.fail(f"{target} names no module")
