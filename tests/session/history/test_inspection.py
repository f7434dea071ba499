"""Looking into the context: what it is made of, and what the next request would be."""

from typing import Any

from sidecar.core.parts import ToolPart
from tests.session.conftest import Desk
from tests.session.work import Worker


def by_region(segments: list[Any]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for segment in segments:
        sums[segment["region"]] = sums.get(segment["region"], 0) + segment["tokens"]
    return sums


async def adds_up(worker: Worker) -> list[Any]:
    meter, segments = await worker.session.rewriting.breakdown()
    assert sum(segment["tokens"] for segment in segments) == meter.used
    sums = by_region(segments)
    assert {r: n for r, n in meter.regions.items() if n} == {r: n for r, n in sums.items() if n}
    assert len({segment["id"] for segment in segments}) == len(segments)
    return segments


async def test_segments_add_up_to_the_meter_whatever_happens(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    fresh = await adds_up(worker)
    assert [s["region"] for s in fresh][-1] == "system"
    assert not any(segment["cached"] for segment in fresh)
    await worker.turns(4)
    revision = worker.session.opened().revision
    segments = await adds_up(worker)
    assert {s["presentation"] for s in segments} == {"verbatim"}
    flags = [segment["cached"] for segment in segments]
    assert flags == sorted(flags, reverse=True)
    # The closing answer and nothing else has not been part of a request.
    assert flags.count(False) == 1
    done = await worker.session.rewriting.compact("evict-fifo", None, dry_run=False)
    evicted = await adds_up(worker)
    stubs = [s for s in evicted if s["presentation"] == "placeholder"]
    assert {s["region"] for s in stubs} == {"toolResults"}
    assert {s["partId"] for s in stubs} <= {step["partId"] for step in done["plan"]}
    assert max(s["tokens"] for s in stubs) < 100
    await worker.session.rewriting.undo(done["compactionId"])
    assert by_region(await adds_up(worker)).keys() == by_region(segments).keys()
    await worker.session.rewriting.compact("economic", None, dry_run=False)
    rebuilt = await adds_up(worker)
    assert {"note", "dropped", "verbatim"} <= {s["presentation"] for s in rebuilt}
    assert all(s["tokens"] == 0 for s in rebuilt if s["presentation"] == "dropped")
    static = [s for s in rebuilt if s["region"] in ("tools", "system")]
    assert [s for s in rebuilt if s["cached"]] == static
    assert worker.session.opened().revision > revision


async def test_what_was_dropped_stays_in_the_region_it_was_in(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(3)
    before = {s["partId"]: s["region"] for s in await adds_up(worker) if "partId" in s}
    await worker.session.rewriting.compact("claude-code", None, dry_run=False)
    dropped = [s for s in await adds_up(worker) if s["presentation"] == "dropped"]
    kinds = {"reasoning", "context", "user", "assistant", "toolResults"}
    assert {s["region"] for s in dropped} == kinds
    # The newest place of a call is its result, and that is what recall reads.
    assert {s["partId"]: s["region"] for s in dropped}.items() <= before.items()
    assert all(s["label"] for s in dropped)


async def test_a_preview_says_what_the_request_will_cost(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(3)
    revision = worker.session.opened().revision
    words = "And now the next ones, please."
    seen = await worker.session.rewriting.preview(({"type": "text", "text": words},))
    assert worker.session.opened().revision == revision
    assert [m.id for m in desk.messages(worker.session)][-1] != "preview"
    at = len(desk.model.requests)
    await worker.turn(1, words)
    steps = [p for m in desk.messages(worker.session) for p in m.parts if hasattr(p, "usage")]
    usage = steps[at].usage
    assert abs(seen.tokens - usage.prompt) <= 0.02 * usage.prompt
    assert abs(seen.read - usage.cache_read) <= 0.02 * usage.prompt
    written = usage.cache_write_5m + usage.cache_write_1h
    assert abs(seen.write - written) <= 0.02 * usage.prompt
    marks = desk.model.requests[at].prompt.breakpoints
    told = [(m["message"], m["block"], m["ttl"]) for m in seen.breakpoints]
    assert told == [(m.message, m.block, m.ttl) for m in marks]


async def test_the_meter_says_what_the_next_request_and_a_compaction_cost_now(desk: Desk) -> None:
    worker = await desk.worker(policy="economic", system="Work with care. " * 2_000)
    rewriting, prices = worker.session.rewriting, set()

    async def priced() -> tuple[str, str | None]:
        cost = worker.session.priced_meter().cost
        assert cost.next_request == (await rewriting.preview(())).price
        return cost.next_request, cost.compact_now

    prices.add((await priced())[0])
    await worker.turns(2, 6)
    warm, compact_warm = await priced()
    prices.add(warm)
    desk.world.time += 400_000
    cold, compact_cold = await priced()
    assert float(cold) > 3 * float(warm)
    planned = await rewriting.compact("economic", None, dry_run=True)
    assert compact_cold == planned["price"] != compact_warm
    done = await rewriting.compact("economic", None, dry_run=False)
    prices |= {cold, (await priced())[0]}
    assert len(prices) == 4
    await rewriting.undo(done["compactionId"])
    assert await priced() == (cold, compact_cold)
    # Nothing was kept for longer than five minutes, so an hour makes it no dearer.
    desk.world.time += 3_600_000
    assert (await priced())[0] == cold


async def test_what_a_rewrite_left_out_can_be_listed_searched_and_read(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(4)
    done = await worker.session.rewriting.compact("economic", None, dry_run=False)
    note = done["summary"]
    assert f'recall {{"id": "{done["compactionId"]}"}}' in note
    listed = await worker.session.recall(done["compactionId"], 0, None, None)
    lines = listed.content.splitlines()
    calls = [p for m in desk.messages(worker.session) for p in m.parts if isinstance(p, ToolPart)]
    [line] = [line for line in lines if line.startswith(calls[2].id)]
    assert "look src/file_3.py · ok · " in line
    assert "# src/file_3.py defines marker_file_3" in line
    found = await worker.session.recall(done["compactionId"], 0, None, "defines marker_file_[23]$")
    assert found.content.splitlines() == [
        f"{calls[1].id}:1:# src/file_2.py defines marker_file_2",
        f"{calls[2].id}:1:# src/file_3.py defines marker_file_3",
    ]
    piece = await worker.session.recall(done["compactionId"], 0, 100, None)
    assert piece.content == listed.content.encode()[:100].decode()
    assert (piece.total_bytes, piece.next_offset) == (listed.total_bytes, 100)
    assert "thought" not in listed.content
    assert "<context>" not in listed.content
    await worker.turns(3)
    again = await worker.session.rewriting.compact("picoclaw", None, dry_run=False)
    rest = await worker.session.recall(again["compactionId"], 0, None, "defines marker_file_3$")
    assert calls[2].id in rest.content
    whole = await worker.session.recall(calls[2].id, 0, None, None)
    assert whole.content == calls[2].state.output.text  # type: ignore[union-attr]
