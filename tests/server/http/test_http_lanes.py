"""Worker threads that several principals share."""

import asyncio
import threading

import pytest

from schemory.server.http_lanes import SharedLane
from schemory.server.principals import Principal, acting


async def run_as(lane: SharedLane, name: str, job: "threading.Event | None") -> str:
    acting.set(Principal(name=name, scopes=frozenset()))
    if job is None:
        return await lane.run(lambda: name)
    return await lane.run(lambda: str(job.wait(30)))


@pytest.mark.covers("http.walls.share")
@pytest.mark.parametrize("workers", [2, 3])
def test_a_principal_with_many_calls_leaves_a_thread_to_the_others(workers: int) -> None:
    lane = SharedLane("shared", workers)

    async def talk() -> list[str]:
        gate = threading.Event()
        greedy = [asyncio.create_task(run_as(lane, "greedy", gate)) for _ in range(10)]
        await asyncio.sleep(0)
        # Were all threads taken, these would wait for the gate, which opens after them.
        found = [await asyncio.wait_for(run_as(lane, "modest", None), 20) for _ in range(3)]
        gate.set()
        return found + list(await asyncio.gather(*greedy))

    assert asyncio.run(talk()) == ["modest"] * 3 + ["True"] * 10
    assert lane.close(10)


@pytest.mark.covers("http.walls.share")
def test_a_call_that_is_given_up_gives_its_place_back() -> None:
    lane = SharedLane("shared", 1)

    async def talk() -> str:
        gate = threading.Event()
        held = asyncio.create_task(run_as(lane, "ana", gate))
        waiting = asyncio.create_task(run_as(lane, "ana", None))
        await asyncio.sleep(0)
        waiting.cancel()
        gate.set()
        await held
        await asyncio.gather(waiting, return_exceptions=True)
        return await asyncio.wait_for(run_as(lane, "ana", None), 20)

    assert asyncio.run(talk()) == "ana"
    assert lane.close(10)
