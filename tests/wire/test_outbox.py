"""One bounded outbox per connection."""

import asyncio
import json
from typing import Any

from sidecar.wire.outbox import HELD, Outbox
from tests.polling import until

PATH = ["params", "update", "content", "text"]


class Pipe:
    """A client that reads only while `open` is set."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.read: list[dict[str, Any]] = []

    async def write(self, data: bytes) -> None:
        await self.open.wait()
        self.read += [json.loads(line) for line in data.splitlines()]


def outbox(pipe: Pipe) -> Outbox:
    made = Outbox(pipe.write, lambda _: 7)
    made.framing = "lines"
    return made


def chunk(text: str, seq: int, part: str = "p") -> dict[str, Any]:
    update = {"content": {"text": text}, "_meta": {"sidecar": {"seq": seq, "partId": part}}}
    return {"method": "session/update", "params": {"sessionId": "s", "update": update}}


async def drained(box: Outbox, pipe: Pipe) -> list[dict[str, Any]]:
    pipe.open.set()
    box.close()
    async with asyncio.timeout(10):
        await box.run()
    return pipe.read


async def test_neighbouring_chunks_of_a_part_are_joined() -> None:
    pipe = Pipe()
    box = outbox(pipe)
    for seq, (text, part) in enumerate([("a", "p"), ("b", "p"), ("c", "q"), ("d", "p")]):
        box.chunk("s", part, chunk(text, seq, part), PATH)
    read = await drained(box, pipe)
    texts = [m["params"]["update"]["content"]["text"] for m in read]
    seqs = [m["params"]["update"]["_meta"]["sidecar"]["seq"] for m in read]
    assert (texts, seqs) == (["ab", "c", "d"], [1, 2, 3])


async def test_of_meters_only_the_newest_waits() -> None:
    pipe = Pipe()
    box = outbox(pipe)
    for used in range(5):
        box.meter("s", {"used": used})
        box.meter("t", {"used": used * 10})
    assert await drained(box, pipe) == [{"used": 4}, {"used": 40}]


async def test_amid_a_turn_only_the_newest_revision_is_told_and_soon() -> None:
    pipe = Pipe()
    box = outbox(pipe)
    for revision in range(5):
        box.changed("s", {"step": revision}, may_wait=True)
    box.changed("s", {"ended": 5}, may_wait=False)
    box.changed("s", {"step": 6}, may_wait=True)
    box.changed("t", {"step": 1}, may_wait=True)
    await until(lambda: box.depth() == 3)
    assert await drained(box, pipe) == [{"ended": 5}, {"step": 6}, {"step": 1}]


async def test_what_a_turn_said_last_hastens_nothing_of_the_next() -> None:
    pipe = Pipe()
    pipe.open.set()
    box = outbox(pipe)
    box.changed("s", {"step": 1}, may_wait=True)
    await asyncio.sleep(HELD * 0.7)
    box.changed("s", {"ended": 2}, may_wait=False)
    box.changed("s", {"step": 3}, may_wait=True)
    begun = asyncio.get_running_loop().time()
    await until(lambda: box.depth() == 2)
    assert asyncio.get_running_loop().time() - begun >= HELD * 0.9


async def test_changes_of_one_call_at_once_are_one() -> None:
    pipe = Pipe()
    box = outbox(pipe)
    changes = [
        ("p", {"sessionUpdate": "tool_call", "status": "pending", "title": "read"}),
        ("p", {"sessionUpdate": "tool_call_update", "status": "pending", "title": "Read a"}),
        ("p", {"sessionUpdate": "tool_call_update", "status": "in_progress"}),
        ("q", {"sessionUpdate": "tool_call_update", "status": "in_progress"}),
        ("p", {"sessionUpdate": "tool_call_update", "status": "completed"}),
    ]
    for seq, (part, update) in enumerate(changes):
        about = {"_meta": {"sidecar": {"partId": part, "seq": seq}}}
        params = {"sessionId": "s", "update": {**update, **about}}
        box.call("s", part, {"method": "session/update", "params": params})
    told = [message["params"]["update"] for message in await drained(box, pipe)]
    assert [(one.pop("_meta")["sidecar"]["seq"], one) for one in told] == [
        (2, {"sessionUpdate": "tool_call", "status": "in_progress", "title": "Read a"}),
        (3, changes[3][1]),
        (4, changes[4][1]),
    ]


async def test_order_is_kept_between_kinds() -> None:
    pipe = Pipe()
    box = outbox(pipe)
    box.chunk("s", "p", chunk("a", 1), PATH)
    box.answer({"id": 1})
    box.chunk("s", "p", chunk("b", 2), PATH)
    read = await drained(box, pipe)
    assert [m.get("id") for m in read] == [None, 1, None]


async def test_a_client_that_does_not_read_bounds_memory_and_catches_up() -> None:
    pipe = Pipe()
    box = outbox(pipe)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(box.run())
        for number in range(200_000):
            # Other parts each time, so that nothing can be joined.
            box.chunk("s", f"p{number}", chunk("x" * 20, number), PATH)
            if number % 5_000 == 0:
                await asyncio.sleep(0)
        assert 4_900 < box.depth() <= 5_000
        box.answer({"id": "kept"})
        pipe.open.set()
        await until(lambda: any(m.get("method") == "session/changed" for m in pipe.read))
        box.close()
        await running
    assert {"id": "kept"} in pipe.read
    resync = [m["params"] for m in pipe.read if m.get("method") == "session/changed"]
    assert resync == [{"sessionId": "s", "revision": 7, "cause": "resync"}]
    box.chunk("s", "again", chunk("after", 1), PATH)
    assert box.depth() == 1


async def test_one_growing_chunk_is_bounded_too() -> None:
    pipe = Pipe()
    box = outbox(pipe)
    for number in range(1_000):
        box.chunk("s", "p", chunk("x" * 10_000, number), PATH)
    size = sum(len(json.dumps(message)) for message in await drained(box, pipe))
    assert 4 * 1024 * 1024 - 20_000 < size < 4 * 1024 * 1024 + 20_000


async def test_a_client_that_leaves_answers_unread_is_not_read_either() -> None:
    pipe = Pipe()
    box = outbox(pipe)
    box.answer({"result": "x" * (16 * 1024 * 1024 - 1_000)})
    await asyncio.wait_for(box.readable(), 10)
    box.answer({"result": "x" * 2_000})
    waiting = asyncio.ensure_future(box.readable())
    await asyncio.sleep(0)
    assert not waiting.done()
    await drained(box, pipe)
    await asyncio.wait_for(waiting, 10)


async def test_a_replay_waits_for_room_and_loses_nothing() -> None:
    pipe = Pipe()
    box = outbox(pipe)

    async def replay() -> None:
        for number in range(10_000):
            await box.paced("s", {"n": number})
        box.close()

    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        group.create_task(replay())
        group.create_task(box.run())
        await asyncio.sleep(0)
        pipe.open.set()
    assert [m["n"] for m in pipe.read] == list(range(10_000))
