"""Keeps the provider's cache alive through a pause, where that pays.

Shortly before the prefix dies, a request for no output reads it and so renews it: at most three
in a pause, each only when the arithmetic says so, and a prompt that comes never waits for one.
"""

import asyncio
from dataclasses import replace

from sidecar.core.errors import ModelFailed
from sidecar.core.keepalive import PINGS, chance_back, ping_pays
from sidecar.core.parts import StepFinishPart
from sidecar.core.pricing import money
from sidecar.core.prompt import ModelRequest
from sidecar.core.render import Block, Rendered, TextBlock
from sidecar.session.events import SessionChanged
from sidecar.session.gauge import is_warm, rates
from sidecar.session.line import Waiting
from sidecar.session.state import State

AFTER = 280_000
"""Milliseconds from the start of the last request: 20 seconds before its prefix dies."""
LONGEST = 20.0
"""Seconds that a ping may take."""
GLANCE = 0.02
"""Seconds between looks at the inbox while a ping is under way."""
PLACEHOLDER = Rendered("user", (Block(TextBlock("."), "context"),))
"""A conversation must end with a user's message; it stands behind the last breakpoint."""


async def next_prompt(state: State, inbox: "asyncio.Queue[Waiting | None]") -> Waiting | None:
    """Wait for what comes next, and meanwhile keep the cache alive where that pays."""
    pings = 0
    while True:
        delay = _delay(state, pings)
        try:
            async with asyncio.timeout(delay):
                return await inbox.get()
        except TimeoutError:
            pings += 1
        async with asyncio.TaskGroup() as group:
            task = group.create_task(ping(state), name="ping")
            while not task.done():
                try:
                    async with asyncio.timeout(GLANCE):
                        found = await inbox.get()
                except TimeoutError:
                    continue
                task.cancel()
                return found


def _delay(state: State, pings: int) -> float | None:
    """Give the seconds until a ping is due; `None` when none is worth sending."""
    last, now = state.view.last, state.clock.now()
    unknown = state.info().price is None or state.read_only
    if not state.config.keep_alive or unknown or last is None or pings >= PINGS:
        return None
    tokens = last.usage.prompt - last.usage.input + last.usage.output
    if not is_warm(state.view, now) or tokens < state.info().min_cacheable:
        return None
    steps = [p for m in state.log for p in m.parts if isinstance(p, StepFinishPart)]
    starts = [step.started for step in steps]
    prices = rates(state)
    found = ping_pays(
        tokens,
        write=prices.write,
        read=prices.read,
        pings=pings,
        chance=chance_back(starts, pings),
    )
    return max(0.0, (last.started + AFTER - now) / 1000) if found.pays else None


async def ping(state: State) -> None:
    """Read the prefix once; what it cost is logged. A failure only means that it may die."""
    view, info = state.view, state.info()
    prompt = view.prompt(state.log)
    if prompt.messages and prompt.messages[-1].role == "assistant":
        prompt = replace(prompt, messages=(*prompt.messages, PLACEHOLDER))
    request = ModelRequest(view.static.model, prompt, 0, state.setting("effort"))
    started = state.clock.now()
    try:
        async with asyncio.timeout(LONGEST):
            usage = await state.model().ping(request)
    except (ModelFailed, TimeoutError):
        return
    if usage is None:
        return
    usage = replace(usage, requests=1)
    cost = state.price(usage)
    state.cached.sent(request, started, info.min_cacheable, view.calibration.factor, usage)
    if usage.cache_read:
        view.kept_alive(started)
    told = None if cost is None else money(cost)
    state.log.spend(told)
    await state.log.commit("ping", {"read": usage.cache_read, "cost": told})
    state.channel.publish(SessionChanged(state.log.row.id, state.log.row.revision, "ping"))
