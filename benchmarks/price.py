"""What each tool list costs a model, and whether strict hosts take it.

`python -m benchmarks.price` prints a row for every configuration.

Every configuration that flags can make out of toolsets, packs and profiles is opened as `serve`
opens it. CI prints the table.
"""

import argparse
import itertools
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from schemory.app import open_app
from schemory.config import PROFILES, TOOLSETS, Raw, load_settings
from schemory.schemas.load import pack_names
from schemory.tools.instructions import MAX_INSTRUCTION_BYTES
from schemory.tools.lint import lint_tools
from schemory.tools.profiles import MAX_COMFORTABLE_TOOLS

MAX_TOKENS = 6_000
"""The most that the default list may cost."""

_DEFAULT = ("graph", "memory")
_TOOLSETS = (
    _DEFAULT,
    ("graph",),
    ("memory",),
    (*_DEFAULT, "graph_query"),
    (*_DEFAULT, "admin"),
    TOOLSETS,
)
_SWITCHES = {
    "--allow-cross-project": "MEMORY_ALLOW_CROSS_PROJECT",
    "--strict-types": "MEMORY_STRICT_TYPES",
    "--manage-schemas": "MEMORY_MANAGE_SCHEMAS",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A configuration and its price.

    Attributes:
        flags: What else `serve` was told.
        problems: What is wrong with it: strict hosts, bounds.
    """

    toolsets: str
    packs: str
    profile: str
    flags: str
    tools: int
    tokens: int
    instruction_bytes: int
    problems: tuple[str, ...]

    @property
    def is_default(self) -> bool:
        """Whether this is what `serve` lists when it is told nothing."""
        chosen = (self.toolsets, self.packs, self.profile, self.flags)
        return chosen == (",".join(_DEFAULT), "", "full", "")


def rows(folder: Path) -> Iterator[Row]:
    """Yield every configuration; `folder` takes the place of the person's home."""
    packs = ((), *((name,) for name in pack_names()), tuple(pack_names()))
    for toolsets, chosen, profile in itertools.product(_TOOLSETS, packs, PROFILES):
        if "graph" in toolsets or not chosen:  # without a graph there is nothing to schemas
            yield _row(folder, toolsets, chosen, profile)
    for name, chosen in itertools.product(_SWITCHES, packs):
        yield _row(folder, _DEFAULT, chosen, "full", switch=name)


def _row(
    folder: Path, toolsets: Sequence[str], packs: Sequence[str], profile: str, switch: str = ""
) -> Row:
    settings: Mapping[str, Raw] = {
        "MEMORY_DB_PATH": ":memory:",
        "MEMORY_TOOLSET": tuple(toolsets),
        "MEMORY_TOOLS": profile,
        **({"MEMORY_PACKS": tuple(packs)} if packs else {}),
        **({_SWITCHES[switch]: "1"} if switch else {}),
    }
    app = open_app(load_settings(settings, environ={}, cwd=folder, home=folder))
    try:
        listed = app.toolbox.list_tools()
        price = app.toolbox.price()
        row = Row(
            toolsets=",".join(toolsets),
            packs=",".join(packs),
            profile=profile,
            flags=switch,
            tools=price.tools,
            tokens=price.tokens,
            instruction_bytes=len(app.toolbox.instructions.encode()),
            problems=tuple(f"{fault.path}: {fault.message}" for fault in lint_tools(listed)),
        )
    finally:
        app.close()
    return Row(**{**asdict(row), "problems": (*row.problems, *_excess(row))})


def _excess(row: Row) -> Iterator[str]:
    if row.instruction_bytes > MAX_INSTRUCTION_BYTES:
        yield f"the instructions have more than {MAX_INSTRUCTION_BYTES:,} bytes"
    if row.is_default and row.tokens > MAX_TOKENS:
        yield f"the default list costs more than {MAX_TOKENS:,} tokens"
    if row.is_default and row.tools > MAX_COMFORTABLE_TOOLS:
        yield f"the default list has more than {MAX_COMFORTABLE_TOOLS} tools"


def table(found: Sequence[Row]) -> str:
    """Return the prices as a Markdown table, the default first."""
    head = ("toolsets", "packs", "profile", "flags", "tools", "tokens", "says", "strict hosts")
    cells: list[tuple[str, ...]] = [head]
    cells += (
        (
            row.toolsets + (" (default)" if row.is_default else ""),
            row.packs or "none",
            row.profile,
            row.flags,
            str(row.tools),
            f"{row.tokens:,}",
            f"{row.instruction_bytes:,} bytes",
            "; ".join(row.problems) or "fit",
        )
        for row in found
    )
    widths = [max(len(line[i]) for line in cells) for i in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |"
        for line in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print every configuration; 1 = one of them does not fit."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.price", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="schemory-price-") as folder:
        found = list(rows(Path(folder)))
    told = [{**asdict(row), "is_default": row.is_default} for row in found]
    print(json.dumps(told, indent=1) if chosen.json else table(found))
    return int(any(row.problems for row in found))


if __name__ == "__main__":
    sys.exit(main())
