"""What memory's tools answer while nothing at all is stored."""

from pathlib import Path

import jsonschema  # type: ignore[import-untyped]  # it ships no types
import pytest

from schemory.app import open_app
from schemory.config.load import load_settings
from schemory.tools.registry import Caller


@pytest.mark.covers("memory.cross.no-hit")
def test_a_search_over_all_projects_of_an_empty_store_keeps_its_output_schema(
    tmp_path: Path,
) -> None:
    settings = load_settings({"MEMORY_TOOLSET": "memory"}, environ={}, cwd=tmp_path, home=tmp_path)
    app = open_app(settings)
    try:
        name = "memory_search"
        arguments = {"query": "walrus", "mode": "cross_project"}
        reply = app.toolbox.call(name, arguments, Caller(author="probe/1", client="test"))
        (tool,) = [tool for tool in app.toolbox.list_tools() if tool["name"] == name]
    finally:
        app.close()
    assert not reply.is_error
    assert reply.structured["projects_searched"] == 0
    jsonschema.Draft202012Validator(tool["outputSchema"]).validate(reply.structured)
