"""Worker threads that do jobs in turn, so that the event loop stays free to answer."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import suppress

from schemory.hints import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from typing import TypeVar

    _Result = TypeVar("_Result")


class Lane:
    """Runs jobs in the order they come, in a daemon thread of its own, or several.

    The first job starts them: many a server is only asked what it can do.

    A daemon, because a job that hangs in the operating system (a pipe that nobody reads, a lock on
    a dead disk) must not keep the process alive once it has been told to end.

    Args:
        name: Of its threads.
        workers: How many threads there are.
        prepare: Called by each thread before its first job.
    """

    def __init__(
        self, name: str, workers: int = 1, prepare: Callable[[], None] | None = None
    ) -> None:
        self._prepare = prepare
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._starting = threading.Lock()
        self._has_started = False
        self._threads = [
            threading.Thread(target=self._work, name=f"{name}-{number}", daemon=True)
            for number in range(workers)
        ]

    def submit(self, job: Callable[[], None]) -> None:
        """Have `job` run after those before it; it must not raise."""
        self._jobs.put(job)
        with self._starting:
            if not self._has_started:
                self._has_started = True
                for thread in self._threads:
                    thread.start()

    async def run(self, job: Callable[[], _Result]) -> _Result:
        """Run `job` in the lane and return its result; what it raises is raised here.

        A caller that is cancelled leaves the job running to its end.
        """
        import asyncio  # noqa: PLC0415 (kept out of processes without an event loop)

        loop = asyncio.get_running_loop()
        future: asyncio.Future[_Result] = loop.create_future()

        def settle(result: _Result) -> None:
            if not future.done():
                future.set_result(result)

        def fail(fault: BaseException) -> None:
            if not future.done():
                future.set_exception(fault)

        def work() -> None:
            try:
                result = job()
            except BaseException as fault:  # noqa: BLE001 (handed to whoever awaits)
                post(loop, fail, fault)
            else:
                post(loop, settle, result)

        self.submit(work)
        return await future

    def close(self, timeout_seconds: float) -> bool:
        """Stop after the jobs already queued; False if one still runs after the time-out."""
        import time  # noqa: PLC0415 (of no use before the end)

        if not self._has_started:
            return True
        for _ in self._threads:
            self._jobs.put(None)
        latest = time.monotonic() + timeout_seconds
        for thread in self._threads:
            thread.join(max(0.0, latest - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _work(self) -> None:
        prepare = self._prepare
        while (job := self._jobs.get()) is not None:
            if prepare is not None:
                prepare()
                prepare = None
            job()


class Lanes:
    """A lane for calls, and one for those that others should not have to wait for."""

    def __init__(
        self,
        name: str,
        workers: int = 1,
        long_workers: int = 1,
        prepare: Callable[[], None] | None = None,
    ) -> None:
        self.short = Lane(name, workers, prepare)
        self.long = Lane(f"{name}-long", long_workers, prepare)

    def close(self, timeout_seconds: float) -> bool:
        """Stop both after the jobs already queued; False if one still runs after the time-out."""
        return all([self.short.close(timeout_seconds), self.long.close(timeout_seconds)])


def post(
    loop: asyncio.AbstractEventLoop, function: Callable[..., None], *arguments: object
) -> None:
    """Have `loop` call `function` soon, from any thread; nothing happens once it has closed."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(function, *arguments)
