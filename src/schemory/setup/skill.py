"""The operator skill: its files as they ship, and where each host looks for skills."""

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from schemory.model.frozen import dataclass

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
