"""The seed specification's own classes under snake_case names, as thin adapters (G§3-G§10).

For programs written against that document. Everything here is a few lines over the product's own
functions; new programs use `schemory.open_store` and its `.graph`.
"""

from schemory.compat.answers import format_partial_success
from schemory.compat.application import ApplicationManager, EdgeFilter
from schemory.compat.events import EventEmitter
from schemory.compat.schemas import SchemaBuilder, SchemaLoader, create_schema_node
from schemory.compat.transactions import TransactionManager
from schemory.compat.values import EdgeWeightUtils, GraphValidator, MetadataProcessor

__all__ = [
    "ApplicationManager",
    "EdgeFilter",
    "EdgeWeightUtils",
    "EventEmitter",
    "GraphValidator",
    "MetadataProcessor",
    "SchemaBuilder",
    "SchemaLoader",
    "TransactionManager",
    "create_schema_node",
    "format_partial_success",
]
