"""The generated pages are what the code says now."""

import runpy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

ROOT = Path(__file__).parent.parent.parent


def test_generated_pages_are_up_to_date() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "generate_docs.py"))
    pages = cast("Callable[[], Mapping[str, str]]", script["pages"])()
    stale = [
        name
        for name, text in pages.items()
        if (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8") != text
    ]
    assert stale == [], "run scripts/generate_docs.py"
