"""The seed's facade on each real backend, with the npc example of its section 3.1."""

import pytest

from schemory.compat import ApplicationManager
from schemory.graph.service import KnowledgeGraph
from schemory.schemas.catalog import PackSource, SchemaCatalog
from schemory.storage.protocols import GraphStore


@pytest.fixture
def graph(store: GraphStore) -> KnowledgeGraph:
    """An empty graph under the rpg schemas."""
    return KnowledgeGraph(store, space="default", catalog=SchemaCatalog([PackSource("rpg")]))


@pytest.fixture
def app(graph: KnowledgeGraph) -> ApplicationManager:
    """The facade over it."""
    return ApplicationManager(graph)
