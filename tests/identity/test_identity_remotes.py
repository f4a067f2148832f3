"""One id for every spelling of a remote, and no credential in any (memory.md §2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.identity.gitconfig import parse_git_config
from schemory.identity.remotes import canonical_remote

SAME = {
    "git:github.com/org/api": [
        "git@github.com:org/api.git",
        "git@github.com:org/api",
        "github.com:org/api.git",
        "git@github.com:/org/api.git",
        "ssh://git@github.com/org/api.git",
        "ssh://git@github.com:22/org/api.git",
        "ssh://git@ssh.github.com:443/org/api.git",
        "git+ssh://git@github.com/org/api",
        "https://github.com/org/api",
        "https://github.com/org/api.git/",
        "https://github.com:443/org/api.git",
        "https://user@github.com/org/api.git",
        "https://user:token@github.com/org/api.git",
        "https://x-access-token:ghp_abc@github.com/org/api.git",
        "https://to%40ken:p%3Aw@github.com/org/api.git",
        "http://github.com/org/api.git",
        "http://github.com:80/org/api.git",
        "git://github.com/org/api.git",
        "HTTPS://GitHub.COM/Org/API.git",
        "git@GitHub.com:Org/Api.git",
        "https://www.github.com/org/api",
        "https://github.com./org/api",
        "https://github.com//org//api.git",
        "https://github.com/org/api.git?access_token=abc#readme",
        "  https://github.com/org/api.git  ",
        "https://github.com/%6Frg/api",
    ],
    "git:host/org/api": ["git@HOST:org/api.git", "https://user:tok@host/org/api"],
    "git:git.example.org:8443/team/Api": [
        "https://git.example.org:8443/team/Api.git",
        "https://ann:secret@GIT.example.org:8443/team/Api",
        "http://git.example.org:8443/team/Api",
    ],
    "git:git.example.org/team/Api": [
        "ssh://git@git.example.org:2222/team/Api.git",
        "git@git.example.org:team/Api.git",
        "[git.example.org:2222]:team/Api.git",
        "ann@[git.example.org:2222]:team/Api.git",
        "https://git.example.org/team/Api",
    ],
    "git:gitlab.com/group/sub/project": ["git@gitlab.com:Group/Sub/Project.git"],
    "git:bitbucket.org/team/repo": ["https://ann@bitbucket.org/Team/repo.git"],
    "git:dev.azure.com/org/proj/_git/repo": [
        "git@ssh.dev.azure.com:v3/org/proj/repo",
        "https://org@dev.azure.com/org/proj/_git/repo",
    ],
    "git:[::1]/repo": ["ssh://git@[::1]:22/repo.git", "git@[::1]:repo.git"],
    "git:[2001:db8::1]:8443/x/repo": ["https://[2001:DB8::1]:8443/x/repo.git"],
    "git:host/~ann/repo": ["ann@host:~ann/repo.git", "ssh://host/~ann/repo.git"],
    "git:host/a/repo.github": ["host:a/repo.github.git"],
}


@pytest.mark.parametrize(
    ("expected", "url"), [(i, url) for i, urls in SAME.items() for url in urls]
)
@pytest.mark.covers("identity.remote.canonical")
def test_every_spelling_of_a_remote_gives_one_id(expected: str, url: str) -> None:
    assert canonical_remote(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        *(
            "",
            "   ",
            "/srv/git/api.git",
            "./api.git",
            "../api",
            "file:///srv/git/api.git",
            "api.git",
        ),
        *("C:\\repos\\api.git", "C:/repos/api.git", "c:repos", "\\\\server\\share\\api.git"),
        *("https://github.com", "https://github.com/", "git@github.com:", "https:///org/api"),
        *(
            "ext::sh -c whoami",
            "ext::ssh@host/x",
            "codecommit::eu-west-1://repo",
            "s3://bucket/repo",
        ),
        *(
            "https://github.com/org/../x",
            "https://github.com/org/a b",
            "git@host:a\nb",
            "host:.git",
        ),
        *("./x:y", "a/b:c", "https://github.com/.git"),
    ],
)
@pytest.mark.covers("identity.remote.unusable")
def test_local_paths_and_other_helpers_name_no_remote(url: str) -> None:
    assert canonical_remote(url) is None


@given(
    user=st.text("abcXYZ019_~", min_size=6, max_size=20),
    token=st.text("abcXYZ019-_.~%", min_size=6, max_size=40),
    template=st.sampled_from(
        [
            *(
                "https://{u}:{t}@host/org/api.git",
                "https://{t}@host/org/api",
                "ssh://{u}:{t}@host/org/api",
            ),
            *(
                "{t}@host:org/api.git",
                "https://host/org/api?token={t}",
                "https://{u}:{t}@host:443/org/api#{t}",
            ),
        ]
    ),
)
@pytest.mark.covers("identity.remote.no-credentials")
def test_user_and_token_never_survive(user: str, token: str, template: str) -> None:
    assert canonical_remote(template.format(u=user, t=token)) == "git:host/org/api"


@given(st.text() | st.text("abA1:/@[].?#%\\~ -"))
def test_any_text_can_be_a_remote(url: str) -> None:
    canonical = canonical_remote(url)
    assert canonical is None or canonical.startswith("git:")


def test_a_git_configuration_is_read_by_its_own_rules() -> None:
    text = (
        '; note\n[core]\n\tbare\n\teditor = vim # c\n[remote "Ori\\"gin"]\n'
        '\turl = "https://host/a b" ; x\n\tURL = sp\\\n lit\n[remote.Old]url=one:two\n'
        "nonsense !\n[include]\n\tpath = /etc/other\n"
    )
    assert [tuple(value) for value in parse_git_config(text)] == [
        ("core", "", "bare", "true"),
        ("core", "", "editor", "vim"),
        ("remote", 'Ori"gin', "url", "https://host/a b"),
        ("remote", 'Ori"gin', "url", "sp lit"),
        ("remote", "old", "url", "one:two"),
        ("include", "", "path", "/etc/other"),
    ]


@given(st.text() | st.text('[]remote "url=\\\n;#.'))
def test_any_text_can_be_a_git_configuration(text: str) -> None:
    assert len(list(parse_git_config(text))) <= len(text)
