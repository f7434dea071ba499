"""Rounds of work that end with `kill -9`, each followed by a daemon that must know it all.

A round: start a daemon over the folder that the last one left, load the session and compare it
with all that any client was ever told; see that the next prompt is valid; ask for several things
at once; kill at a random moment, from the start of the process on; keep what was acknowledged.
"""

import asyncio
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sidecar.store.journal import Store
from tests.e2e.plain import PlainClient, Spawn
from tests.fakes.validation import refusal
from tests.faults.told import Told, gather, half, missing

TOOL = {"name": "lookup", "description": "x", "inputSchema": {"type": "object"}, "kind": "read"}
STRATEGIES = ("evict-fifo", "economic", "opencode", "claude-code")
POLICIES = ("manual", "economic", "evict-fifo")
ROUNDS_A_SESSION = 12
ROUNDS_A_FOLDER = 50
LONGEST = 0.25
"""Seconds from the first request to the latest kill; work of a round takes about as long."""
EARLY = 0.15
"""The part of the rounds whose kill may come while the daemon starts or loads."""

VERIFIED = 0.25
"""The part of the kills after which the whole store is read before another daemon touches it."""


def answer(n: int) -> str:
    """Give what the tool says; some of it is long enough for a blob of its own."""
    return f"answer {n} " * (300 if n % 3 == 0 else 20)


def lookup(params: Any) -> Any:
    """Answer a call of the tool."""
    return {"content": [{"type": "text", "text": answer(params["input"]["n"])}]}


@dataclass
class Reached:
    """What the rounds came to."""

    rounds: int = 0
    starting: int = 0
    """Kills before the session was loaded."""
    working: int = 0
    """Kills while a turn ran."""
    items: int = 0
    """Acknowledged items that a later daemon was asked for."""
    answers: int = 0
    """Requests that were answered before a kill."""
    prompts: int = 0
    """Bodies of next requests that were looked at."""
    verified: int = 0
    """Stores that were read whole, right after a kill."""
    lost: list[str] = field(default_factory=list)


@dataclass
class Killing:
    """One data folder through many daemons."""

    folder: Path
    dice: random.Random
    spawn: Spawn | None
    reached: Reached
    session: str = ""
    told: Told = field(default_factory=Told)
    options: set[str] = field(default_factory=set)
    """What the policy may be now: what was acknowledged, and what was asked for since."""
    undoing: bool = False
    forks: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    revision: int = 0
    count: int = 0
    done: int = 0

    def round(self) -> None:
        """Start, check, work, kill."""
        self.reached.rounds += 1
        client = PlainClient(
            self.folder / "data",
            answers={"tool/call": lookup},
            env={"SIDECAR_OFFLINE_PACE": self.dice.choice(["0", "0.0005", "0.002"])},
            spawn=self.spawn,
        )
        if self.dice.random() < EARLY:
            self._kill_early(client)
            return
        client.start(model="offline", permissions={"allow": ["write_file"]})
        self._open(client)
        asked = self._ask(client)
        time.sleep(self.dice.random() ** 2 * LONGEST)
        client.kill()
        self._keep(client, asked)
        if self.dice.random() < VERIFIED:
            self.verify()

    def verify(self) -> None:
        """Read the store as the dead daemon left it, and derive every hash."""
        self.reached.verified += 1
        found = asyncio.run(problems(self.folder / "data"))
        self.reached.lost.extend(f"round {self.reached.rounds}: {line}" for line in found)

    def _kill_early(self, client: PlainClient) -> None:
        self.reached.starting += 1
        client.send("initialize", {"capabilities": {}, "initializationOptions": {}})
        client.notify("initialized")
        if self.session:
            client.send("session/load", {"sessionId": self.session})
        time.sleep(self.dice.random() * 0.15)
        client.kill()
        if self.session:
            # What a daemon that was to load writes into the log counts as well.
            seen = gather(client.notifications, self.session)
            self.told.numbers.extend(seen.numbers)

    def _open(self, client: PlainClient) -> None:
        if self.session:
            self._check(client)
        if not self.session or self.done >= ROUNDS_A_SESSION:
            given = {"cwd": str(self.folder / "work"), "tools": [TOOL]}
            made = client.request("session/new", given)
            self.session, self.options = made["sessionId"], {_policy(made)}
            self.told, self.revision, self.done = Told(), 0, 0
            client.notifications.clear()
        self.done += 1

    def _check(self, client: PlainClient) -> None:
        """Compare what this daemon knows with what others have acknowledged."""
        about = {"sessionId": self.session}
        loaded = client.request("session/load", about)
        prompt = [{"type": "text", "text": "What now?"}]
        body = client.request("context/preview", {**about, "prompt": prompt})["request"]
        now = gather(client.notifications, self.session)
        lost = missing(self.told, now, undoing=self.undoing) + half(now)
        self.reached.items += self.told.items() + len(self.forks) + len(self.deleted)
        if loaded["readOnly"]:
            lost.append("the session is held by the dead")
        if loaded["revision"] < self.revision:
            lost.append(f"revision {loaded['revision']} is older than {self.revision}")
        policy = _policy(loaded)
        if policy not in self.options:
            lost.append(f"the policy is {policy}, not one of {self.options}")
        for state, given, output in now.calls.values():
            if state == "completed" and given and "n" in given and output != answer(given["n"]):
                lost.append(f"half an output: {output!r:.80}")
        if (reason := refusal(body)) is not None:
            lost.append(f"the next prompt is refused: {reason}")
        self.reached.prompts += 1
        self._there(client, lost)
        # What was asked for and not answered has happened or not; from now on that is known.
        self.options, self.told.rewrites, self.undoing = {policy}, now.rewrites, False
        self.reached.lost.extend(f"round {self.reached.rounds}: {line}" for line in lost)

    def _there(self, client: PlainClient, lost: list[str]) -> None:
        """See that forks are there, and not what was deleted."""
        listed = client.request("session/list", {"limit": 200})["sessions"]
        there = {one["sessionId"] for one in listed}
        lost.extend(f"fork {name} is not there" for name in self.forks - there)
        lost.extend(f"{name} was deleted and is there" for name in self.deleted & there)

    def _ask(self, client: PlainClient) -> list[tuple[str, Any, int]]:
        """Send requests without waiting for answers; gives each with its id."""
        asked: list[tuple[str, Any, int]] = []

        def ask(method: str, **given: Any) -> None:
            params = {"sessionId": self.session, **given}
            asked.append((method, params, client.send(method, params)))

        for _ in range(self.dice.randrange(1, 4)):
            match self.dice.choice(["turn", "turn", "turn", "compact", "undo", "option", "fork"]):
                case "turn":
                    ask("session/prompt", prompt=[{"type": "text", "text": self._words()}])
                case "compact":
                    ask("context/compact", strategy=self.dice.choice(STRATEGIES))
                case "undo":
                    self.undoing = True
                    ask("context/undoCompaction")
                case "option":
                    chosen = self.dice.choice(POLICIES)
                    self.options.add(chosen)
                    ask("session/set_config_option", configId="policy", value=chosen)
                case "fork":
                    ask("session/fork")
        if self.forks and self.dice.random() < 0.3:
            # Whether it is deleted is open until that is answered.
            victim = self.forks.pop()
            params = {"sessionId": victim}
            asked.append(("session/delete", params, client.send("session/delete", params)))
        return asked

    def _words(self) -> str:
        steps = []
        for _ in range(self.dice.randrange(1, 7)):
            self.count += 1
            if self.dice.random() < 0.2:
                steps.append(f"write file made{self.count % 5}.txt with text {self.count}")
            else:
                steps.append(f'call lookup {{"n": {self.count}}}')
        return " then ".join(steps)

    def _keep(self, client: PlainClient, asked: list[tuple[str, Any, int]]) -> None:
        seen = gather(client.notifications, self.session)
        if set(seen.turn_of.values()) - set(seen.ended):
            self.reached.working += 1
        durable = seen.durable()
        for mine, theirs in (
            (self.told.typed, durable.typed),
            (self.told.said, durable.said),
            (self.told.calls, durable.calls),
            (self.told.ended, durable.ended),
            (self.told.rewrites, durable.rewrites),
        ):
            mine.update(theirs)
        self.told.numbers = seen.numbers or self.told.numbers
        for method, params, number in asked:
            arrived = client._results[number]
            if arrived.empty():
                if method == "session/set_config_option":
                    # It may have been done after the ones that were answered.
                    self.options.add(params["value"])
                continue
            self.reached.answers += 1
            self._answered(method, params, arrived.get())

    def _answered(self, method: str, params: Any, message: dict[str, Any]) -> None:
        result = message.get("result")
        if result is None:
            return
        match method:
            case "session/prompt":
                self.told.ended.setdefault(result["turnId"], result["stopReason"])
                self.revision = max(self.revision, result["revision"])
            case "context/compact":
                self.told.rewrites.setdefault(result["compactionId"], "completed")
            case "context/undoCompaction":
                self.revision = max(self.revision, result["revision"])
            case "session/set_config_option":
                self.options = {params["value"]}
            case "session/fork":
                self.forks.add(result["sessionId"])
            case "session/delete":
                self.deleted.add(params["sessionId"])


def _policy(opened: dict[str, Any]) -> str:
    options = opened["configOptions"]
    return next(str(one["currentValue"]) for one in options if one["id"] == "policy")


async def problems(folder: Path) -> tuple[str, ...]:
    """Say what is wrong with a store."""
    store = Store.open(folder, now=lambda: 0)
    try:
        return (await store.verify()).problems
    finally:
        await store.close()


def kill_often(
    folder: Path, rounds: int, seed: int, spawn: Spawn | None, reached: Reached
) -> Iterator[Reached]:
    """Go through so many rounds in data folders made in `folder`, one for fifty of them."""
    killing: Killing | None = None
    for number in range(rounds):
        if number % ROUNDS_A_FOLDER == 0 or killing is None:
            place = folder / f"{seed}-{number}"
            (place / "work").mkdir(parents=True)
            killing = Killing(place, random.Random(f"{seed} {number}"), spawn, reached)
        killing.round()
        yield reached
