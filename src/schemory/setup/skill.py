"""The operator skill: its files as they ship, where hosts look for it, how it gets there."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Final

from schemory.errors import ConflictError
from schemory.model.frozen import dataclass
from schemory.setup.clients.disk import remove_empty_folders
from schemory.storage.files import file_error, replace_file

SKILL: Final = "memory-operator"
"""The skill's name, which is its folder's too."""

_SKILLS: Final = Path(__file__).parent.parent / "skills"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillTarget:
    """Where a host looks for skills; the skill's own folder goes into it.

    Attributes:
        client: The host, as `schemory install --client` names it; `agents` = the folder that
            several hosts share.
        in_project: The folder in a project, `/` between its parts.
        in_home: The folder under the user's home.
        home_variable: An environment variable that names another parent for the last part of
            `in_home`; empty = none.
    """

    client: str
    in_project: str
    in_home: str
    home_variable: str = ""

    def project_folder(self, project: Path) -> Path:
        """Return where the skill's folder goes for one project."""
        return project / self.in_project / SKILL

    def user_folder(self, home: Path, environ: Mapping[str, str]) -> Path:
        """Return where the skill's folder goes for every project of a user."""
        parent = environ.get(self.home_variable, "").strip() if self.home_variable else ""
        if parent:
            return Path(parent) / PurePosixPath(self.in_home).name / SKILL
        return home / self.in_home / SKILL


_SHARED: Final = ".agents/skills"

SKILL_TARGETS: Final[Mapping[str, SkillTarget]] = {
    target.client: target
    for target in (
        SkillTarget(
            client="claude-code",
            in_project=".claude/skills",
            in_home=".claude/skills",
            home_variable="CLAUDE_CONFIG_DIR",
        ),
        SkillTarget(client="codex", in_project=_SHARED, in_home=_SHARED),
        SkillTarget(client="vscode", in_project=_SHARED, in_home=".copilot/skills"),
        SkillTarget(client="cursor", in_project=_SHARED, in_home=".cursor/skills"),
        SkillTarget(
            client="windsurf", in_project=".windsurf/skills", in_home=".codeium/windsurf/skills"
        ),
        SkillTarget(client="gemini", in_project=_SHARED, in_home=".gemini/skills"),
        SkillTarget(client="zed", in_project=_SHARED, in_home=_SHARED),
        SkillTarget(client="jetbrains", in_project=".junie/skills", in_home=".junie/skills"),
        SkillTarget(client="opencode", in_project=_SHARED, in_home=".config/opencode/skills"),
        SkillTarget(client="cline", in_project=_SHARED, in_home=_SHARED),
        SkillTarget(client="agents", in_project=_SHARED, in_home=_SHARED),
    )
}
"""By client. Claude Desktop is missing: it takes skills as uploads, not from a folder."""


def skill_files() -> Mapping[PurePosixPath, bytes]:
    """Return the skill's files by their path in the skill's folder, `SKILL.md` first.

    The cases that the skill is tried with (`evals/`) are of no use to a host and not among them.
    """
    return dict(_files(_SKILLS / SKILL))


def _files(folder: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    found = (folder / "SKILL.md", *sorted((folder / "references").glob("*.md")))
    for file in found:
        yield PurePosixPath(file.relative_to(folder).as_posix()), file.read_bytes()


class Placed(StrEnum):
    """What happened to a skill's folder."""

    WRITTEN = "written"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    REMOVED = "removed"
    ABSENT = "absent"


def place_skill(folder: Path, *, force: bool = False, is_dry: bool = False) -> Placed:
    """Write the skill's files into its folder, each as a whole; again = no change.

    Raises:
        ConflictError: Another text is there, an older version's or a person's; `force` replaces it.
        StoreReadonlyError, StoreError: The folder cannot be written.
    """
    wanted = {folder / path: data for path, data in skill_files().items()}
    there = {file: _read(file) for file in wanted}
    differing = [file for file, data in there.items() if data not in (None, wanted[file])]
    if differing and not force:
        raise ConflictError(
            f"{differing[0]} is there with another text; nothing was changed",
            suggestions=["`--force` replaces it with this version's."],
        )
    if there == wanted:
        return Placed.UNCHANGED
    for file, data in () if is_dry else wanted.items():
        if there[file] != data:
            replace_file(file, (data,), new_mode=None)
    return Placed.UPDATED if any(there.values()) else Placed.WRITTEN


def remove_skill(
    folder: Path, *, top: Path | None = None, force: bool = False, is_dry: bool = False
) -> Placed:
    """Remove the skill's files, and the folders, below `top`, where nothing else is in them.

    Raises:
        ConflictError: A file has another text; `force` removes it all the same.
        StoreReadonlyError: The folder cannot be written.
    """
    there = {path: data for path in skill_files() if (data := _read(folder / path)) is not None}
    if not there:
        return Placed.ABSENT
    differing = [path for path, data in there.items() if data != skill_files()[path]]
    if differing and not force:
        raise ConflictError(
            f"{folder / differing[0]} has another text than this version's; nothing was changed",
            suggestions=["`--force` removes it all the same."],
        )
    for path in () if is_dry else there:
        try:
            (folder / path).unlink()
        except OSError as fault:
            raise file_error(fault, folder / path) from fault
    if not is_dry:
        with suppress(OSError):  # not empty: somebody else's files are in it
            (folder / "references").rmdir()
        remove_empty_folders(folder / "SKILL.md", top or folder.parent)
    return Placed.REMOVED


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as fault:
        raise file_error(fault, file) from fault
