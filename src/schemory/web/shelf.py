"""What the viewer reads from: the opened product, with only the verbs that read in reach."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from schemory.errors import InvalidParamError, PathNotAllowedError
from schemory.graph.service import KnowledgeGraph
from schemory.memory.inputs import ProjectRef
from schemory.memory.service import ProjectMemory
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json

if TYPE_CHECKING:
    from schemory.app import App
    from schemory.setup.doctor import Diagnosis


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """What pages are made from.

    Attributes:
        status: What `schemory status` tells.
        diagnose: Looks everything over, as `schemory doctor` does; mends nothing.
    """

    app: "App"
    status: Callable[[], Mapping[str, Json]]
    diagnose: Callable[[], "Diagnosis"]

    @property
    def memory(self) -> ProjectMemory | None:
        """The project memory; None beside a graph file, whose memory is in another store."""
        return None if self.app.settings.graph_file is not None else self.app.memory

    def graph(self, space: str) -> KnowledgeGraph:
        """Return the graph of a space."""
        return self.app.graph.for_space(space)

    def spaces(self) -> tuple[str, ...]:
        """Return every space that holds anything."""
        return self.app.store.spaces()

    def first_project(self) -> str:
        """Return the project to show where none is named: the server's, the folder's, any."""
        settings, memory = self.app.settings, self.memory
        if settings.project is not None:
            return settings.project.id
        if memory is None:
            return ""
        here = self._project_here(memory)
        listed = memory.list_projects(ProjectRef(), limit=100).projects
        ids = [project.id for project in listed]
        return here if here in ids else next(iter(ids), "")

    def _project_here(self, memory: ProjectMemory) -> str:
        folder = self.app.settings.working_folder
        try:
            found = memory.status(ProjectRef(project_path=folder)).project
        except (InvalidParamError, PathNotAllowedError):
            return ""  # here is no project that the memory may be used for
        return found.id if found else ""

    def first_space(self) -> str:
        """Return the space to show where none is named: the settings', else the first one."""
        own, spaces = self.app.settings.space, self.spaces()
        return own if own in spaces or not spaces else spaces[0]
