"""What `install` and `uninstall` print, and the question that `install` asks."""

import difflib
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, TextIO

from schemory.cli.command import OK
from schemory.cli.faults import show_error
from schemory.cli.output import Output, Style
from schemory.config import home_folder
from schemory.model.jsonvalue import Json
from schemory.model.text import counted
from schemory.setup.clients.entry import quoted, shaped
from schemory.setup.clients.form import read_form
from schemory.setup.clients.plan import Kind, plan_install

if TYPE_CHECKING:
    from schemory.cli.install import Done
    from schemory.setup.clients.client import Client
    from schemory.setup.clients.entry import Entry
    from schemory.setup.clients.job import Order, Outcome, Standing

_DONE = {
    Kind.CREATED: ("made", "would make"),
    Kind.MERGED: ("added to", "would add to"),
    Kind.REPLACED: ("replaced in", "would replace in"),
    Kind.UNCHANGED: ("is there already in", "is there already in"),
    Kind.REMOVED: ("taken out of", "would be taken out of"),
    Kind.RESTORED: ("taken out, as before:", "would be taken out, as before:"),
    Kind.DELETED: ("deleted, since nothing else was in it:", "would delete"),
    Kind.ABSENT: ("is not in", "is not in"),
}
_SHARED = "all projects share this memory server's graph; --project PATH makes one for a project"
_OF_THIS_MACHINE = "the file names paths of this machine: keep it out of git"
_TRY_IT = 'ask: "Remember that we deploy on Tuesdays. What do you know about this project?"'


def show_entry(clients: Sequence["Client"], entry: "Entry", order: "Order", out: Output) -> int:
    """Print the entry as a file of each client would hold it."""
    if out.is_json:
        out.json({client.name: shaped(entry, client) for client in clients})
        return OK
    for client in clients:
        text = plan_install(client, None, entry, name=order.name, file="").after or b""
        if len(clients) > 1:
            out.line(out.style(f"# {client.title}", Style.DIM))
        out.line(text.decode().rstrip("\n"))
    return OK


def show_outcomes(done: "Done", out: Output) -> None:
    """Print what was done to each file, and what to do next."""
    if out.is_json:
        out.json(outcomes_wire(done))
        return
    for outcome in done.outcomes:
        _show_outcome(outcome, done.order, out)
    if done.entry is not None and any(each.change for each in done.outcomes):
        facts = {"starts": quoted(done.entry.words())}
        if done.trial is not None:
            trial = done.trial
            facts["tried"] = f"schemory {trial.version} lists {counted(trial.tools, 'tool')}"
        out.facts(facts)
    for note in _notes(done):
        out.line(f"{out.style('note:', Style.YELLOW)} {out.style(note, Style.DIM)}")
    if not done.order.is_dry:
        _show_next(done, out)


def _show_outcome(outcome: "Outcome", order: "Order", out: Output) -> None:
    if outcome.fault is not None:
        show_error(outcome.fault, out)
        return
    if outcome.change is None:
        return
    done = _DONE[outcome.change.kind][order.is_dry]
    title = out.style(outcome.client.title, Style.BOLD)
    out.line(f"{title}: {done} {out.style(str(outcome.file), Style.GREEN)}")
    if outcome.backup is not None:
        out.line(f"  the file as it was: {out.style(outcome.backup.name, Style.DIM)}")
    if order.is_dry:
        for line in _difference(outcome):
            style = Style.GREEN if line.startswith("+") else Style.RED
            out.line(f"  {out.style(line, style)}")
    for note in outcome.change.notes:
        out.line(f"  {out.style('note:', Style.YELLOW)} {out.style(note, Style.DIM)}")


def _difference(outcome: "Outcome") -> Iterator[str]:
    """Yield the lines that change, without those around them: they may hold others' secrets."""
    change = outcome.change
    if change is None:
        return
    before, after = (
        read_form(data, str(outcome.file)).text.splitlines() if data is not None else []
        for data in (change.before, change.after)
    )
    for line in list(difflib.unified_diff(before, after, n=0, lineterm=""))[2:]:
        if not line.startswith("@@"):
            yield line


def _notes(done: "Done") -> list[str]:
    if done.entry is None or not any(each.change for each in done.outcomes):
        return list(done.notes)
    if done.order.project is None:
        is_shared = "--project" not in done.entry.args
        return [*done.notes, *([_SHARED] if is_shared else [])]
    special = (each.client.project_note for each in done.outcomes if each.change)
    return [*done.notes, _OF_THIS_MACHINE, *(note for note in dict.fromkeys(special) if note)]


def _show_next(done: "Done", out: Output) -> None:
    changed = list(dict.fromkeys(each.client for each in done.outcomes if _is_news(each)))
    for client in changed:
        who = f"{client.title}: " if len(changed) > 1 else ""
        steps = client.restart if done.entry is None else f"{client.restart} {client.check}"
        out.line(f"{out.style('next:', Style.CYAN)} {out.style(who + steps, Style.BOLD)}")
    if changed and done.entry is not None:
        out.line(f"{out.style('then', Style.CYAN)} {_TRY_IT}")


def _is_news(outcome: "Outcome") -> bool:
    return outcome.change is not None and outcome.change.before != outcome.change.after


def outcomes_wire(done: "Done") -> dict[str, Json]:
    """Return what was done as JSON."""
    entry, trial = done.entry, done.trial
    return {
        "files": [_outcome_wire(outcome) for outcome in done.outcomes],
        "level": "user" if done.order.project is None else "project",
        "dryRun": done.order.is_dry,
        "name": done.order.name,
        "entry": {"command": entry.command, "args": list(entry.args)} if entry else None,
        "tried": {"tools": trial.tools, "version": trial.version} if trial else None,
        "notes": _notes(done),
    }


def _outcome_wire(outcome: "Outcome") -> dict[str, Json]:
    wire: dict[str, Json] = {"client": outcome.client.name, "file": str(outcome.file)}
    if outcome.fault is not None:
        return {**wire, "action": "refused", "error": outcome.fault.message}
    if outcome.change is None:
        return wire
    return {
        **wire,
        "action": outcome.change.kind.value,
        "backup": str(outcome.backup) if outcome.backup else None,
        "notes": list(outcome.change.notes),
        "next": f"{outcome.client.restart} {outcome.client.check}",
    }


def show_standing(standings: Sequence["Standing"], out: Output) -> None:
    """Print which clients are here and which of them know of the server."""
    if out.is_json:
        out.json([_standing_wire(each) for each in standings])
        return
    rows = [
        (each.client.name, each.client.title, _state(each), _first(each.files))
        for each in standings
    ]
    out.table(("client", "", "state", "file"), rows)
    if not out.is_terminal:
        out.note("schemory install --client NAME sets one up; --client all every one that is here")


def _state(each: "Standing") -> str:
    if each.entries:
        return "set up"
    return "here" if each.is_installed else "-"


def _first(files: Sequence[PurePath]) -> str:
    more = f" (and {len(files) - 1} more)" if len(files) > 1 else ""
    return f"{_short(files[0])}{more}" if files else ""


def _short(file: PurePath) -> str:
    """Return a path for people: `~` stands for the home folder."""
    home = home_folder()
    return str("~" / file.relative_to(home)) if file.is_relative_to(home) else str(file)


def _standing_wire(each: "Standing") -> dict[str, Json]:
    return {
        "client": each.client.name,
        "title": each.client.title,
        "installed": each.is_installed,
        "setUp": bool(each.entries),
        "files": [str(file) for file in each.files],
        "entries": [{"file": str(file), "starts": starts} for file, starts in each.entries],
    }


def ask_clients(
    standings: Sequence["Standing"], out: Output, stdin: TextIO
) -> tuple["Client", ...]:
    """Ask which of the clients that are here to set up; none for a plain Enter at nothing here."""
    here = [each.client for each in standings if each.is_installed and not each.entries]
    if not here:
        out.line("Every client that was found is set up. --client NAME names another one.")
        return ()
    names = ", ".join(client.name for client in here)
    out.line(f"Set up which? Enter for all that are here ({names}), names with commas, or none:")
    out.stdout.write("> ")
    out.stdout.flush()
    answer = stdin.readline()
    if not answer or answer.strip().lower() in {"none", "no", "n", "q"}:
        return ()
    if not answer.strip() or answer.strip().lower() in {"all", "yes", "y"}:
        return tuple(here)
    from schemory.setup.clients.table import find_client  # noqa: PLC0415 (only after an answer)

    return tuple(find_client(name) for name in answer.replace(",", " ").split())
