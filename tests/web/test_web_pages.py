"""What the viewer shows, asked for over real sockets."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote

import pytest

from schemory.app import App
from schemory.graph.inputs import EdgeInput, NodeInput
from schemory.memory.inputs import EntryUpdate, ProjectRef

WORDS = re.compile(r"<[^>]*>")


def words(html: str) -> str:
    """Return the text of a page as a person reads it."""
    plain = WORDS.sub(" ", html)
    for name, sign in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#39;", "'")):
        plain = plain.replace(name, sign)
    return " ".join(plain.replace("&amp;", "&").split())


class Links(HTMLParser):
    """Collects the addresses a page leads to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        self.found += [value or "" for name, value in attrs if name in {"href", "src", "action"}]


def links(html: str) -> list[str]:
    parser = Links()
    parser.feed(html)
    return parser.found


@pytest.fixture
def project_id(app: App) -> str:
    """The id of the one project that has entries."""
    (listed,) = app.memory.list_projects(ProjectRef()).projects
    return listed.id


@pytest.mark.covers("web.pages")
def test_the_overview_counts_what_is_stored(browser: Any) -> None:
    page = words(browser.open().text)
    assert '<b>"a&b"</b>' in page
    assert "2 1 superseded" in page
    assert "default 3 2" in page


@pytest.mark.covers("web.pages")
def test_entries_are_searched_filtered_and_marked(browser: Any, project_id: str) -> None:
    page = browser.open("entries", project=project_id, q="limit").text
    assert "The <mark>limit</mark> is three." in page
    assert "Five" not in words(page)
    superseded = words(browser.open("entries", project=project_id, status="superseded").text)
    assert "A newer entry has taken this one's place." in superseded
    assert "We cap retries at five." in superseded
    tagged = words(browser.open("entries", project=project_id, tag="http", status="any").text)
    assert "We cap retries" in tagged
    assert "The limit is three" not in tagged
    assert "Nothing found." in browser.open("entries", project=project_id, q="zebra").text
    everywhere = words(browser.open("entries", project="*", q="limit").text)
    assert "The limit is three." in everywhere
    assert "Type what to look for" in browser.open("entries", project="*").text


@pytest.mark.covers("web.pages")
def test_an_entry_shows_source_links_warnings_and_earlier_texts(
    browser: Any, stored: Any, project_id: str
) -> None:
    new = words(browser.open("entry", project=project_id, id=stored.new).text)
    assert "The limit is three." in new
    assert "supersedes → Five superseded" in new
    assert "Revision 1, until" in new
    assert "From now on the limit of attempts is three." in new
    old = browser.open("entry", project=project_id, id=stored.old).text
    assert f"Read instead:  {stored.new}" in WORDS.sub(" ", old)
    assert "The text was the same. Status active" in words(old)
    hostile = words(browser.open("entry", project=project_id, id=stored.hostile).text)
    assert "gives orders to its reader" in hostile
    assert browser.open("entry", project=project_id, id="nowhere").status == 404


@pytest.mark.covers("web.pages")
def test_an_entry_says_that_it_has_more_of_a_past_than_is_shown(
    app: App, stored: Any, browse: Callable[[], Any], project_id: str
) -> None:
    ref = ProjectRef(project_id=project_id)
    told = "There are older texts than these."
    for number in range(101):
        update = EntryUpdate(entry_id=stored.new, changes={"title": f"Title {number}"})
        app.memory.update_entry(ref, update)
        if not number:
            assert told not in browse().open("entry", project=project_id, id=stored.new).text
    assert told in browse().open("entry", project=project_id, id=stored.new).text


@pytest.mark.covers("web.pages")
def test_nodes_are_listed_searched_and_drawn(browser: Any) -> None:
    listed = words(browser.open("graph").text)
    assert "3 nodes and 2 edges" in listed
    assert "Gandalf npc Role: Wizard" in listed
    found = words(browser.open("graph", q="wizard").text)
    assert "Gandalf npc" in found
    assert "Shire location" not in found
    assert "Shire location" in words(browser.open("graph", type="location").text)
    node = browser.open("node", name="Gandalf").text
    assert node.count("<circle") == 3  # itself and two neighbours
    assert "in ← shelters Shire 0.25" in words(node)
    shire = words(browser.open("node", name="Shire").text)
    assert "add_metadata + Air: clear" in shire
    assert browser.open("node", name="Saruman").status == 404


@pytest.mark.covers("web.pages")
def test_a_node_that_is_gone_still_has_a_past(
    app: App, stored: Any, browse: Callable[[], Any]
) -> None:
    del stored
    app.graph.delete_nodes(["Shire"])
    page = browse().open("node", name="Shire")
    assert page.status == 200
    assert "This node is gone" in page.text
    assert "not there any more" in page.text


@pytest.mark.covers("web.pages")
def test_schemas_and_health_are_shown(browser: Any) -> None:
    assert "npc" in words(browser.open("schemas").text)
    npc = words(browser.open("schema", type="npc").text)
    assert "add_npc, update_npc, delete_npc" in npc
    assert browser.open("schema", type="zebra").status == 404
    assert "graph / nodes 3" in words(browser.open("health").text)
    looked = words(browser.open("health", look="1").text)
    assert "tools.many" in looked or "all is well" in looked


@pytest.mark.covers("web.pages")
def test_long_listings_go_on_page_by_page(app: App, stored: Any, browse: Callable[[], Any]) -> None:
    del stored
    names = [f"n{number:03}" for number in range(160)]
    app.graph.add_nodes([NodeInput(name, "thing") for name in names])
    app.graph.add_edges([EdgeInput("Gandalf", name, "knows") for name in names])
    browser = browse()
    for start, kind in (("graph?type=thing", "node?"), ("node?name=Gandalf", "node?")):
        seen: set[str] = set()
        address, pages = f"{browser.base}{start}", 0
        while address:
            text = browser.ask(address).text
            pages += 1
            seen |= {
                unquote(link.rpartition("name=")[2])
                for link in links(text)
                if kind in link and "name=n" in link
            }
            onwards = re.search(r'href="([^"]*)" rel="next"', text)
            address = onwards[1].replace("&amp;", "&") if onwards else ""
        assert set(names) <= seen
        assert pages > 1


@pytest.mark.covers("web.pages")
def test_an_empty_store_is_shown_as_empty(browse: Callable[[], Any]) -> None:
    browser = browse()
    assert "No project has an entry yet." in words(browser.open().text)
    assert "No entries yet." in words(browser.open("entries").text)
    assert "This space is empty." in words(browser.open("graph").text)
    assert browser.open("zebra").status == 404


@pytest.mark.covers("web.pages")
def test_every_link_of_every_page_leads_somewhere(browser: Any) -> None:
    todo, seen = [browser.base], set[str]()
    while todo:
        target = todo.pop()
        if target in seen or target.startswith("#"):
            continue
        seen.add(target)
        assert target.startswith(browser.base), target  # nothing from elsewhere
        answer = browser.ask(target)
        assert answer.status == 200, target
        if answer.headers["content-type"].startswith("text/html"):
            todo += [link.replace("&amp;", "&") for link in links(answer.text)]
    assert len(seen) > 20
