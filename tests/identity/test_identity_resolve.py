"""Which project a folder belongs to: the order of the sources, repositories on disk, roots."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from schemory.errors import InvalidParamError, LimitExceededError, PathNotAllowedError
from schemory.identity.allowed import resolve_allowed
from schemory.identity.git import find_repository
from schemory.identity.resolve import (
    ProjectRules,
    path_id,
    real_roots,
    resolve_project,
)
from schemory.model.paths import PathStyle
from schemory.model.project import ProjectIdentity, ResolvedBy, moved_project_warning

ANYWHERE = ProjectRules()
STYLE = ANYWHERE.style
links = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege here")
real_git = pytest.mark.skipif(
    shutil.which("git") is None, reason="no git to make repositories with"
)


def git_folder(at: Path, config: str = "") -> Path:
    """Make what git looks for in a git folder, without git."""
    for part in ("objects", "refs"):
        (at / part).mkdir(parents=True)
    (at / "HEAD").write_text("ref: refs/heads/main\n")
    (at / "config").write_text(config)
    return at


def remote(url: str, name: str = "origin") -> str:
    return f'[remote "{name}"]\n\turl = {url}\n'


def resolve(path: Path | None, project_id: str | None = None) -> ProjectIdentity:
    return resolve_project(None if path is None else str(path), project_id, ANYWHERE)


def git(*arguments: str, cwd: Path) -> None:
    options = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always"]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(
        ["git", *options, *arguments],  # noqa: S607 (whatever git the machine has)
        cwd=cwd,
        env=environment,
        check=True,
        capture_output=True,
    )


@pytest.mark.covers("identity.order")
def test_argument_then_env_then_git_then_path(tmp_path: Path) -> None:
    project = tmp_path.resolve() / "api"
    project.mkdir()
    by_path = resolve(project)
    assert (by_path.id, by_path.resolved_by) == (path_id(str(project), STYLE), ResolvedBy.PATH)
    git_folder(project / ".git", remote("git@host:org/api.git"))
    by_git = resolve(project)
    assert (by_git.id, by_git.resolved_by) == ("git:host/org/api", ResolvedBy.GIT)
    (project / ".env").write_text(
        "MEMORY_PROJECT_ID=team/app\nMEMORY_PROJECT_DISPLAY_NAME=Our App\n"
    )
    by_env = resolve(project)
    assert (by_env.id, by_env.resolved_by) == ("team/app", ResolvedBy.ENV)
    by_argument = resolve(project, "given")
    assert (by_argument.id, by_argument.resolved_by) == ("given", ResolvedBy.ARGUMENT)
    assert [p.display_name for p in (by_path, by_git, by_env, by_argument)] == [
        *("api", "api", "Our App", "Our App")
    ]
    assert {p.git_remote for p in (by_git, by_env, by_argument)} == {"host/org/api"}
    assert {p.canonical_path for p in (by_path, by_git, by_env, by_argument)} == {str(project)}


@pytest.mark.covers("identity.path-hash")
def test_a_path_hash_is_sixteen_hex_digits_of_the_normalised_path() -> None:
    # sha256("c:/users/ann") and sha256("/home/ann"), taken with sha256sum
    assert path_id("C:\\Users\\Ann", PathStyle.WINDOWS) == "pathhash:03e85e662d5b61a2"
    assert path_id("/home/ann", PathStyle.LINUX) == "pathhash:b4d9dc52eecb5610"


@pytest.mark.covers("identity.path-hash")
def test_two_folders_of_one_name_are_two_projects(tmp_path: Path) -> None:
    first, second = tmp_path / "a" / "api", tmp_path / "b" / "api"
    for folder in (first, second):
        folder.mkdir(parents=True)
    assert resolve(first).id != resolve(second).id
    assert resolve(first).display_name == resolve(second).display_name == "api"


@pytest.mark.covers("identity.nested")
def test_a_nested_folder_is_its_repository_unless_it_is_overridden(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "mono"
    nested = root / "packages" / "web"
    nested.mkdir(parents=True)
    git_folder(root / ".git", remote("https://host/org/mono"))
    project = resolve(nested)
    assert (project.id, project.resolved_by) == ("git:host/org/mono", ResolvedBy.GIT)
    assert (project.canonical_path, project.folder) == (str(root), str(nested))
    assert resolve(nested, "web").id == "web"
    (root / ".env").write_text("MEMORY_PROJECT_ID=mono\nMEMORY_SCOPE_DEFAULT=all\n")
    assert (resolve(nested).id, resolve(nested).resolved_by) == ("mono", ResolvedBy.ENV)
    (nested / ".env").write_text("MEMORY_PROJECT_ID=web\n")
    assert resolve(nested).id == "web"
    assert resolve(nested / "..").id == "mono"


@pytest.mark.covers("identity.nested")
def test_without_a_remote_a_nested_folder_has_the_hash_of_the_repositorys_root(
    tmp_path: Path,
) -> None:
    root = tmp_path.resolve() / "r"
    (root / "src").mkdir(parents=True)
    git_folder(root / ".git", remote("/srv/git/api.git"))
    assert resolve(root / "src").id == resolve(root).id == path_id(str(root), STYLE)
    assert resolve(root / "src").git_remote is None


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (remote("git@host:a/b") + remote("git@host:c/d", "upstream"), "git:host/a/b"),
        (remote("git@host:c/d", "upstream"), "git:host/c/d"),
        (remote("git@host:c/d", "one") + remote("git@host:e/f", "two"), None),
        (remote("/srv/x.git") + remote("git@host:c/d", "upstream"), None),
        (remote("file:///srv/x.git"), None),
        ("[include]\n\tpath = ../other\n", None),
        ("", None),
        ("\0garbage [", None),
        (remote("git@host:a/b") + remote("git@host:c/d"), "git:host/a/b"),
    ],
)
@pytest.mark.covers("identity.remote.choice")
def test_origin_else_the_only_remote_is_taken(
    tmp_path: Path, config: str, expected: str | None
) -> None:
    git_folder(tmp_path / ".git", config)
    found = find_repository(tmp_path.resolve())
    assert found is not None
    assert found.remote_id == expected


@real_git
@pytest.mark.covers("identity.git.layouts")
def test_worktrees_submodules_and_bare_repositories_made_by_git(tmp_path: Path) -> None:
    base = tmp_path.resolve()
    main, library = base / "main", base / "library"
    for folder in (main, library):
        folder.mkdir()
        git("init", "-q", "-b", "main", cwd=folder)
        git("commit", "-q", "--allow-empty", "-m", "first", cwd=folder)
    git("worktree", "add", "-q", "../tree", "-b", "other", cwd=main)
    git("submodule", "--quiet", "add", "../library", "lib", cwd=main)
    git("clone", "-q", "--bare", str(main), str(base / "bare.git"), cwd=base)
    git("worktree", "add", "-q", "../from-bare", cwd=base / "bare.git")
    git("init", "-q", "--separate-git-dir", str(base / "elsewhere"), "apart", cwd=base)

    def roots(folder: Path) -> tuple[Path, Path]:
        found = find_repository(folder)
        assert found is not None
        return found.work_tree, found.main_root

    assert roots(main) == (main, main)
    assert roots(base / "tree") == (base / "tree", main)
    assert roots(main / "lib") == (main / "lib", main / "lib")
    assert roots(base / "bare.git") == (base / "bare.git", base / "bare.git")
    assert roots(base / "from-bare") == (base / "from-bare", base / "bare.git")
    assert roots(base / "apart") == (base / "apart", base / "apart")
    assert roots(main / ".git" / "hooks") == (main, main)
    assert resolve(base / "tree").id == resolve(main).id
    assert resolve(main / "lib").id != resolve(main).id

    git("remote", "add", "origin", "git@host:org/main.git", cwd=main)
    git("remote", "set-url", "origin", "https://u:t@host/org/lib.git", cwd=main / "lib")
    git("remote", "set-url", "origin", "ssh://host:2222/org/main", cwd=base / "bare.git")
    ids = [
        resolve(base / name).id for name in ("main", "tree", "main/lib", "bare.git", "from-bare")
    ]
    assert ids == [f"git:host/org/{name}" for name in ("main", "main", "lib", "main", "main")]


@real_git
@pytest.mark.covers("identity.git.layouts")
def test_a_worktree_of_a_submodule_belongs_to_the_submodule(tmp_path: Path) -> None:
    base = tmp_path.resolve()
    for name in ("main", "library"):
        (base / name).mkdir()
        git("init", "-q", cwd=base / name)
        git("commit", "-q", "--allow-empty", "-m", "first", cwd=base / name)
    git("submodule", "--quiet", "add", "../library", "lib", cwd=base / "main")
    git("worktree", "add", "-q", str(base / "tree"), "-b", "x", cwd=base / "main" / "lib")
    found = find_repository(base / "tree")
    assert found is not None
    assert found.main_root == base / "main" / "lib"


@pytest.mark.covers("identity.git.untrusted")
def test_a_folder_cannot_claim_the_path_of_a_repository_that_does_not_know_it(
    tmp_path: Path,
) -> None:
    base = tmp_path.resolve()
    victim, clone = base / "victim", base / "clone"
    git_folder(victim / ".git")
    clone.mkdir()
    fake = git_folder(clone / "fake", f"[core]\n\tworktree = {victim}\n") / "worktrees" / "x"
    fake.mkdir(parents=True)
    (clone / ".git").write_text("gitdir: fake/worktrees/x\n")
    (fake / "gitdir").write_text(str(clone / ".git"))
    for common in ("../..", str(victim / ".git")):
        (fake / "commondir").write_text(common)
        assert resolve(clone).id == path_id(str(clone), STYLE)
        assert resolve(clone).id != resolve(victim).id


@pytest.mark.parametrize("content", ["", "gitdir:", "gitdir: nowhere", "gitdir: \0", "nonsense"])
@pytest.mark.covers("identity.git.untrusted")
def test_a_broken_git_file_falls_back_to_the_folder_with_a_warning(
    tmp_path: Path, content: str
) -> None:
    (tmp_path / ".git").write_text(content)
    project = resolve(tmp_path)
    assert project.id == path_id(str(tmp_path.resolve()), STYLE)
    assert "points to no git folder" in project.warnings[0]


@links
@pytest.mark.covers("identity.links")
def test_a_link_is_the_folder_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    assert resolve(tmp_path / "link").id == resolve(tmp_path / "real").id


@pytest.mark.parametrize("prefix", ["git:", "pathhash:", "GIT:", "PathHash:"])
@pytest.mark.covers("identity.env.derived-ids")
def test_an_env_cannot_take_a_derived_id(tmp_path: Path, prefix: str) -> None:
    (tmp_path / ".env").write_text(f"MEMORY_PROJECT_ID={prefix}github.com/victim/private\n")
    with pytest.raises(InvalidParamError, match="must not start with"):
        resolve(tmp_path)
    assert resolve(tmp_path, "git:github.com/victim/private").resolved_by is ResolvedBy.ARGUMENT


@pytest.mark.parametrize("value", ["x" * 201, "default", "a\x01b"])
@pytest.mark.covers("identity.env.domain")
def test_another_bad_id_in_an_env_is_ignored_with_a_warning(tmp_path: Path, value: str) -> None:
    (tmp_path / ".env").write_text(f"MEMORY_PROJECT_ID={value}\n")
    project = resolve(tmp_path)
    assert project.resolved_by is ResolvedBy.PATH
    assert "is ignored" in project.warnings[0]


@pytest.mark.covers("identity.arguments")
def test_either_argument_is_enough_and_none_means_the_servers_project(tmp_path: Path) -> None:
    assert resolve(None, " team/app ") == ProjectIdentity(
        id="team/app", resolved_by=ResolvedBy.ARGUMENT, display_name="team/app"
    )
    with pytest.raises(InvalidParamError) as caught:
        resolve(None)
    assert "project_path" in caught.value.suggestions[0]
    server = resolve_project(str(tmp_path), "ours", ANYWHERE)
    rules = ProjectRules(server_project=server)
    bound = resolve_project(None, None, rules)
    assert (bound.id, bound.resolved_by) == ("ours", ResolvedBy.SERVER)
    other = tmp_path / "other"
    other.mkdir()
    assert resolve_project(str(other), None, rules).resolved_by is ResolvedBy.PATH


@pytest.mark.parametrize("value", ["", "   ", "a\0b", "a\ud800", "a\nb", "a\tb", "a\u2028b"])
@pytest.mark.covers("identity.arguments")
def test_a_bad_project_id_is_refused(value: str) -> None:
    with pytest.raises(InvalidParamError):
        resolve(None, value)


@pytest.mark.covers("identity.arguments")
def test_the_id_limit_holds_at_its_exact_boundary() -> None:
    assert resolve(None, "é" * 200).id == "é" * 200
    with pytest.raises(LimitExceededError):
        resolve(None, "é" * 201)


@pytest.mark.parametrize("text", ["", "relative/path", ".", "a\0b", "missing"])
@pytest.mark.covers("identity.arguments")
def test_a_project_path_must_be_a_full_path_of_a_folder(tmp_path: Path, text: str) -> None:
    path = str(tmp_path / "missing") if text == "missing" else text
    with pytest.raises(InvalidParamError):
        resolve_project(path, None, ANYWHERE)
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidParamError):
        resolve(tmp_path / "file")


@links
@pytest.mark.covers("identity.roots")
def test_a_project_must_lie_in_an_allowed_root_after_links_are_resolved(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "api", outside):
        folder.mkdir(parents=True)
    (root / "escape").symlink_to(outside, target_is_directory=True)
    (tmp_path / "alias").symlink_to(root, target_is_directory=True)
    rules = ProjectRules(allowed_roots=real_roots([str(tmp_path / "alias")]))
    for inside in (root, root / "api", tmp_path / "alias" / "api", root / "api" / ".." / "api"):
        assert resolve_project(str(inside), None, rules).resolved_by is ResolvedBy.PATH
    for path in (outside, root / "escape", root / ".." / "outside", tmp_path / "root2", Path("/")):
        with pytest.raises(PathNotAllowedError) as caught:
            resolve_project(str(path), None, rules)
        assert caught.value.code == "PATH_NOT_ALLOWED"


@links
@pytest.mark.covers("identity.roots")
def test_source_and_save_paths_lie_in_the_project_or_a_root(tmp_path: Path) -> None:
    base = tmp_path.resolve()
    project, shared, outside = base / "api", base / "shared", base / "outside"
    for folder in (project, shared, outside):
        folder.mkdir()
    (project / "escape").symlink_to(outside, target_is_directory=True)

    def allowed(text: str, folder: Path | None = project) -> Path:
        return resolve_allowed(
            text,
            field="source_path",
            folder=str(folder) if folder else None,
            roots=[str(shared)],
            style=STYLE,
        )

    assert allowed("docs/a.md") == project / "docs" / "a.md"
    assert allowed(str(shared / "x.md"), None) == shared / "x.md"
    assert allowed(str(shared / "x.md")) == shared / "x.md"
    for text in ("../outside/x", "escape/x", str(outside / "x"), "docs/../../outside/x"):
        with pytest.raises(PathNotAllowedError):
            allowed(text)
    with pytest.raises(PathNotAllowedError):
        allowed(str(project / "a.md"), None)
    for text in ("", "a\0b"):
        with pytest.raises(InvalidParamError):
            allowed(text)
    with pytest.raises(InvalidParamError, match="full path"):
        allowed("docs/a.md", None)


@pytest.mark.covers("identity.env.moved")
def test_an_id_from_an_env_that_was_used_elsewhere_is_told_with_both_places() -> None:
    project = ProjectIdentity(
        id="team/app",
        resolved_by=ResolvedBy.ENV,
        display_name="app",
        canonical_path="/new/place",
        git_remote="host/evil/fork",
    )

    def warning(path: str | None, remote: str | None) -> str:
        return moved_project_warning(project, last_path=path, last_remote=remote) or ""

    assert "host/team/app" in warning("/old/place", "host/team/app")
    assert "host/evil/fork" in warning("/old/place", "host/team/app")
    assert "/old/place" in warning("/old/place", None)
    assert warning("/new/place", "host/evil/fork") == ""
    assert warning(None, None) == ""


@pytest.mark.covers("identity.remote.no-credentials")
def test_no_token_of_a_remote_reaches_the_identity(tmp_path: Path) -> None:
    git_folder(tmp_path / ".git", remote("https://ann:s3cr3t-t0ken@host/org/api.git"))
    assert "s3cr3t" not in repr(resolve(tmp_path))


def test_nothing_is_written_by_looking(tmp_path: Path) -> None:
    git_folder(tmp_path / ".git", remote("git@host:org/api.git"))
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    resolve(tmp_path)
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before


@pytest.mark.skipif(sys.platform == "win32" or not hasattr(os, "geteuid"), reason="POSIX modes")
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read everything")
def test_a_closed_folder_is_told_as_such(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    (closed / "in").mkdir(parents=True)
    closed.chmod(0)
    try:
        with pytest.raises(InvalidParamError):
            resolve(closed / "in")
    finally:
        closed.chmod(0o700)
