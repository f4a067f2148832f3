"""`skill`: puts the operator skill where a host looks for skills, or takes it away again."""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from schemory.cli.command import FINDING, OK, Command, Request
from schemory.cli.output import Output, Style
from schemory.config import home_folder, process_environment
from schemory.errors import UsageError
from schemory.model.jsonvalue import Json

if TYPE_CHECKING:
    from schemory.setup.skill import Placed, SkillTarget


def _configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--client",
        action="append",
        metavar="NAME",
        help="whose skills: claude-code, codex, cursor, ...; repeatable, with commas; "
        "agents = the folder that several share",
    )
    add("--remove", action="store_true", help="take it away again")
    add("--force", action="store_true", help="also where another text is there")
    add("--dry-run", action="store_true", help="show what would change, change nothing")


def _run(request: Request) -> int:
    from schemory.setup.skill import place_skill, remove_skill  # noqa: PLC0415 (not for help)

    args, out = request.args, request.out
    targets = _targets(args.client or ())
    if not targets:
        return _list(request)
    top = _top(request)
    act = partial(remove_skill, top=top) if args.remove else place_skill
    folders = dict.fromkeys(_folder(target, top, request) for target in targets)
    done = {folder: act(folder, force=args.force, is_dry=args.dry_run) for folder in folders}
    if out.is_json:
        out.json({"folders": {str(folder): placed.value for folder, placed in done.items()}})
    else:
        for folder, placed in done.items():
            out.line(f"{_told(placed, is_dry=args.dry_run)} {out.style(str(folder), Style.BOLD)}")
    return FINDING if all(placed.value == "absent" for placed in done.values()) else OK


def _targets(names: Sequence[str]) -> "tuple[SkillTarget, ...]":
    """Return the targets of these names.

    Raises:
        UsageError: A host of that name is not known, or takes no skill from a folder.
    """
    from schemory.model.likeness import nearest  # noqa: PLC0415 (not for help)
    from schemory.setup.skill import SKILL_TARGETS  # noqa: PLC0415 (as above)

    found: list[SkillTarget] = []
    for name in (part.strip() for text in names for part in text.split(",")):
        if name not in SKILL_TARGETS:
            hints = [f"Did you mean {each}?" for each in nearest(name, SKILL_TARGETS, 1)]
            raise UsageError(
                f"{name!r} is no host that takes skills from a folder",
                suggestions=[*hints, f"There are {', '.join(SKILL_TARGETS)}."],
            )
        found.append(SKILL_TARGETS[name])
    return tuple(found)


def _top(request: Request) -> Path:
    """Return what the skill goes into: the folder of the project that was named, else the home."""
    if not _is_for_project(request):
        return home_folder()
    project = request.settings().project
    if project is None or project.folder is None:
        raise UsageError(
            "A project that is named by its id has no folder to put files into",
            suggestions=["Name its folder: --project PATH."],
        )
    return Path(project.folder)


def _is_for_project(request: Request) -> bool:
    return "MEMORY_PROJECT" in request.overrides


def _folder(target: "SkillTarget", top: Path, request: Request) -> Path:
    if _is_for_project(request):
        return target.project_folder(top)
    return target.user_folder(top, process_environment())


def _told(placed: "Placed", *, is_dry: bool) -> str:
    if placed.value == "absent":
        return "not there:"
    if placed.value == "unchanged":
        return "there already:"
    return f"would be {placed.value}:" if is_dry else f"{placed.value}:"


def _list(request: Request) -> int:
    """Print where each host would have it, and whether it is there."""
    from schemory.setup.skill import SKILL_TARGETS  # noqa: PLC0415 (not for help)

    top = _top(request)
    folders = {name: _folder(target, top, request) for name, target in SKILL_TARGETS.items()}
    there = {name: (folder / "SKILL.md").is_file() for name, folder in folders.items()}
    out: Output = request.out
    if out.is_json:
        rows: dict[str, Json] = {
            name: {"folder": str(folder), "there": there[name]} for name, folder in folders.items()
        }
        out.json({"clients": rows})
        return OK
    out.table(
        ("client", "skill", "folder"),
        ((name, "there" if there[name] else "-", str(folder)) for name, folder in folders.items()),
    )
    out.note(
        "`schemory skill --client NAME` puts it there; add --project . for a project's folder."
    )
    return OK


COMMANDS: tuple[Command, ...] = (
    Command(
        name="skill",
        summary="give a host the skill that teaches agents to use the memory well",
        configure=_configure,
        run=_run,
        examples=(
            "schemory skill                                    # where is it?",
            "schemory skill --client claude-code               # for all your projects",
            "schemory skill --client codex,cursor --project .  # for this one, to be committed",
            "schemory skill --client claude-code --remove",
        ),
    ),
)
