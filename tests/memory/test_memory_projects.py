"""Which project a call means, and what its `.env` may say (memory.md §2 and §3)."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schemory.errors import (
    InvalidParamError,
    LimitExceededError,
    NotFoundError,
    PathNotAllowedError,
)
from schemory.identity.resolve import ProjectRules, resolve_project
from schemory.memory.inputs import HandoffRequest, NamesRequest, ProjectRef, SimilarRequest
from schemory.memory.settings import Limits
from schemory.model.project import ResolvedBy

if TYPE_CHECKING:
    from tests.memory.conftest import Notes, NotesMaker, RepositoryMaker

REMOTE = "git@github.com:Org/Api.git"


@pytest.mark.covers("memory.project.order")
def test_the_argument_comes_before_the_env_before_the_remote_before_the_path(
    notes: "Notes", repository: "RepositoryMaker", folder: Path
) -> None:
    top = repository("api", REMOTE)
    told = notes.memory.status(ProjectRef(project_path=str(top))).project
    assert told
    assert (told.id, told.resolved_by) == ("git:github.com/org/api", ResolvedBy.GIT)
    (top / ".env").write_text("MEMORY_PROJECT_ID=team/api\n")
    told = notes.at(path=top).memory.status(ProjectRef(project_path=str(top))).project
    assert told
    assert (told.id, told.resolved_by) == ("team/api", ResolvedBy.ENV)
    told = notes.memory.status(ProjectRef(project_path=str(top), project_id="mine")).project
    assert told
    assert (told.id, told.resolved_by) == ("mine", ResolvedBy.ARGUMENT)
    told = notes.memory.status(ProjectRef(project_path=str(folder))).project
    digest = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]
    assert told
    assert (told.id, told.resolved_by) == (f"pathhash:{digest}", ResolvedBy.PATH)


@pytest.mark.covers("memory.project.nested")
def test_a_nested_folder_is_the_repository_unless_an_id_is_told(
    notes: "Notes", repository: "RepositoryMaker"
) -> None:
    top = repository("api", REMOTE)
    nested = top / "tmp" / "external"
    nested.mkdir(parents=True)
    notes.at(path=top).add("Of the whole repository.")
    told = notes.at(path=nested).add("From a nested folder.").project
    assert told
    assert told.id == "git:github.com/org/api"
    assert told.canonical_path == str(top)
    assert notes.at(path=top).found("nested") == ["From a nested folder."]
    own = notes.at("workspace:external", nested)
    assert own.found("nested") == []
    own.add("Kept apart.")
    assert notes.at(path=top).found("apart") == []
    assert own.found("apart") == ["Kept apart."]


@pytest.mark.covers("memory.project.no-credential")
def test_two_clones_are_one_project_and_no_credential_gets_into_the_store(
    notes_on_disk: "Notes", repository: "RepositoryMaker", tmp_path: Path
) -> None:
    first = repository("first", "git@host.example:org/api.git")
    second = repository("second", "https://someuser:t0kens3cret@host.example/org/api.git")
    told = notes_on_disk.at(path=first).add("Said in the first clone.").project
    assert told
    assert told.id == "git:host.example/org/api"
    there = notes_on_disk.at(path=second)
    assert there.found("clone") == ["Said in the first clone."]
    there.add("Said in the second clone.")
    files = [file for file in tmp_path.glob("memory.db*") if file.is_file()]
    held = b"".join(file.read_bytes() for file in files)
    assert b"Said in the second clone." in held
    assert b"t0kens3cret" not in held
    assert b"someuser" not in held


@pytest.mark.covers("memory.project.server")
def test_the_servers_own_project_is_for_calls_that_name_none(
    open_notes: "NotesMaker", folder: Path, tmp_path: Path
) -> None:
    server = resolve_project(str(folder), None, ProjectRules())
    notes = open_notes(server_project=server).at()
    told = notes.add("Of the server's project.").project
    assert told == replace(server, resolved_by=ResolvedBy.SERVER)
    other = tmp_path / "other"
    other.mkdir()
    assert notes.at(path=other).found("") == []


@pytest.mark.covers("memory.project.none")
def test_without_any_project_a_call_is_refused(notes: "Notes") -> None:
    with pytest.raises(InvalidParamError, match="No project") as refused:
        notes.at().search("x")
    assert refused.value.suggestions


@pytest.mark.covers("memory.project.unknown-is-empty", "memory.project.reads-create-nothing")
def test_an_unknown_project_reads_as_empty_and_reading_creates_nothing(
    notes: "Notes", folder: Path
) -> None:
    memory, ref = notes.memory, ProjectRef(project_path=str(folder))
    status = memory.status(ref)
    assert (status.entries, status.stored) == (0, None)
    page = notes.at(path=folder).search("anything")
    assert (page.hits, page.more) == ((), None)
    for kind in ("scope", "topic", "tag"):
        assert memory.list_names(ref, NamesRequest(kind=kind)).items == ()
    assert memory.handoff_summary(ref, HandoffRequest()).truncated is False
    assert memory.find_similar(ref, SimilarRequest(text="anything")).results == ()
    assert memory.list_audit(ref).rows == ()
    assert memory.rebuild_index(ref).indexed == 0
    assert memory.status(ref).stored is None
    assert memory.list_projects(ProjectRef()).projects == ()


@pytest.mark.covers("memory.project.told-on-writes")
def test_a_write_tells_the_project_and_how_it_was_found(
    notes: "Notes", repository: "RepositoryMaker"
) -> None:
    top = repository("api", REMOTE)
    here = notes.at(path=top)
    added = here.add("One.")
    updated = here.update(added.entry.id, title="A title")
    retired = here.memory.invalidate_entry(here.ref, added.entry.id)
    deleted = here.memory.delete_entry(here.ref, added.entry.id, confirm=True)
    for told in (added.project, updated.project, retired.project, deleted.project):
        assert told
        assert (told.id, told.resolved_by.value) == ("git:github.com/org/api", "git")
        assert (told.display_name, told.canonical_path) == ("api", str(top))


@pytest.mark.covers("memory.project.id-alone")
def test_an_id_alone_is_enough_and_keeps_what_is_known_of_the_project(
    notes: "Notes", repository: "RepositoryMaker"
) -> None:
    top = repository("api", REMOTE)
    notes.at(path=top).add("One.")
    notes.at("git:github.com/org/api").add("Two.")
    stored = notes.memory.status(ProjectRef(project_id="git:github.com/org/api")).stored
    assert stored
    assert (stored.display_name, stored.canonical_path) == ("api", str(top))
    assert stored.git_remote == "github.com/org/api"


@pytest.mark.covers("memory.project.env-moved")
def test_an_env_id_last_used_elsewhere_warns_in_every_answer(
    notes: "Notes", tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for each in (first, second):
        each.mkdir()
        (each / ".env").write_text("MEMORY_PROJECT_ID=shared\n")
    assert notes.at(path=first).add("One.").warnings == ()
    assert notes.at(path=first).search("one").warnings == ()
    for told in (
        notes.at(path=second).search("one").warnings,
        notes.memory.status(ProjectRef(project_path=str(second))).warnings,
        notes.at(path=second).add("Two.").warnings,
    ):
        assert len(told) == 1
        assert str(first) in told[0]
        assert str(second) in told[0]


@pytest.mark.covers("memory.project.env-derived-id")
@pytest.mark.parametrize("taken", ["git:github.com/org/api", "pathhash:0123456789abcdef"])
def test_an_env_cannot_claim_a_derived_id(notes: "Notes", folder: Path, taken: str) -> None:
    notes.at(taken).add("Not yours.")
    (folder / ".env").write_text(f"MEMORY_PROJECT_ID={taken}\n")
    with pytest.raises(InvalidParamError, match="must not start with"):
        notes.at(path=folder).search("yours")


@pytest.mark.covers("memory.project.path")
def test_a_project_path_must_be_a_folder_inside_the_roots(
    open_notes: "NotesMaker", folder: Path, tmp_path: Path
) -> None:
    notes = open_notes(allowed_roots=(str(folder),))
    inside = folder / "inside"
    inside.mkdir()
    assert notes.at(path=inside).search("x").hits == ()
    with pytest.raises(PathNotAllowedError):
        notes.at(path=tmp_path).search("x")
    (folder / "escape").symlink_to(tmp_path)
    with pytest.raises(PathNotAllowedError):
        notes.at(path=folder / "escape").search("x")
    with pytest.raises(InvalidParamError, match="no folder"):
        notes.at(path=folder / "missing").search("x")
    (folder / "file").write_text("")
    with pytest.raises(InvalidParamError, match="no folder"):
        notes.at(path=folder / "file").search("x")


@pytest.mark.covers("memory.project.principal")
def test_a_principals_projects_limit_every_call(notes: "Notes") -> None:
    secret = notes.at("secret").entry("Theirs only, the word quorum.")
    own = notes.at("own", allowed_ids=("own",))
    own.add("Ours, the word quorum.")
    assert own.found("quorum") == ["Ours, the word quorum."]
    assert own.found("quorum", mode="cross_project") == ["Ours, the word quorum."]
    with pytest.raises(InvalidParamError, match="may not use"):
        notes.at("secret", allowed_ids=("own",)).search("quorum")
    with pytest.raises(NotFoundError):
        own.read(secret.id, mode="cross_project")
    listed = notes.memory.list_projects(own.ref).projects
    assert [project.id for project in listed] == ["own"]


@pytest.mark.covers("memory.env.domain-keys")
def test_an_env_gives_a_default_scope_and_a_display_name(notes: "Notes", folder: Path) -> None:
    (folder / ".env").write_text(
        "MEMORY_SCOPE_DEFAULT=' Back  End '\nMEMORY_PROJECT_DISPLAY_NAME=Customer X\n"
    )
    added = notes.at(path=folder).add("One.", scope=None)
    assert added.entry.scope == "Back End"
    assert added.project
    assert added.project.display_name == "Customer X"


@pytest.mark.covers("memory.env.allowed-tags")
def test_another_tag_than_the_allowed_ones_is_refused_with_their_list(
    notes: "Notes", folder: Path
) -> None:
    (folder / ".env").write_text("MEMORY_ALLOWED_TAGS=decision, Bug ,auth\n")
    here = notes.at(path=folder)
    assert here.entry("One.", tags=("BUG", "auth")).tags == ("auth", "bug")
    with pytest.raises(InvalidParamError, match="auth, bug, decision") as refused:
        here.add("Two.", tags=("auth", "desicion"))
    (problem,) = refused.value.problems
    assert problem.path == "$.tags[1]"
    assert problem.nearest[0] == "decision"


@pytest.mark.covers("memory.env.tighter-only")
def test_an_env_lowers_limits_and_never_raises_them(notes: "Notes", folder: Path) -> None:
    (folder / ".env").write_text("MEMORY_MAX_TITLE_CHARS=5\nMEMORY_MAX_TAGS=500\n")
    here = notes.at(path=folder)
    added = here.add("One.", title="12345")
    assert any("MEMORY_MAX_TAGS" in warning for warning in added.warnings)
    with pytest.raises(LimitExceededError):
        here.add("Two.", title="123456")
    with pytest.raises(LimitExceededError):
        here.add("Three.", tags=tuple(map(str, range(21))))


@pytest.mark.covers("memory.env.cannot-widen")
def test_a_cloned_repositorys_env_cannot_widen_roots_or_switch_off_the_audit(
    open_notes: "NotesMaker", folder: Path, tmp_path: Path
) -> None:
    (folder / ".env").write_text(
        f"MEMORY_ALLOWED_ROOTS={tmp_path}\nMEMORY_AUDIT_LOG=0\nMEMORY_DB_PATH=/dev/null\n"
        "MEMORY_MAX_ENTRY_BYTES=999999999\n"
    )
    outside = tmp_path / "outside.md"
    outside.write_text("x")
    notes = open_notes(limits=Limits(max_entry_bytes=10)).at(path=folder)
    with pytest.raises(PathNotAllowedError):
        notes.add("One.", source_path=str(outside))
    with pytest.raises(LimitExceededError):
        notes.add("12345678901")
    added = notes.add("1234567890")
    assert [row.result["outcome"] for row in notes.audit()] == ["refused", "refused", "ok"]
    told = " ".join(added.warnings)
    for key in (
        "MEMORY_ALLOWED_ROOTS",
        "MEMORY_AUDIT_LOG",
        "MEMORY_DB_PATH",
        "MEMORY_MAX_ENTRY_BYTES",
    ):
        assert key in told


@pytest.mark.covers("memory.env.bad-value")
def test_a_bad_value_in_an_env_is_ignored_with_a_warning(notes: "Notes", folder: Path) -> None:
    (folder / ".env").write_text(
        f"MEMORY_MAX_TAGS=many\nMEMORY_SCOPE_DEFAULT={'x' * 121}\nMEMORY_PROJECT_ID=default\n"
    )
    added = notes.at(path=folder).add("One.")
    told = " ".join(added.warnings)
    assert all(key in told for key in ("MEMORY_MAX_TAGS", "SCOPE_DEFAULT", "PROJECT_ID"))
    assert added.project
    assert added.project.resolved_by is ResolvedBy.PATH
    with pytest.raises(InvalidParamError, match="scope is required"):
        notes.at(path=folder).add("Two.", scope=None)


@pytest.mark.covers("memory.env.working-folder")
def test_the_projects_env_comes_before_that_of_the_servers_folder(
    open_notes: "NotesMaker", folder: Path
) -> None:
    env = {"MEMORY_SCOPE_DEFAULT": "servers", "MEMORY_MAX_TITLE_CHARS": "10"}
    notes = open_notes(folder_env=env, scope_default="configured").at(path=folder)
    assert notes.entry("One.", scope=None).scope == "servers"
    (folder / ".env").write_text("MEMORY_SCOPE_DEFAULT=own\nMEMORY_MAX_TITLE_CHARS=20\n")
    assert notes.entry("Two.", scope=None).scope == "own"
    with pytest.raises(LimitExceededError, match="at most 10"):
        notes.add("Three.", title="12345678901")


@pytest.mark.covers("memory.env.bad-value")
def test_a_default_of_an_env_that_cannot_be_used_leaves_the_next_one_in_force(
    open_notes: "NotesMaker", folder: Path
) -> None:
    notes = open_notes(scope_default="configured").at(path=folder)
    long = "x" * 121
    (folder / ".env").write_text(f"MEMORY_SCOPE_DEFAULT={long}\nMEMORY_ALLOWED_TAGS=ok,{long}\n")
    added = notes.add("One.", scope=None)
    assert added.entry.scope == "configured"
    told = " ".join(added.warnings)
    assert "MEMORY_SCOPE_DEFAULT is ignored: it must have at most 120 characters, has 121" in told
    assert "MEMORY_ALLOWED_TAGS can be given to no entry" in told
    assert long not in told


@pytest.mark.covers("memory.settings.warnings")
def test_the_status_tells_what_is_odd_about_the_settings(open_notes: "NotesMaker") -> None:
    notes = open_notes(warnings=("MEMORY_TYPO is no setting.",))
    assert notes.memory.status(notes.ref).warnings == ("MEMORY_TYPO is no setting.",)


@pytest.mark.covers("memory.project.id-limits")
def test_a_project_id_has_a_limit_and_no_control_characters(open_notes: "NotesMaker") -> None:
    notes = open_notes(limits=Limits(max_project_id_chars=10))
    assert notes.at("1234567890").search("x").hits == ()
    with pytest.raises(LimitExceededError):
        notes.at("12345678901").search("x")
    with pytest.raises(InvalidParamError):
        notes.at("a\0b").search("x")
    with pytest.raises(InvalidParamError):
        notes.at("  ").search("x")


def test_limits_are_named_like_their_settings() -> None:
    limits = Limits(max_tags=3)
    assert limits.by_key()["MEMORY_MAX_TAGS"] == 3
    assert Limits.of(limits.by_key()) == limits
    assert Limits.of({"MEMORY_MAX_TAGS": 3, "MEMORY_DEBUG": True}) == replace(Limits(), max_tags=3)
