"""The context's own time: assembling for the next request, and planning a rewrite.

A log of 2,000 parts; one part is new. Beside both stands what any client has to pay: turning the
same request into JSON as the SDK does.
"""

import json
from dataclasses import replace
from statistics import median
from time import perf_counter

from sidecar.core.ledger.units import Item, learn, units_of
from sidecar.core.parts import (
    Message,
    MessageId,
    Output,
    PartId,
    StepFinishPart,
    TextPart,
    ToolCompleted,
    ToolPart,
    TurnId,
    Usage,
)
from sidecar.core.plans.plan import Rates, Situation, Standing
from sidecar.core.policies import policies
from sidecar.core.prompt.cache_rules import MARKED
from sidecar.core.prompt.prompt import ModelRequest
from sidecar.core.text.identifiers import NameIndex
from sidecar.model.messages.encode import encode
from sidecar.session.view.cache_state import CacheWatch
from sidecar.session.view.model_view import ModelView
from tests.core.prompts import static
from tests.replay.recorded import tokenizer

PARTS = 2_000
ROUNDS = 30
CODE = (
    "def handler_{n}(request):\n    return respond_with(request, status={n}, path='src/f{n}.py')\n"
)


def conversation(parts: int) -> list[Message]:
    """Make a log: each step says a line and calls a tool, every tenth step a user types."""
    messages: list[Message] = []
    made = number = 0
    while made < parts:
        turn = TurnId(f"t{number // 10}")
        if number % 10 == 0:
            typed = TextPart(PartId(f"u{number}"), f"look at handler_{number} please", "typed")
            messages.append(Message(MessageId(f"mu{number}"), turn, "user", (typed,), number))
            made += 1
        messages.append(step(number, turn))
        made += 2
        number += 1
    return messages


def step(number: int, turn: TurnId) -> Message:
    """Make one answer of the model with one finished call."""
    output = Output("".join(CODE.format(n=number * 7 + i) for i in range(12)))
    usage = Usage(input=10, cache_read=number * 400, cache_write_5m=400, output=60, requests=1)
    state = ToolCompleted(output, 0, 0)
    call = ToolPart(
        PartId(f"c{number}"), f"call{number}", "read_file", {"path": f"src/{number}.py"}, state
    )
    said = TextPart(PartId(f"p{number}"), f"Now reading src/{number}.py to see.", "model")
    finish = StepFinishPart(PartId(f"f{number}"), "tool_use", usage, None, number)
    return Message(
        MessageId(f"m{number}"), turn, "assistant", (said, call, finish), number, model="m"
    )


def main() -> None:
    """Print the figures."""
    count = tokenizer()
    messages = conversation(PARTS)
    view = ModelView(static("You are an agent. " * 200), count, 1.2, 0)
    view.observe(messages[-1], messages)
    watch, factor = CacheWatch(count), 1.2
    request = ModelRequest("m", view.prompt(messages), 4_000)
    rules = replace(MARKED, minimum=512)
    watch.foresee(request, 0, rules, factor)
    assembling: list[float] = []
    foreseeing: list[float] = []
    encoding: list[float] = []
    planning: list[float] = []
    for number in range(ROUNDS):
        messages.append(step(10_000 + number, TurnId("t9")))
        begun = perf_counter()
        view.observe(messages[-1], messages)
        prompt = view.prompt(messages)
        view.size(messages)
        assembling.append(perf_counter() - begun)
        request = replace(request, prompt=prompt)
        begun = perf_counter()
        watch.sent(request, number, rules, factor, Usage(input=10, cache_write_5m=400))
        foreseeing.append(perf_counter() - begun)
        begun = perf_counter()
        json.dumps(encode(request)).encode()
        encoding.append(perf_counter() - begun)
    situation = situated(messages, view)
    for name in ("economic", "opencode", "evict-hybrid"):
        policy = policies()[name]
        planning = []
        for _ in range(5):
            begun = perf_counter()
            plan = policy.plan(situation, "budget")
            planning.append(perf_counter() - begun)
        assert plan is not None, name
        times = min(planning) / min(encoding)
        print(
            f"plan by {name:<13} {1000 * median(planning):6.1f} ms  ({len(plan.changes)} changes, "
            f"{times:.1f} times what the SDK needs)"
        )
    print(f"assemble, size      {1000 * median(assembling):6.1f} ms  ({PARTS} parts, one new)")
    print(f"foresee the cache   {1000 * median(foreseeing):6.1f} ms")
    print(
        f"encode and dump     {1000 * median(encoding):6.1f} ms  (what the SDK needs for the same)"
    )


def situated(messages: list[Message], view: ModelView) -> Situation:
    """Describe the log to policies, as the session's planner does."""
    names = NameIndex()
    items: list[Item] = []
    step_number = turn = 0
    for message in messages:
        whole = view.rendering.weigh_whole(message)
        for unit in units_of(message, turn, step_number):
            learn(names, unit)
            call, rest = whole.get(unit.part_id, (0, 0))
            if call or rest:
                items.append(Item(unit, call + rest, call))
        step_number += message.role == "assistant"
        turn += message.role == "user"
    used = sum(item.tokens for item in items) + 800
    standing = Standing(
        used, 800, 200_000, 168_000, 800, 10**9, 100, False, False, len(messages),
        Rates(3e-6, 15e-6, 3.75e-6, 0.3e-6),
    )  # fmt: skip
    return Situation(standing, items, names, step_number, 1, len(items))
