"""Worker threads that several principals share: none can take them all."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

from schemory.server.lane import Lane, Lanes
from schemory.server.principals import acting

_Result = TypeVar("_Result")


@dataclass(slots=True)
class _Share:
    """What one principal may take, and how many of its jobs are about."""

    slots: asyncio.Semaphore
    jobs: int = 0


class SharedLane(Lane):
    """A lane of several threads, of which one principal takes all but one at most.

    What goes beyond that waits, so that whoever comes later does not wait behind it.
    """

    def __init__(self, name: str, workers: int) -> None:
        super().__init__(name, workers)
        self._most = max(1, workers - 1)
        self._shares: dict[str, _Share] = {}

    async def run(self, job: Callable[[], _Result]) -> _Result:
        """Run `job` when its principal's share has room; see `Lane.run`."""
        principal = acting.get()
        if principal is None:
            return await super().run(job)
        async with self._slot(principal.key):
            return await super().run(job)

    @asynccontextmanager
    async def _slot(self, name: str) -> AsyncGenerator[None]:
        share = self._shares.setdefault(name, _Share(asyncio.Semaphore(self._most)))
        share.jobs += 1
        try:
            async with share.slots:
                yield
        finally:
            share.jobs -= 1
            if not share.jobs:
                self._shares.pop(name, None)


class SharedLanes(Lanes):
    """A shared lane for calls, and one for those that others should not have to wait for."""

    def __init__(self, name: str, workers: int, long_workers: int) -> None:
        self.short = SharedLane(name, workers)
        self.long = SharedLane(f"{name}-long", long_workers)
