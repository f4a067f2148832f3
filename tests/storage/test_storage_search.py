"""What a search finds, and in which order, page by page."""
# ruff: noqa: RUF001 (letters that look alike are what is tested)

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemory.errors import InvalidCursorError
from schemory.model.node import NewNode, Node, NodeChange, NodeRecord
from schemory.model.text import fold, name_fault, nfc
from schemory.storage.protocols import Position, SearchPage, SearchQuery, WriteContext
from schemory.storage.sqlite import search
from schemory.storage.sqlite.store import SqliteStore

WRITE = WriteContext(operation="test")
RECORD = NodeRecord(
    id=1,
    node=Node("a node", "item"),
    typed=(),
    extra={},
    created_at="",
    updated_at="",
    revision=1,
    author="",
)


class Space:
    """One space of a store in memory, written and searched through the store's verbs."""

    def __init__(self, *nodes: Node, path: Path | str = ":memory:") -> None:
        numbers = count(1)
        self.store = SqliteStore.open(
            path, now=lambda: datetime(2026, 1, 1, tzinfo=UTC), ids=lambda: f"i{next(numbers)}"
        )
        self.nodes: dict[int, Node] = {}
        self.add(*nodes)

    def add(self, *nodes: Node) -> None:
        with self.store.transaction("s", WRITE) as tx:
            records = tx.insert_nodes([NewNode(node=node) for node in nodes])
        self.nodes.update((record.id, record.node) for record in records)

    def update(self, node_id: int, node: Node) -> None:
        change = NodeChange(
            id=node_id, name=node.name, node_type=node.node_type, metadata=node.metadata
        )
        with self.store.transaction("s", WRITE) as tx:
            tx.update_nodes([change])
        self.nodes[node_id] = node

    def delete(self, node_id: int) -> None:
        with self.store.transaction("s", WRITE) as tx:
            tx.delete_nodes([node_id])
        del self.nodes[node_id]

    def page(
        self,
        *texts: str,
        types: Sequence[str] = (),
        after: Position | None = None,
        limit: int = 50,
    ) -> SearchPage:
        query = SearchQuery(terms=tuple(map(fold, texts)), node_types=tuple(types))
        with self.store.read("s") as reader:
            return reader.search(query, after=after, limit=limit)

    def names(self, *texts: str, types: Sequence[str] = (), limit: int = 50) -> list[str]:
        """Return the names of all hits over all pages."""
        return [
            hit.record.name
            for page in self.pages(*texts, types=types, limit=limit)
            for hit in page.hits
        ]

    def pages(
        self, *texts: str, types: Sequence[str] = (), limit: int = 50
    ) -> Iterator[SearchPage]:
        page = self.page(*texts, types=types, limit=limit)
        yield page
        while page.more is not None:
            wire = json.loads(json.dumps(page.more))
            page = self.page(*texts, types=types, after=tuple(wire), limit=limit)
            yield page

    def close(self) -> None:
        self.store.close()


@contextmanager
def bounds(*, ranked: int = 1_000, looked_at: int = 20_000) -> Iterator[None]:
    """Make the bounds of a page so small that a few nodes reach them."""
    before = search.MAX_RANKED, search.MAX_CANDIDATES
    search.MAX_RANKED, search.MAX_CANDIDATES = ranked, looked_at
    try:
        yield
    finally:
        search.MAX_RANKED, search.MAX_CANDIDATES = before


def npc(name: str, *lines: str) -> Node:
    return Node(name, "npc", lines)


# What matches


@pytest.mark.covers("storage.search.folding")
@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Straße", "STRASSE"),
        ("strasse", "Straße"),
        ("İstanbul", "i\u0307stan"),
        ("İstanbul", "İST"),
        ("ΟΔΟΣ", "οδος"),
        ("οδος", "ΟΔΟΣ"),
        ("Zoe\u0308", "zoë"),
        ("Zoë", "zoe\u0308"),
        ("ﬁnal", "final"),
        ("Gandalf", "NDAL"),
        ("שלום עולם", "ום עו"),
        ("👩\u200d🚀 crew", "\u200d🚀"),
        ('say "AND" (x*)', '"and" (x*)'),
        ("NEAR(a b, 3)", "near(a b"),
        ("a-b.c:d^e", "-b.c:d^"),
        ("it's", "t's"),
        ("back\\slash", "k\\s"),
        ("two\nlines\tof", "o\nlines\t"),
    ],
)
def test_a_text_is_found_whatever_its_case_or_unicode_form(stored: str, asked: str) -> None:
    with closing(Space(npc(nfc(stored)), npc("other", f"Note: {stored}"), npc("no"))) as space:
        assert sorted(space.names(asked)) == sorted([nfc(stored), "other"])


@pytest.mark.covers("storage.search.folding")
@pytest.mark.parametrize(("stored", "asked"), [("Éowyn", "eowyn"), ("café", "cafe"), ("ı", "i")])
def test_accents_are_significant(stored: str, asked: str) -> None:
    with closing(Space(npc(stored))) as space:
        assert space.names(asked) == []


@pytest.mark.covers("storage.search.one_entry")
@pytest.mark.parametrize("asked", ["bcd", "ab\x1fcd", 'ab","cd', "b\x1fc", '","', "abcd", "bc"])
def test_a_match_never_reaches_from_one_entry_into_the_next(asked: str) -> None:
    with closing(Space(npc("one", "ab", "cd"))) as space:
        assert space.names(asked) == []


@pytest.mark.covers("storage.search.one_entry")
def test_entries_are_matched_as_they_are_whatever_they_hold() -> None:
    lines = ('say "hi", then', "back\\slash", "", 'Ünïcode: ["a","b"]', "tab\there")
    with closing(Space(npc("one", *lines), npc("two"))) as space:
        for line in lines:
            assert space.names(line) == (["one"] if line else ["one", "two"])
        for punctuation in ("[]", "[", "]", ",", '"', '","'):
            held = any(punctuation in line for line in lines)
            assert space.names(punctuation) == (["one"] if held else [])
        assert space.names("u0000") == []
        assert space.names('"b"]') == ["one"]


@pytest.mark.covers("storage.search.one_entry")
@pytest.mark.parametrize("asked", ["[", "]", ",", '"', "[]", '",', '["', "\\", ",b", "a,"])
def test_the_form_in_which_entries_are_stored_is_never_matched(asked: str) -> None:
    with closing(Space(npc("one", "a", "b"), npc("two"), npc("three", "tab\there", "a"))) as space:
        assert space.names(asked) == []
        assert space.names(asked, "a") == []


@pytest.mark.covers("storage.search.short")
@pytest.mark.parametrize("asked", ["国", "中国", "人民", "ノ", "かな", "한", "🧙"])
def test_one_and_two_ideographs_are_found_in_names_and_lines(asked: str) -> None:
    stored = "中国人民 タノム ひらかな 한국 🧙x"
    with closing(Space(npc(stored), npc("x", f"Note: {stored}"), npc("国中", "民人"))) as space:
        found = space.names(asked)
        assert sorted(found) == sorted(
            name for name in (stored, "x", "国中") if asked == "国" or name != "国中"
        )


@pytest.mark.covers("storage.search.short")
@pytest.mark.parametrize(
    ("asked", "found"),
    [("b", ["b", "ab", "x"]), ("ab", ["ab"]), (" ", ["y z"]), ("国b", ["国b"]), ("A", ["ab"])],
)
def test_other_short_texts_are_found_as_well(asked: str, found: list[str]) -> None:
    nodes = [npc("ab"), npc("b"), Node("x", "t", ("b",)), Node("y z", "t")]
    if asked == "国b":
        nodes.append(Node("国b", "t"))
    with closing(Space(*nodes)) as space:
        assert space.names(asked) == found


@pytest.mark.covers("storage.search.impossible")
@pytest.mark.parametrize("asked", ["\0", "a\0b", "\x1f", "\x1e", "a\x1fb", "\ud800", "ab\udfff"])
def test_what_no_text_can_hold_is_not_found_and_no_error(asked: str) -> None:
    with closing(Space(npc("a", "b"))) as space:
        with space.store.read("s") as reader:
            page = reader.search(SearchQuery(terms=(asked,)), after=None, limit=5)
        assert (page.hits, page.more, page.total) == ((), None, 0)


@pytest.mark.covers("storage.search.words")
def test_several_terms_may_stand_in_different_places_of_a_node() -> None:
    with closing(
        Space(
            Node("Gandalf", "npc", ("Role: Wizard", "Home: none")),
            Node("Balrog", "npc", ("Foe: Gandalf the wizard",)),
            Node("Wizard Gandalf", "title"),
            Node("Gandalf's staff", "item", ("Owner: a wizardess",)),
            Node("Saruman", "npc", ("Role: Wizard",)),
        )
    ) as space:
        expected = ["Wizard Gandalf", "Gandalf", "Gandalf's staff", "Balrog"]
        assert space.names("wizard", "gandalf") == expected
        assert space.names("npc", "wizard") == ["Balrog", "Gandalf", "Saruman"]
        assert space.names("npc", "of", "none") == []
        assert space.names("npc", "a", "none") == ["Gandalf"]


@pytest.mark.covers("storage.search.types")
def test_only_nodes_of_the_wanted_types_match() -> None:
    nodes = [Node(f"ring {i}", ("item", "place", "idea")[i % 3]) for i in range(12)]
    with closing(Space(*nodes)) as space:
        wanted = sorted(node.name for node in nodes if node.node_type != "item")
        for limit in (1, 5, 50):
            assert space.names("ring", types=["place", "idea"], limit=limit) == wanted
            assert sorted(space.names(types=["idea", "place"], limit=limit)) == wanted
        assert space.names("ring", types=["nothing"]) == []
        assert space.names(types=["nothing"]) == []


# Order


@pytest.mark.covers("storage.search.rank")
def test_up_to_a_thousand_matches_are_ranked_by_where_they_match_then_by_name() -> None:
    with closing(
        Space(
            Node("zeta", "npc", ("knows the ring",)),
            Node("alpha", "npc", ("knows the RING",)),
            Node("old", "ring-bearer"),
            Node("the ring", "item"),
            Node("a ring", "item"),
            Node("ring of power", "item"),
            Node("Ring of fire", "item"),
            Node("RING", "item"),
            Node("nothing", "item"),
        )
    ) as space:
        page = space.page("ring")
        assert (page.order, page.total, page.more) == ("rank", 8, None)
        expected = [
            "RING",
            "Ring of fire",
            "ring of power",
            "a ring",
            "the ring",
            "old",
            "alpha",
            "zeta",
        ]
        assert space.names("ring") == expected
        assert space.names("ring", limit=1) == expected


@pytest.mark.covers("storage.search.creation")
def test_beyond_that_name_hits_come_first_each_in_creation_order() -> None:
    with bounds(ranked=5), closing(Space()) as space:
        for i in reversed(range(6)):
            space.add(Node(f"{i}", "npc", ("a ring",)), Node(f"ring {i}", "npc"))
        space.add(Node("of type", "ring"))
        expected = [f"ring {i}" for i in reversed(range(6))]
        expected += [f"{i}" for i in reversed(range(6))] + ["of type"]
        for limit in (1, 4, 100):
            assert space.names("ring", limit=limit) == expected
        page = space.page("ring", limit=4)
        assert (page.order, page.total) == ("creation", None)


@pytest.mark.covers("storage.search.rank", "storage.search.creation")
def test_the_thousand_and_first_match_ends_the_ranking() -> None:
    with closing(Space(*(npc(f"ring {i:04}") for i in reversed(range(1_000))))) as space:
        assert space.page("ring", limit=3).order == "rank"
        assert space.page("ring", limit=1).hits[0].record.name == "ring 0000"
        space.add(npc("earring"))
        page = space.page("ring", limit=3)
        assert (page.order, page.total) == ("creation", None)
        assert [hit.record.name for hit in page.hits] == ["ring 0999", "ring 0998", "ring 0997"]
        assert len(set(space.names("ring", limit=400))) == 1_001


@pytest.mark.covers("storage.search.everything")
def test_no_term_means_everything_in_creation_order() -> None:
    with closing(Space(npc("b"), npc("a"), npc("c"))) as space:
        page = space.page()
        assert (page.order, page.total) == ("creation", 3)
        for limit in (1, 2, 3, 9):
            assert space.names(limit=limit) == ["b", "a", "c"]
            assert space.names("", limit=limit) == ["b", "a", "c"]


def test_an_unknown_space_finds_nothing() -> None:
    with closing(Space()) as space:
        assert space.names("ring") == []
        assert space.names() == []


# Pages


@pytest.mark.covers("storage.search.bounded")
def test_a_scan_that_found_nothing_yet_gives_an_empty_page_and_a_place_to_go_on() -> None:
    nodes = [npc(f"node {i}") for i in range(30)] + [npc("xq")]
    with bounds(looked_at=10), closing(Space(*nodes)) as space:
        pages = list(space.pages("xq"))
        assert [len(page.hits) for page in pages[:3]] == [0, 0, 0]
        assert space.names("xq") == ["xq"]
        assert len(pages) <= 2 * 31 // 10 + 2


@pytest.mark.covers("storage.search.cursor")
@pytest.mark.parametrize("ranked", [3, 1_000])
def test_writes_between_pages_neither_repeat_nor_hide_a_hit(ranked: int) -> None:
    nodes = [npc(f"ring {i:02}") for i in range(20)]
    with bounds(ranked=ranked), closing(Space(*nodes)) as space:
        first = space.page("ring", limit=6)
        seen = [hit.record.name for hit in first.hits]
        space.delete(first.hits[-1].record.id)
        space.delete(first.hits[0].record.id)
        by_name = {node.name: node_id for node_id, node in space.nodes.items()}
        space.update(by_name["ring 10"], npc("ring 10", "changed"))
        space.add(npc("ring 0"), npc("ring 99"))
        after = first.more
        while after is not None:
            page = space.page("ring", after=after, limit=6)
            seen += [hit.record.name for hit in page.hits]
            after = page.more
        assert len(seen) == len(set(seen))
        assert {node.name for node in nodes} | {"ring 99"} <= {*seen, "ring 0"}


@pytest.mark.covers("storage.search.cursor")
@pytest.mark.parametrize("limit", [1, 3])
def test_a_ranked_listing_that_outgrows_its_bound_goes_on_without_repeating(limit: int) -> None:
    nodes = [npc(f"ring {i:02}") for i in range(9, -1, -1)]
    with bounds(ranked=10), closing(Space(*nodes)) as space:
        first = space.page("ring", limit=4)
        assert first.order == "rank"
        seen = [hit.record.name for hit in first.hits]
        space.add(*(npc(f"z ring {i}") for i in range(5)))
        after, orders = first.more, set[str]()
        while after is not None:
            page = space.page("ring", after=after, limit=limit)
            orders.add(page.order)
            seen += [hit.record.name for hit in page.hits]
            after = page.more
        assert orders == {"creation"}
        assert len(seen) == len(set(seen))
        assert set(seen) == {node.name for node in space.nodes.values()}


@pytest.mark.covers("storage.search.cursor")
@pytest.mark.parametrize("after", [(), ("rank",), ("creation", "x", 1), ("all", 1), (1, 2), ("?",)])
def test_a_position_of_something_else_is_refused(after: Position) -> None:
    with closing(Space(npc("ring"))) as space:
        with pytest.raises(InvalidCursorError):
            space.page("ring", after=after)
        if after[:1] != ("all",):
            with pytest.raises(InvalidCursorError):
                space.page(after=after)


# Against the definition

NASTY = "abAB ßẞİiıIΣσςé\u0301\u0308中国人かカ한🧙👩\u200d\"'\\,:*-()[]אבـ1ﬁ\u1100\u1161\t\n"
TEXTS = st.text(alphabet=NASTY, max_size=9)
NAMES = TEXTS.map(lambda text: nfc(text).strip()).filter(lambda text: name_fault(text) is None)
NODES = st.builds(
    Node,
    NAMES,
    st.sampled_from(["npc", "Straße", "国", "İ type", "a"]),
    st.lists(TEXTS, max_size=3).map(tuple),
)
WRITES = st.lists(st.tuples(st.sampled_from("aaaud"), NODES, st.integers(0, 99)), max_size=30)
ASKED = st.lists(st.one_of(TEXTS, st.text(alphabet=NASTY, min_size=1, max_size=3)), max_size=3)


def matches(node: Node, terms: Sequence[str]) -> tuple[int, int, str] | None:
    """Return where a node stands by rank, as the contract says it, or None."""
    name, node_type = fold(node.name), fold(node.node_type)
    lines = [fold(line) for line in node.metadata]
    places: list[int] = []
    for term in terms:
        holds = (
            name == term,
            name.startswith(term),
            term in name,
            term in node_type,
            any(term in line for line in lines),
        )
        if not any(holds):
            return None
        places.append(holds.index(True))
    return max(places, default=0), sum(places), node.name


def expected(space: Space, terms: Sequence[str], types: Sequence[str], order: str) -> list[str]:
    found = [
        (place, node_id)
        for node_id, node in space.nodes.items()
        if (not types or node.node_type in types) and (place := matches(node, terms)) is not None
    ]
    if order == "creation":
        found.sort(key=lambda item: (item[0][0] > 2, item[1]))
    else:
        found.sort()
    return [space.nodes[node_id].name for _, node_id in found]


def write(space: Space, verb: str, node: Node, choice: int) -> None:
    ids = list(space.nodes)
    taken = {other.name: node_id for node_id, other in space.nodes.items()}
    if verb == "a" and node.name not in taken:
        space.add(node)
    elif verb != "a" and ids:
        chosen = ids[choice % len(ids)]
        if verb == "d":
            space.delete(chosen)
        elif taken.get(node.name, chosen) == chosen:
            space.update(chosen, node)


@pytest.mark.covers("storage.search.exact")
@settings(deadline=None)
@given(
    writes=WRITES,
    asked=ASKED,
    types=st.lists(st.sampled_from(["npc", "Straße", "国", "none"]), max_size=2),
    limit=st.integers(1, 7),
    ranked=st.sampled_from([2, 1_000]),
    looked_at=st.sampled_from([1, 5, 20_000]),
    piece=st.tuples(st.integers(0, 99), st.integers(0, 8), st.integers(1, 5)),
)
def test_search_is_the_naive_search_in_the_promised_order(
    *,
    writes: list[tuple[str, Node, int]],
    asked: list[str],
    types: list[str],
    limit: int,
    ranked: int,
    looked_at: int,
    piece: tuple[int, int, int],
) -> None:
    with bounds(ranked=ranked, looked_at=looked_at), closing(Space()) as space:
        for verb, node, choice in writes:
            write(space, verb, node, choice)
        which, start, length = piece
        texts = [text for n in space.nodes.values() for text in (n.name, n.node_type, *n.metadata)]
        if texts:  # a piece of what is there finds more than a random text
            asked = [*asked[1:], texts[which % len(texts)][start : start + length]]
        pages = list(space.pages(*asked, types=types, limit=limit))
        terms = tuple(dict.fromkeys(term for text in asked if (term := fold(text))))
        order = pages[0].order
        assert {page.order for page in pages} == {order}
        assert not any(page.degraded for page in pages)
        found = [hit.record.name for page in pages for hit in page.hits]
        wanted = expected(space, terms, types, order)
        assert found == wanted
        if terms and looked_at == 20_000:
            assert order == ("rank" if len(wanted) <= ranked else "creation")
        for page in pages:
            assert page.total in (None, len(wanted))
            assert len(page.hits) <= limit


# Cost


@pytest.mark.covers("storage.search.plans")
@pytest.mark.parametrize(
    "query",
    [
        SearchQuery(terms=("ring",)),
        SearchQuery(terms=("国",)),
        SearchQuery(terms=("ring", "power")),
        SearchQuery(terms=("item",)),
        SearchQuery(terms=("ring",), node_types=("item",)),
        SearchQuery(terms=("absent",), node_types=("npc",)),
    ],
)
def test_no_indexed_search_reads_the_nodes_from_end_to_end_or_sorts(
    tmp_path: Path, query: SearchQuery
) -> None:
    with closing(Space(path=tmp_path / "store.db")) as space:
        space.add(*(Node(f"ring {i}", "item", ("of power 国",)) for i in range(9)))
        space.add(*(npc(f"nobody {i}") for i in range(99)))
    asked: list[tuple[str, apsw.Bindings | None]] = []

    def keep(_: apsw.Cursor, sql: str, bound: "apsw.Bindings | None") -> bool:
        asked.append((sql, bound))
        return True

    with closing(apsw.Connection(str(tmp_path / "store.db"))) as db:
        number = int(db.execute("SELECT number FROM projects WHERE id = 's'").get)
        db.exec_trace = keep
        search.search(db, number, query, None, 5, lambda ids: dict.fromkeys(ids, RECORD))
        db.exec_trace = None
        assert any("node_index_" in sql for sql, _ in asked)
        for sql, bound in asked:
            plan = db.execute(f"EXPLAIN QUERY PLAN {sql}", bound).fetchall()
            steps = [str(row[3]) for row in plan]
            assert not [s for s in steps if re.match(r"SCAN (n|node)\b|.*TEMP B-TREE", s)], steps
