"""`doctor`: whether all is well, with a next step for what is not."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from schemory.cli.command import FINDING, OK, STORE, Command, Request
from schemory.cli.output import Output, Style
from schemory.cli.progress import Progress, progress_bar
from schemory.config import Settings
from schemory.model.frozen import replace
from schemory.model.jsonvalue import Json
from schemory.model.text import counted

if TYPE_CHECKING:
    from schemory.setup.doctor import Diagnosis, Surroundings
    from schemory.storage.keeping import Finding

_COLOURS = {"fatal": Style.RED, "error": Style.RED, "warning": Style.YELLOW}


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fix",
        action="store_true",
        help="mend what is safe to mend: permissions, search indexes, leftovers, an older schema",
    )


def _run(request: Request) -> int:
    settings = request.settings()
    with progress_bar(request.out) as progress:
        diagnosis, around = diagnose(settings, fix=request.args.fix, progress=progress)
    if request.out.is_json:
        request.out.json(_wire(diagnosis, around))
    else:
        _show(diagnosis, around, request.out)
    if not diagnosis.is_usable:
        return STORE
    return FINDING if diagnosis.findings else OK


def diagnose(
    settings: Settings, *, fix: bool = False, progress: Progress | None = None
) -> "tuple[Diagnosis, Surroundings]":
    """Look everything over; return what was found, and what the stores had no part in."""
    from schemory.app import find_patients  # noqa: PLC0415 (help needs no store)
    from schemory.setup.doctor import examine  # noqa: PLC0415 (as above)
    from schemory.storage.keeping import unheard  # noqa: PLC0415 (as above)

    around = _look_around(settings)
    patients = find_patients(settings)
    return examine(patients, around=around, fix=fix, progress=progress or unheard), around


def _look_around(settings: Settings) -> "Surroundings":
    """Return what is known without the store: schemas, settings, and what the tools cost."""
    from schemory.app import MEMORY, open_app  # noqa: PLC0415 (help needs no store)
    from schemory.cli.status import memory_of  # noqa: PLC0415 (as above)
    from schemory.setup.doctor import Surroundings  # noqa: PLC0415 (as above)

    # The tools are the same whatever is stored, and asking in memory makes and changes nothing.
    with open_app(replace(settings, database=MEMORY, graph_file=None)) as app:
        price = app.toolbox.price()
        of_memory = () if settings.graph_file else memory_of(app)[1]
        return Surroundings(
            schema_faults=tuple(map(str, app.catalog.faults())),
            schema_warnings=tuple(map(str, app.catalog.warnings())),
            setting_warnings=tuple(dict.fromkeys([*settings.warnings, *of_memory])),
            tools=price.tools,
            tokens=price.tokens,
            findings=_look_at_clients(settings),
        )


def _look_at_clients(settings: Settings) -> "tuple[Finding, ...]":
    """Return what is wrong with the entries that clients start this program by."""
    import shutil  # noqa: PLC0415 (help needs none)

    from schemory.cli.install import find_machine  # noqa: PLC0415 (as above)
    from schemory.setup.clients.health import find_dead_entries  # noqa: PLC0415 (as above)

    machine = find_machine()
    path = machine.environ.get("PATH")
    return find_dead_entries(
        machine,
        project=settings.working_folder,
        which=lambda name: shutil.which(name, path=path),
    )


def _wire(diagnosis: "Diagnosis", around: "Surroundings") -> dict[str, Json]:
    return {
        "healthy": not diagnosis.findings,
        "usable": diagnosis.is_usable,
        "stores": [dict(facts) for facts in diagnosis.stores],
        "tools": {"count": around.tools, "approxTokens": around.tokens},
        "findings": [
            {
                "code": finding.code,
                "severity": finding.severity.value,
                "what": finding.what,
                "nextStep": finding.next_step,
                "fixable": finding.can_fix,
            }
            for finding in diagnosis.findings
        ],
        "fixed": list(diagnosis.fixed),
    }


def _show(diagnosis: "Diagnosis", around: "Surroundings", out: Output) -> None:
    for facts in diagnosis.stores:
        out.facts({"store": _store_line(facts)})
    out.facts({"tools": f"{around.tools}, about {around.tokens:,} tokens"})
    for told in diagnosis.fixed:
        out.line(f"{out.style('fixed:', Style.GREEN)} {out.style(told, Style.DIM)}")
    for finding in diagnosis.findings:
        _show_finding(finding, out)
    if not diagnosis.findings:
        out.line(out.style("all is well", Style.GREEN))
        return
    fixable = sum(finding.can_fix for finding in diagnosis.findings)
    hint = f"; `schemory doctor --fix` mends {fixable} of them" if fixable else ""
    out.note(f"{counted(len(diagnosis.findings), 'finding')}{hint}")


def _store_line(facts: Mapping[str, Json]) -> str:
    if facts["backend"] == "postgresql":
        return str(facts["location"])
    if not facts["exists"]:
        return f"{facts['location']}: not there yet; the first use makes it"
    size = facts.get("fileBytes")
    return f"{facts['location']}" + (f" ({size:,} bytes)" if isinstance(size, int) else "")


def _show_finding(finding: "Finding", out: Output) -> None:
    severity = finding.severity.value
    label = out.style(f"{severity}:", _COLOURS[severity])
    out.line(f"{label} {out.style(finding.what, Style.BOLD)} [{finding.code}]")
    out.line(f"  {out.style('next:', Style.CYAN)} {out.style(finding.next_step, Style.DIM)}")


COMMANDS: tuple[Command, ...] = (
    Command(
        name="doctor",
        summary="look everything over; exit code 1 if something is not well, 3 if the store is not "
        "usable",
        configure=_configure,
        run=_run,
        examples=("schemory doctor", "schemory doctor --fix", "schemory doctor --json"),
    ),
)
