"""What the viewer does not do: write, run stored text, answer to others, tell too much."""

import ast
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

import schemory
from schemory.app import App
from schemory.graph.service import KnowledgeGraph
from schemory.memory.inputs import ProjectRef
from schemory.memory.service import ProjectMemory
from schemory.web.guard import Guard
from schemory.web.markup import el, render

WEB = Path(schemory.__file__).parent / "web"
PAGES = ("", "entries", "entry", "graph", "node", "schemas", "schema", "health")
ALLOWED_TAGS = re.compile(
    r"html|head|meta|title|link|body|a|header|span|nav|main|h1|h2|footer|p|small|br|dl|div|dt|dd|ul|"
    r"ol|li|table|thead|tbody|tr|th|td|time|pre|code|form|label|input|select|option|button|mark|"
    r"details|summary|svg|defs|marker|path|circle|line|text"
)


class Page(HTMLParser):
    """The elements and attributes of a page as a browser reads them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


@pytest.mark.covers("web.hostile")
def test_stored_text_is_text_wherever_it_is_shown(browser: Any, stored: Any, app: App) -> None:
    (project,) = app.memory.list_projects(ProjectRef()).projects
    name = "<script>alert('x')</script><img src=x onerror=alert(1)>\u202eevil"
    asked = (
        browser.open(),
        browser.open("entries", project=project.id, status="any"),
        browser.open("entries", project=project.id, q=name, scope=name, tag=name, topic=name),
        browser.open("entry", project=project.id, id=stored.hostile),
        browser.open("entry", project=project.id, id=stored.new),
        browser.open("graph", q="script"),
        browser.open("graph", type=name, space=name),
        browser.open("node", name="Gandalf"),
        browser.open("node", name=name),
        browser.open("node", name=f"{name}?"),
        browser.open("schema", type=name),
        browser.open(quote(name)),
        browser.open("health"),
    )
    for answer in asked:
        page = Page()
        page.feed(answer.text)
        assert {tag for tag in page.tags if not ALLOWED_TAGS.fullmatch(tag)} == set()
        assert {name for name, _ in page.attributes if name.startswith("on")} == set()
        assert "style" not in {name for name, _ in page.attributes}
        for name, value in page.attributes:
            if name in {"href", "src", "action"}:
                assert value.startswith((browser.base, "#content"))
        assert "\u202e" not in answer.text
    assert r"\u202eevil" in asked[1].text
    assert "javascript:alert(1)" in asked[3].text  # shown, not linked


@given(text=st.text(max_size=60), name=st.text(max_size=60))
def test_any_text_in_any_place_reads_back_as_that_text_and_nothing_else(
    text: str, name: str
) -> None:
    seen: list[tuple[str, Any]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            seen.append((tag, attrs))

        def handle_data(self, data: str) -> None:
            seen.append(("data", data))

    reader = Reader(convert_charrefs=True)
    reader.feed(render(el("a", text, title=name)))
    reader.close()
    tags = [each for each in seen if each[0] != "data"]
    assert [tag for tag, _ in tags] == ["a"]
    assert [key for key, _ in tags[0][1]] == ["title"]
    told = "".join(data for kind, data in seen if kind == "data")
    if text.isprintable():
        assert told == text


@pytest.mark.covers("web.policy")
def test_every_answer_forbids_scripts_frames_and_what_is_elsewhere(browser: Any) -> None:
    for answer in (
        browser.open(),
        browser.open("zebra"),
        browser.open("style.css"),
        browser.ask("/"),
        browser.ask(browser.base, method="POST"),
        browser.ask(browser.base, headers={"Host": "evil.example"}),
    ):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src" not in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers
    style = (WEB / "static" / "style.css").read_text(encoding="utf-8")
    assert "url(" not in style
    assert "@import" not in style


@pytest.mark.covers("web.guard")
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost",
        "",
        "0.0.0.0:{port}",
    ],
)
def test_a_foreign_host_is_refused(browser: Any, host: str) -> None:
    answer = browser.ask(browser.base, headers={"Host": host.format(port=browser.port)})
    assert answer.status == 421
    assert "Gandalf" not in answer.text
    assert browser.ask(browser.base, headers={"Host": f"LOCALHOST:{browser.port}"}).status == 200


@pytest.mark.covers("web.guard")
def test_two_hosts_or_none_are_refused(browser: Any) -> None:
    own = f"Host: 127.0.0.1:{browser.port}\r\n"
    for lines in ("", own + "Host: evil.example\r\n", own + own):
        with socket.create_connection(("127.0.0.1", browser.port)) as raw:
            raw.sendall(f"GET {browser.base} HTTP/1.1\r\n{lines}\r\n".encode())
            assert raw.makefile("rb").readline().split()[1] == b"421"


@pytest.mark.covers("web.guard")
@pytest.mark.parametrize(
    "target",
    ["/", "/favicon.ico", "/style.css", "/other-token/", "/t0ken-of-the-tes", "/t0ken-of-the-test",
     "/../t0ken-of-the-test/", "/T0KEN-OF-THE-TEST/"],
)  # fmt: skip
def test_without_the_token_there_is_nothing_to_see(browser: Any, target: str) -> None:
    answer = browser.ask(target)
    assert answer.status == 404
    assert answer.text == "Open the address that `schemory ui` printed.\n"


@pytest.mark.covers("web.guard")
def test_another_web_site_cannot_ask_even_with_the_token(browser: Any) -> None:
    for site, status in (
        ("cross-site", 403),
        ("same-site", 403),
        ("same-origin", 200),
        ("none", 200),
    ):
        assert browser.ask(browser.base, headers={"Sec-Fetch-Site": site}).status == status


@pytest.mark.covers("web.guard")
@pytest.mark.parametrize(
    "name",
    ["../web/static/style.css", "..%2f..%2fapp.py", "static/style.css", "style.css%00", "%2e%2e"],
)
def test_only_the_two_files_of_the_viewer_are_served(browser: Any, name: str) -> None:
    assert browser.ask(browser.base + name).status == 404


@pytest.mark.covers("web.reads")
@pytest.mark.parametrize(
    "method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"]
)
def test_no_method_but_reading_is_answered(browser: Any, method: str) -> None:
    answer = browser.ask(f"{browser.base}entries", method=method)
    assert answer.status == 405
    assert answer.headers["allow"] == "GET, HEAD"
    head = browser.ask(browser.base, method="HEAD")
    assert (head.status, head.text) == (200, "")


@pytest.mark.covers("web.reads")
def test_nothing_that_is_asked_changes_the_store(
    browser: Any, stored: Any, app: App, tmp_path: Path
) -> None:
    del stored
    (project,) = app.memory.list_projects(ProjectRef()).projects
    store = tmp_path / "m.sqlite"
    before = store.read_bytes(), store.with_name("m.sqlite-wal").read_bytes()
    for page in PAGES:
        for fields in ({}, {"project": project.id, "q": "x"}, {"project": "new", "space": "new"}):
            browser.open(page, **fields)
            browser.open(page, name="new", id="new", type="new", **fields)
    after = store.read_bytes(), store.with_name("m.sqlite-wal").read_bytes()
    assert after == before


@pytest.mark.covers("web.reads")
def test_the_viewer_knows_no_verb_that_writes() -> None:
    verbs = {
        name
        for service in (KnowledgeGraph, ProjectMemory)
        for name in vars(service)
        if re.match(r"(?:add|update|delete|merge|rename|define|remove|invalidate|archive|restore|"
                    r"link|unlink|rebuild|prune|record|transaction)", name)
    }  # fmt: skip
    assert {"add_nodes", "delete_entry", "transaction"} <= verbs
    used = {
        node.attr
        for file in WEB.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
    }
    assert used & verbs == set()


@pytest.mark.covers("web.robust")
@given(target=st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=80))
def test_the_guard_judges_any_target_without_a_fault(target: str) -> None:
    guard = Guard(port=80, token="t")  # noqa: S106 (of this test alone)
    refusal = guard.find_refusal("GET", target, hosts=["localhost:80"], fetch_site=None)
    assert (refusal is None) == target.startswith("/t/")


@pytest.mark.covers("web.robust")
@pytest.mark.parametrize(
    "fields",
    [
        {"after": "nonsense"}, {"after": "[[]]"}, {"after": '["x", 1]'}, {"after": "[" * 5000},
        {"status": "zebra"}, {"type": "zebra"}, {"project": "\x00"}, {"q": '"' * 300},
        {"q": "x" * 5000}, {"tag": "\ud800".encode("utf-8", "replace").decode()}, {"space": "\x00"},
    ],
)  # fmt: skip
def test_odd_questions_get_a_page_never_a_fault(browser: Any, fields: dict[str, str]) -> None:
    for page in PAGES:
        answer = browser.open(page, **fields)
        assert answer.status in {200, 400, 404, 414}, (page, answer.text)
        assert "Internal error" not in answer.text


@pytest.mark.covers("web.robust")
def test_what_is_no_http_gets_a_short_answer(browser: Any) -> None:
    for sent in (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", browser.port)) as raw:
            raw.sendall(sent)
            raw.shutdown(socket.SHUT_WR)
            answer = raw.makefile("rb").read()
        assert b"Traceback" not in answer
        assert len(answer) < 1500
    assert browser.open().status == 200


@pytest.mark.covers("web.bound")
def test_only_this_machine_can_reach_the_viewer(browser: Any) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outward:
        try:
            outward.connect(("192.0.2.1", 9))  # sends nothing; tells which address would be used
        except OSError:
            pytest.skip("this machine has no other address")
        own = outward.getsockname()[0]
    if own.startswith("127."):
        pytest.skip("this machine has no other address")
    with pytest.raises(OSError, match=r".*"):
        socket.create_connection((own, browser.port), timeout=2)


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.covers("web.command")
def test_the_command_prints_a_secret_address_and_ends_with_the_user(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}

    def start(*arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "schemory", "ui", *arguments],
            cwd=tmp_path,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    empty = start()
    _, told = empty.communicate(timeout=60)
    assert empty.returncode == 3
    assert "There is no store yet" in told
    assert list(tmp_path.iterdir()) == []

    subprocess.run(
        [sys.executable, "-m", "schemory", "add", "x y z", "--topic", "t", "--scope", "s"],
        cwd=tmp_path, env=environ, check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    addresses = set()
    for _ in range(2):
        with start("--json") as running:
            assert running.stdout is not None
            address = json.loads(running.stdout.readline())["url"]
            addresses.add(address.rpartition("/")[0].rpartition("/")[2])
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", address)
            running.send_signal(signal.SIGINT)
            try:
                _, told = running.communicate(timeout=30)
            finally:
                running.kill()  # does nothing to one that has ended
        assert running.returncode == 0
        assert "stopped" in told
        assert "Traceback" not in told
    assert len(addresses) == 2


BROWSER = """#!/bin/sh
printf '%s\\n' "$1" > "$HOME/opened"
ls -l "${1#file://}" > "$HOME/listed"
cat "${1#file://}" > "$HOME/page"
"""


@pytest.mark.skipif(os.name != "posix", reason="a shell script as the browser")
@pytest.mark.covers("web.command")
def test_the_browser_gets_the_address_through_a_private_file_that_goes_again(
    tmp_path: Path, stored: Any
) -> None:
    del stored
    script = tmp_path / "browser"
    script.write_text(BROWSER, encoding="utf-8")
    script.chmod(0o755)
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "BROWSER": str(script)}
    with subprocess.Popen(
        [sys.executable, "-m", "schemory", "ui", "--open", "--db", str(tmp_path / "m.sqlite")],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        address = running.stdout.readline().strip()
        running.terminate()
        running.communicate(timeout=30)
    assert running.returncode == 0
    opened = (tmp_path / "opened").read_text(encoding="utf-8").strip()
    assert opened.startswith("file://")
    assert address.split("/")[3] not in opened  # arguments of a process are no secret
    assert (tmp_path / "listed").read_text(encoding="utf-8").startswith("-rw------- ")
    assert address in (tmp_path / "page").read_text(encoding="utf-8")
    assert not Path(opened.removeprefix("file://")).exists()


@pytest.mark.covers("web.command")
def test_a_port_that_is_taken_is_told(tmp_path: Path, browser: Any) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemory", "ui"),
            *("--db", str(tmp_path / "m.sqlite"), "--port", str(browser.port)),
        ],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert f"Port {browser.port} cannot be used" in done.stderr


@pytest.mark.covers("web.files")
def test_a_graph_file_can_be_looked_at_too(
    tmp_path: Path, browse_file: Callable[[Path], Any]
) -> None:
    file = tmp_path / "g.jsonl"
    file.write_text(
        '{"type":"node","name":"A","nodeType":"x","metadata":["k: v"]}\n', encoding="utf-8"
    )
    browser = browse_file(file)
    assert "A graph file holds no project memory." in browser.open("entries").text
    node = browser.open("node", name="A")
    assert node.status == 200
    assert "k: v" in node.text
