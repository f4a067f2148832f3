"""Path rules of each system, checked on every platform; Windows against the standard library."""

import ntpath
import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.model.paths import (
    PathStyle,
    is_absolute,
    is_device_name,
    is_inside,
    join_path,
    normal_path,
    path_fault,
    path_key,
    relative_path,
)

LINUX, MACOS, WINDOWS = PathStyle
NAME_CHARACTERS = st.characters(categories=["Lu", "Ll", "Nd"], include_characters="-_ ")
SEGMENT = st.text(NAME_CHARACTERS, min_size=1).filter(
    lambda name: name == name.strip() and not is_device_name(name)
)


@pytest.mark.parametrize("style", PathStyle)
@pytest.mark.parametrize("path", ["", "  ", "a\0b", "a/\ud800"])
@pytest.mark.covers("safety.paths.faults")
def test_no_system_takes_blank_paths_nul_or_surrogates(path: str, style: PathStyle) -> None:
    assert path_fault(path, style) is not None


@pytest.mark.parametrize(
    "path",
    [
        *("CON", "con", "C:\\x\\NUL", "nul.txt", "NUL.tar.gz", "aux ", "AUX.", "com1", "LPT9.log"),
        *("docs\\PRN\\a.md", "docs/prn/a.md", "COM¹", "CONIN$", "COM1 .txt", "x\\con. .\\y"),
        *("\\\\.\\PhysicalDrive0", "//./COM1", "\\\\?\\GLOBALROOT\\Device\\x"),
        *("C:file", "C:", "\\rooted", "/rooted", "\\\\server", "\\\\server\\"),
        *("\\\\?\\relative", "\\\\..\\..\\x", "\\\\se?ver\\share\\x", "\\\\?\\\\\\?\\C:\\x"),
        *("a<b", "a>b", 'a"b', "a|b", "a?b", "a*b", "file.txt:stream", "a\x01b", "C:\\x:y"),
    ],
)
@pytest.mark.covers("safety.paths.windows")
def test_windows_forms_that_are_no_plain_file_are_refused(path: str) -> None:
    assert path_fault(path, WINDOWS) is not None


@pytest.mark.parametrize(
    "path",
    [
        *(
            "C:\\Users\\ann\\api",
            "c:/users/ann/api",
            "\\\\server\\share\\api",
            "//server/share/api",
        ),
        *(
            "\\\\?\\C:\\very\\long",
            "\\\\?\\UNC\\server\\share\\x",
            "docs\\a.md",
            "..\\sibling",
            ".",
        ),
        *("console", "com10", "nullable.txt", "lpt", ".env", "résumé.md", "C:\\"),
    ],
)
@pytest.mark.covers("safety.paths.windows")
def test_ordinary_windows_paths_are_taken(path: str) -> None:
    assert path_fault(path, WINDOWS) is None


@pytest.mark.parametrize("path", ["/dev/null", "NUL", "a:b", "/x/con.txt", "back\\slash", " lead"])
def test_what_windows_refuses_is_a_name_elsewhere(path: str) -> None:
    assert path_fault(path, LINUX) is None
    assert path_fault(path, MACOS) is None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("C:\\Work\\..\\Api", "C:\\Api"),
        ("c:/work/./api//x/", "C:\\work\\api\\x"),
        ("\\\\?\\c:\\Work", "C:\\Work"),
        ("\\\\?\\UNC\\srv\\share\\x", "\\\\srv\\share\\x"),
        ("//srv/share/../x", "\\\\srv\\share\\x"),
        ("C:\\..\\..\\x", "C:\\x"),
        ("C:\\work. \\api.", "C:\\work\\api"),
        ("..\\a\\..\\..\\b", "..\\..\\b"),
        ("a\\..", "."),
    ],
)
@pytest.mark.covers("safety.paths.windows")
def test_windows_paths_have_one_normal_form(path: str, expected: str) -> None:
    assert normal_path(path, WINDOWS) == expected


@pytest.mark.parametrize(
    ("path", "root", "expected"),
    [
        ("/work/api/x", "/work/api", True),
        ("/work/api", "/work/api/", True),
        ("/work/api2", "/work/api", False),
        ("/work/api/../secret", "/work/api", False),
        ("/work/./api//x", "/work/api", True),
        ("/anything", "/", True),
        ("/Work/api", "/work", False),
        ("work/x", "/work", False),
        ("/work/x", "work", False),
    ],
)
@pytest.mark.covers("safety.paths.inside")
def test_inside_is_told_by_whole_segments(path: str, root: str, *, expected: bool) -> None:
    assert is_inside(path, root, LINUX) is expected


@pytest.mark.parametrize(
    ("path", "root", "expected"),
    [
        ("c:\\work\\API\\x", "C:\\Work\\api", True),
        ("C:/work/api/x", "c:\\WORK", True),
        ("\\\\?\\C:\\work\\x", "C:\\work", True),
        ("D:\\work\\x", "C:\\work", False),
        ("\\\\SRV\\Share\\x", "\\\\srv\\share", True),
        ("\\\\srv\\other\\x", "\\\\srv\\share", False),
        ("C:\\work\\..\\windows", "C:\\work", False),
        ("C:work\\x", "C:\\work", False),
        ("C:\\workshop", "C:\\work", False),
        ("C:\\work.\\x", "C:\\work", True),
    ],
)
@pytest.mark.covers("safety.paths.inside", "safety.paths.windows")
def test_inside_on_windows_ignores_case_and_spelling(
    path: str, root: str, *, expected: bool
) -> None:
    assert is_inside(path, root, WINDOWS) is expected


def test_joining_keeps_an_absolute_path_and_resolves_dots() -> None:
    assert join_path("/work/api", "docs/../a.md", LINUX) == "/work/api/a.md"
    assert join_path("/work/api", "../../etc/passwd", LINUX) == "/etc/passwd"
    assert join_path("/work/api", "/etc/passwd", LINUX) == "/etc/passwd"
    assert join_path("C:\\work", "docs/a.md", WINDOWS) == "C:\\work\\docs\\a.md"
    assert join_path("C:\\work", "D:\\x", WINDOWS) == "D:\\x"


def test_a_relative_path_uses_slashes_on_every_system() -> None:
    assert relative_path("C:\\Work\\docs\\A.md", "c:\\work", WINDOWS) == "docs/A.md"
    assert relative_path("/work", "/work", LINUX) == "."
    assert relative_path("/elsewhere", "/work", LINUX) is None


@pytest.mark.covers("identity.path-key")
def test_every_spelling_of_one_path_has_one_key() -> None:
    spellings = [
        "C:\\Users\\Ann",
        "c:/users/ann/",
        "\\\\?\\C:\\USERS\\.\\ann",
        "C:\\x\\..\\Users\\Ann",
    ]
    assert {path_key(path, WINDOWS) for path in spellings} == {"c:/users/ann"}
    assert path_key("\\\\Srv\\Share\\", WINDOWS) == "//srv/share/"
    assert path_key("/home/Ann/.", LINUX) == "/home/Ann"
    assert path_key("/data/cafe\u0301", MACOS) == path_key("/data/caf\u00e9", MACOS)
    assert path_key("/data/cafe\u0301", LINUX) != path_key("/data/caf\u00e9", LINUX)


@given(st.lists(SEGMENT | st.sampled_from(["..", "."]), max_size=6))
def test_normal_form_agrees_with_the_standard_library(segments: list[str]) -> None:
    tail = "/".join(segments)
    assert normal_path("/" + tail, LINUX) == posixpath.normpath("/" + tail)
    assert normal_path("C:\\" + tail, WINDOWS) == ntpath.normpath("C:\\" + tail)
    assert is_absolute("C:/" + tail, WINDOWS)


@given(st.text() | st.text("/\\.:? CNcn0a"), st.sampled_from(PathStyle))
def test_normal_form_is_stable_and_any_text_can_be_asked(path: str, style: PathStyle) -> None:
    normal = normal_path(path, style)
    if path_fault(path, style) is None and normal.strip():
        assert path_fault(normal, style) is None
        assert normal_path(normal, style) == normal
        assert is_absolute(normal, style) == is_absolute(path, style)


@given(
    st.lists(SEGMENT, max_size=4), st.lists(SEGMENT, max_size=4), st.sampled_from([LINUX, MACOS])
)
def test_what_is_joined_below_a_root_is_inside_it(
    root: list[str], below: list[str], style: PathStyle
) -> None:
    base = "/" + "/".join(root)
    assert is_inside(join_path(base, "/".join(below) or ".", style), base, style)
