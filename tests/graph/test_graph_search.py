"""Searching, opening and reading: what is found, in which order, and what a page is bounded by."""

import itertools
from datetime import UTC, datetime

import pytest

from schemory.errors import InvalidCursorError, InvalidParamError
from schemory.graph.inputs import EdgeInput, NodeInput
from schemory.graph.results import GraphPage, PageOptions, Room
from schemory.graph.service import KnowledgeGraph
from schemory.model.edge import EdgeRecord
from schemory.model.node import NodeRecord
from schemory.schemas.catalog import SchemaCatalog
from schemory.storage.sqlite.store import SqliteStore


def names(page: GraphPage) -> list[str]:
    return [record.name for record in page.nodes]


def triples(page: GraphPage) -> list[tuple[str, ...]]:
    return [tuple(record.key) for record in page.edges]


@pytest.fixture
def abc(graph: KnowledgeGraph) -> KnowledgeGraph:
    """The chain alpha -> beta -> gamma."""
    graph.add_nodes([NodeInput(name, "x") for name in ("alpha", "beta", "gamma")])
    graph.add_edges([EdgeInput("alpha", "beta", "e"), EdgeInput("beta", "gamma", "e")])
    return graph


@pytest.mark.covers("graph.search.neighbours")
def test_a_search_answers_matches_first_then_neighbours_and_touching_edges(
    abc: KnowledgeGraph,
) -> None:
    page = abc.search_nodes("gam")
    assert (page.matched, names(page)) == (("gamma",), ["gamma", "beta"])
    assert triples(page) == [("beta", "gamma", "e")]
    assert (page.total_matches, page.total_neighbors, page.more) == (1, 1, None)
    assert page.match_mode == "substring"


@pytest.mark.covers("graph.search.fields")
def test_name_type_and_each_line_are_searched_but_not_across_them(graph: KnowledgeGraph) -> None:
    graph.add_nodes(
        [
            NodeInput("one two", "three", ("four five", "six")),
            NodeInput("other", "thing", ("five six",)),
        ]
    )
    assert graph.search_nodes("e tw").matched == ("one two",)
    assert graph.search_nodes("hree").matched == ("one two",)
    assert graph.search_nodes("four").matched == ("one two",)
    assert graph.search_nodes("five six").matched == ("other",)


@pytest.mark.covers("graph.search.folding")
@pytest.mark.parametrize(
    ("stored", "query", "matched"),
    [
        ("Straße", "strasse", ["n"]),
        ("STRASSE", "straße", ["n"]),
        ("İstanbul", "i\u0307stanbul", ["n"]),
        ("İstanbul", "istanbul", []),
        ("ΟΔΟΣ", "οδος", ["n"]),
        ("οδός", "οδος", []),
        ("Jose\u0301", "JOS\u00c9", ["n"]),
        ("José", "jose", []),
        ("東京都", "京", ["n"]),
        ("東京都", "東京", ["n"]),
        ("東京都", "京東", []),
        ("a-b.c", "-b.", ["n"]),
        ('say "hi"', '"hi"', ["n"]),
        ("100%", "%", ["n"]),
        ("100x", "%", []),
        ("a_b", "a_b", ["n"]),
        ("axb", "a_b", []),
    ],
)
def test_texts_meet_in_nfc_and_full_case_folding_and_accents_count(
    graph: KnowledgeGraph, stored: str, query: str, matched: list[str]
) -> None:
    graph.add_nodes([NodeInput("other", "x"), NodeInput("n", "x", (stored,))])
    assert list(graph.search_nodes(query).matched) == matched


@pytest.mark.covers("graph.search.order")
def test_matches_come_by_where_they_match_then_by_name(graph: KnowledgeGraph) -> None:
    graph.add_nodes(
        [
            NodeInput("zz", "x", ("oak",)),
            NodeInput("aa", "x", ("an oak",)),
            NodeInput("bb", "oaken"),
            NodeInput("an oak", "x"),
            NodeInput("oak tree", "x"),
            NodeInput("oak leaf", "x"),
            NodeInput("OAK", "x"),
        ]
    )
    page = graph.search_nodes("oak")
    assert page.matched == ("OAK", "oak leaf", "oak tree", "an oak", "bb", "aa", "zz")
    assert page.order == "rank"


@pytest.mark.covers("graph.search.words")
def test_when_nothing_holds_the_whole_text_all_its_words_are_sought(graph: KnowledgeGraph) -> None:
    graph.add_nodes(
        [
            NodeInput("Grey wizard", "npc", ("Home: Rivendell",)),
            NodeInput("Wizard", "npc"),
            NodeInput("Tower", "place", ("Owner: wizard of the grey",)),
        ]
    )
    page = graph.search_nodes("wizard  grey")
    assert page.match_mode == "words"
    assert sorted(page.matched) == ["Grey wizard", "Tower"]
    assert graph.search_nodes("grey wizard").match_mode == "substring"
    assert graph.search_nodes("wizard grey red").matched == ()
    assert graph.search_nodes(" rivendell ").matched == ("Grey wizard",)
    assert graph.search_nodes("  ").matched == ()
    assert graph.search_nodes("grey red").match_mode == "substring"


@pytest.mark.covers("graph.search.everything")
def test_the_empty_text_matches_everything_in_creation_order(abc: KnowledgeGraph) -> None:
    page = abc.search_nodes("")
    assert page.matched == ("alpha", "beta", "gamma")
    assert (page.order, page.match_mode) == ("creation", "all")
    assert triples(page) == [("alpha", "beta", "e"), ("beta", "gamma", "e")]


@pytest.mark.covers("graph.search.everything", "graph.options.types")
def test_types_filter_matches_only(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput("a1", "x"), NodeInput("a2", "y"), NodeInput("a3", "x")])
    graph.add_edges([EdgeInput("a1", "a2", "e"), EdgeInput("a2", "a2", "e")])
    only_x = PageOptions(node_types=("x",))
    for page in (graph.search_nodes("a", only_x), graph.search_nodes("", only_x)):
        assert (page.matched, names(page)) == (("a1", "a3"), ["a1", "a3", "a2"])
        assert triples(page) == [("a1", "a2", "e")]
    page = graph.open_nodes(["a2", "a1"], only_x)
    assert (page.matched, names(page), page.not_found) == (("a1",), ["a1", "a2"], ())
    assert names(graph.read_graph(only_x)) == ["a1", "a3"]


@pytest.mark.covers("graph.open")
def test_opening_takes_exact_names_in_their_order(abc: KnowledgeGraph) -> None:
    page = abc.open_nodes(["gamma", "Alpha", "alpha", "gamma"])
    assert page.matched == ("gamma", "alpha")
    assert page.not_found == ("Alpha",)
    assert names(page) == ["gamma", "alpha", "beta"]
    assert triples(page) == [("alpha", "beta", "e"), ("beta", "gamma", "e")]
    assert abc.open_nodes(["a\x00", "\ud800"]).not_found == ("a\x00", "\ud800")


@pytest.mark.covers("graph.open")
def test_opening_one_end_of_a_chain_shows_one_step(abc: KnowledgeGraph) -> None:
    page = abc.open_nodes(["alpha"])
    assert (names(page), triples(page)) == (["alpha", "beta"], [("alpha", "beta", "e")])


@pytest.mark.covers("graph.options.neighbours")
def test_without_neighbours_only_edges_between_matches_come(abc: KnowledgeGraph) -> None:
    page = abc.open_nodes(["beta", "alpha"], PageOptions(with_neighbors=False))
    assert (names(page), triples(page)) == (["beta", "alpha"], [("alpha", "beta", "e")])
    page = abc.open_nodes(["beta"], PageOptions(neighbor_limit=0))
    assert (names(page), triples(page), page.more) == (["beta"], [], None)


@pytest.mark.covers("graph.options.limits")
def test_the_limits_bound_matches_and_neighbours_of_one_page(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput("hub", "x"), NodeInput("hub 2", "x")])
    graph.add_nodes([NodeInput(f"n{i}", "x") for i in range(5)])
    graph.add_edges([EdgeInput("hub", f"n{i}", "e") for i in range(5)])
    first = graph.search_nodes("hub", PageOptions(limit=1, neighbor_limit=2))
    assert (first.matched, names(first)) == (("hub",), ["hub", "n0", "n1"])
    assert (first.total_matches, first.total_neighbors) == (2, None)
    second = graph.search_nodes("hub", PageOptions(limit=1, neighbor_limit=2, after=first.more))
    assert (second.matched, names(second)) == ((), ["n2", "n3"])
    third = graph.search_nodes("hub", PageOptions(limit=1, neighbor_limit=2, after=second.more))
    assert (third.matched, names(third), third.more) == (("hub 2",), ["n4", "hub 2"][::-1], None)


@pytest.mark.covers("graph.options.limits")
@pytest.mark.parametrize("options", [PageOptions(limit=0), PageOptions(neighbor_limit=-1)])
def test_a_limit_that_allows_nothing_is_refused(
    graph: KnowledgeGraph, options: PageOptions
) -> None:
    with pytest.raises(InvalidParamError):
        graph.read_graph(options)
    with pytest.raises(InvalidParamError):
        graph.search_nodes("a", options)
    with pytest.raises(InvalidParamError):
        graph.open_nodes(["a"], options)


def ten(_: NodeRecord | EdgeRecord) -> int:
    return 10


@pytest.mark.covers("graph.pages.room")
def test_a_page_never_passes_its_room_but_always_holds_something(abc: KnowledgeGraph) -> None:
    page = abc.read_graph(PageOptions(room=Room(50, ten)))
    assert (len(page.nodes), len(page.edges), page.more) == (3, 2, None)
    page = abc.read_graph(PageOptions(room=Room(49, ten)))
    assert (len(page.nodes), len(page.edges)) == (3, 1)
    assert page.more is not None
    page = abc.read_graph(PageOptions(room=Room(1, ten)))
    assert (len(page.nodes), len(page.edges)) == (1, 0)
    page = abc.read_graph(PageOptions(room=Room(0, ten)))
    assert (len(page.nodes), page.more) == (3, None)


@pytest.mark.covers("graph.pages.room")
def test_matches_leave_room_for_their_neighbours(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput(f"oak {i}", "x") for i in range(20)])
    graph.add_nodes([NodeInput(f"n{i}", "x") for i in range(20)])
    graph.add_edges([EdgeInput(f"oak {i}", f"n{i}", "e") for i in range(20)])
    page = graph.search_nodes("oak", PageOptions(room=Room(400, ten)))
    assert len(page.matched) >= 5
    assert len(page.nodes) - len(page.matched) >= 5
    assert len(page.edges) >= 5
    assert page.total_matches == 20


@pytest.mark.covers("graph.cursor.bound")
@pytest.mark.parametrize(
    "after",
    [
        ("x",),
        ("g", "a", 1, 2),
        ("i", 3),
        ("sought", "q", 1),
        ("m", 1),
        ("words", "m", 1, 0, 0, 1, "?"),
    ],
)
def test_a_position_of_another_listing_is_refused(
    abc: KnowledgeGraph, after: tuple[int | str, ...]
) -> None:
    options = PageOptions(after=after)
    with pytest.raises(InvalidCursorError):
        abc.search_nodes("a", options)
    with pytest.raises(InvalidCursorError):
        abc.read_graph(PageOptions(after=("sought", *after)))
    with pytest.raises(InvalidCursorError):
        abc.open_nodes(["alpha"], PageOptions(after=("x", *after)))


@pytest.mark.covers("graph.cursor.writes")
def test_a_position_survives_writes_between_two_pages(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput(f"oak {i}", "x") for i in range(6)])
    first = graph.search_nodes("oak", PageOptions(limit=3))
    graph.delete_nodes(["oak 1", "oak 2"])
    graph.add_nodes([NodeInput("oak 11", "x"), NodeInput("oak 9", "x")])
    rest = graph.search_nodes("oak", PageOptions(limit=9, after=first.more))
    assert rest.matched == ("oak 3", "oak 4", "oak 5", "oak 9")
    page = graph.read_graph(PageOptions(limit=2))
    assert names(page) == ["oak 0", "oak 3"]
    graph.delete_nodes(["oak 3", "oak 4"])
    assert names(graph.read_graph(PageOptions(after=page.more))) == ["oak 5", "oak 11", "oak 9"]


@pytest.mark.covers("graph.cursor.writes")
def test_a_match_that_goes_between_two_pages_hides_no_other(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput(f"oak {i}", "x") for i in range(4)])
    graph.add_nodes([NodeInput(f"n{i}", "x") for i in range(8)])
    graph.add_edges([EdgeInput(f"oak {i}", f"n{2 * i + j}", "e") for i in range(4) for j in (0, 1)])
    options = PageOptions(limit=2, neighbor_limit=1)
    page = graph.search_nodes("oak", options)
    assert names(page) == ["oak 0", "oak 1", "n0"]
    graph.delete_nodes(["oak 1"])
    seen: list[str] = []
    while page.more is not None:
        page = graph.search_nodes("oak", PageOptions(limit=2, neighbor_limit=1, after=page.more))
        seen += names(page)
    assert {"oak 2", "oak 3", "n1", "n4", "n5", "n6", "n7"} <= set(seen)


@pytest.mark.covers("graph.hub")
def test_a_hub_costs_a_page_and_not_its_degree(graph: KnowledgeGraph) -> None:
    count = 1_000
    graph.add_nodes([NodeInput("hub", "x"), *(NodeInput(f"n{i:04}", "x") for i in range(count))])
    graph.add_edges([EdgeInput("hub", f"n{i:04}", "e") for i in range(count)])
    options = PageOptions(room=Room(1_000, ten))
    page = graph.open_nodes(["hub"], options)
    assert len(page.nodes) + len(page.edges) <= 100
    seen = set(names(page))
    while page.more is not None:
        page = graph.open_nodes(["hub"], PageOptions(room=Room(4_000, ten), after=page.more))
        assert not seen & set(names(page))
        seen |= set(names(page))
    assert len(seen) == count + 1


@pytest.mark.covers("graph.search.many")
def test_beyond_a_thousand_matches_name_hits_come_first_in_creation_order() -> None:
    numbers = itertools.count()
    store = SqliteStore.open(
        ":memory:", now=lambda: datetime(2026, 3, 8, tzinfo=UTC), ids=lambda: f"id-{next(numbers)}"
    )
    graph = KnowledgeGraph(store, space="default", catalog=SchemaCatalog())
    graph.add_nodes([NodeInput("World", "x")])
    graph.add_nodes(
        [NodeInput(f"oak {i}" if i % 2 else f"n {i}", "x", ("an oak",)) for i in range(1_200)]
    )
    graph.add_edges([EdgeInput("World", f"oak {i}", "e") for i in range(1, 1_200, 2)])
    page = graph.search_nodes("oak", PageOptions(limit=500))
    assert (page.order, page.total_matches) == ("creation", None)
    assert page.matched[:3] == ("oak 1", "oak 3", "oak 5")
    matched, shown, edges = list(page.matched), names(page), triples(page)
    while page.more is not None:
        page = graph.search_nodes("oak", PageOptions(limit=500, after=page.more))
        matched, shown, edges = (
            [*matched, *page.matched],
            shown + names(page),
            edges + triples(page),
        )
    odd, even = range(1, 1_200, 2), range(0, 1_200, 2)
    assert matched == [*(f"oak {i}" for i in odd), *(f"n {i}" for i in even)]
    assert sorted(shown) == sorted([*matched, "World"])
    assert len(edges) == len(set(edges)) == 600
    store.close()
