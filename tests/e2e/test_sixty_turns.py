"""Sixty turns in a small window: rewrites all along, while everything fails that can."""

import json
import queue
import random
import re
import signal
import threading
from collections import Counter
from collections.abc import Callable
from itertools import cycle, pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.desk import LOOK, Desk
from tests.e2e.plain import LIMIT, PlainClient
from tests.fakes.messages_api import FakeMessagesApi, Reply, status, text, tools
from tests.fakes.scripted_model import SUMMARY
from tests.fakes.validation import plain

pytestmark = pytest.mark.long

Start = Callable[..., PlainClient]
WINDOW = 60_000
NOTHING = -32012
TURNS = 60
THOUGHTS = "The handlers look up by name, so that the table must stay sorted; " * 40
GOAL = "Port the parser to the new grammar. Constraint: never touch generated.py."
NOTED = "Also keep the old entry point working."
MEANWHILE = "And this, while you are at it."


def looked(given: Any) -> Any:
    """Give a long result, or the error of what is broken."""
    path = given["path"]
    if "broken" in path:
        words = f"make: *** [all] Error 2: undefined reference to yy_{path[11:-3]}_"
        return {"content": [{"type": "text", "text": words}], "isError": True}
    lines = (f"{path}:{n}: def handler_{n}(argument): return lookup_{n}" for n in range(110))
    return {"content": [{"type": "text", "text": "\n".join(lines)}]}


class Killed(Exception):
    """The daemon is gone."""


class Failing(Desk):
    """A desk whose builds fail now and then; `moment` is called when a summary is asked for.

    `forgettable` are the failures that a request has carried, `meanwhile` is what was asked while
    a summary was written. `met` are the moments that there were, by name.
    """

    moment: "Callable[[Failing], Reply | None] | None" = None
    met: Counter[str]
    broken = 0
    forgettable: frozenset[str] = frozenset()
    meanwhile: int | None = None
    timer: threading.Timer | None = None

    def daemon(self) -> PlainClient:
        """Start a daemon that does not try long when the API fails."""
        client = self._start(answers={"tool/call": lambda params: looked(params["input"])})
        provider = {"name": "anthropic", "baseUrl": self.api.url, "apiKey": "sk-test"}
        retry = {"attempts": 2, "capMs": 10}
        client.start(model="claude-sonnet-4-6", provider=provider, retry=retry)
        return client

    def written(self, _body: Any, _number: int) -> Reply:
        """Answer a request for a summary, unless this moment has something else in store."""
        moment, self.moment = self.moment, None
        self.met["quiet" if moment is None else moment.__name__] += 1
        return (moment(self) if moment else None) or text(SUMMARY, piece=400)

    def turn(self, number: int) -> str:
        """Take a turn of three steps, every sixth with a failure; gives how it ended."""
        for step in range(3):
            self.steps += 1
            name = f"file_{self.steps}"
            if number % 6 == 3 and step == 1:
                self.broken += 1
                name = f"broken_{self.broken}"
            called = (f"call{self.steps}", "look", {"path": f"src/{name}.py"})
            self.api.script(tools(called, piece=4_000))
        closing = f"Part {number} is looked through. {THOUGHTS}"
        self.api.script(text(closing, piece=400))
        words = GOAL if not number else NOTED if number == 1 else f"Next, part {number}."
        end = self.wait(self.ask(words))
        if self.meanwhile is not None:
            assert self.wait(self.meanwhile) == "end_turn"
            self.meanwhile = None
            assert MEANWHILE in json.dumps(self.api.requests[-1].body)
        if self.timer is not None:
            raise Killed
        return end

    def wait(self, asked: int) -> str:
        """Give how a turn ends; raises `Killed` when the daemon is gone before."""
        for _ in range(round(LIMIT / 0.1)):
            try:
                return str(self.client.result(asked, 0.1)["stopReason"])
            except queue.Empty:
                if self.client.process.poll() is not None:
                    raise Killed from None
        raise TimeoutError

    def check_thread(self, number: int) -> None:
        """What must hold before every further prompt."""
        assert self.api.refused == []
        carried = json.dumps(self.api.requests[-1].body)
        self.forgettable |= frozenset(re.findall(r"yy_\d+_", carried))
        sent = json.dumps(self.shown())
        assert GOAL in sent
        assert NOTED in sent or number < 2
        assert [one for one in self.forgettable if one not in sent] == []


def down(desk: Failing) -> Reply:
    """The API fails, and again when it is tried once more."""
    desk.moment = down_again
    return status(500)


def down_again(_: Failing) -> Reply:
    return status(500)


def unusable(_: Failing) -> Reply:
    return text("", piece=400)


def killed(desk: Failing) -> None:
    desk.client.process.send_signal(signal.SIGKILL)


def killed_while_installed(desk: Failing) -> None:
    """The summary arrives, and a moment later the daemon is killed."""
    desk.timer = threading.Timer(random.random() * 0.06, desk.client.process.kill)
    desk.timer.start()


def cancelled(desk: Failing) -> None:
    desk.client.notify("session/cancel", {"sessionId": desk.session})


def prompted(desk: Failing) -> None:
    """The user does not wait."""
    desk.api.script(text("That too.", piece=400))
    desk.meanwhile = desk.ask(MEANWHILE)


MOMENTS = (killed_while_installed, killed, down, cancelled, prompted, unusable)


# The default asks no model for a summary; its richer variant does.
@pytest.mark.parametrize(("policy", "turns"), [("economic-rich", TURNS), ("opencode", 30)])
def test_the_thread_is_never_lost(start: Start, tmp_path: Path, policy: str, turns: int) -> None:
    workspace = tmp_path / "sixty"
    workspace.mkdir()
    random.seed(turns)
    happened: Counter[str] = Counter()
    with FakeMessagesApi() as api:
        desk = Failing(start, api, workspace)
        desk.met = Counter()
        api.summarise = desk.written
        desk.open(policy, window=WINDOW, maxTokens=4_000, tools=[LOOK])
        moments = cycle(MOMENTS)
        number = 0
        while number < turns:
            if desk.moment is None:
                desk.moment = next(moments)
            number += 1
            try:
                happened[desk.turn(number - 1)] += 1
            except Killed:
                happened["killed"] += 1
                desk.meanwhile = None
                if desk.timer is not None:
                    desk.timer.join()
                    desk.timer = None
                desk.again()
            # What was not asked for any more belongs to no other turn.
            api.drop_script()
            desk.check_thread(number)
        # A summary that is asked for late, between turns, is no moment any more.
        desk.moment = None
        if desk.timer is not None:
            desk.timer.join()
            desk.again()
        assert happened["killed"] >= 2
        assert happened["cancelled"] >= 1
        assert set(happened) == {"end_turn", "killed", "cancelled"}, happened
        assert desk.met.keys() >= {one.__name__ for one in MOMENTS}, desk.met
        before = before_rewrites([blocks(request.body) for request in api.requests])
        assert len(before) >= turns // 10
        for earlier in reversed(before):
            now = blocks(desk("context/preview")["request"])
            assert now[: len(earlier)] != earlier
            while now[: len(earlier)] != earlier:
                desk("context/undoCompaction")
                now = blocks(desk("context/preview")["request"])
        assert desk.refused("context/undoCompaction").code == NOTHING
        assert desk.client.stop() == 0


def blocks(request: Any) -> list[str]:
    """Give all that a provider would hash, in order."""
    history = [block for message in request["messages"] for block in message["content"]]
    return [plain(block) for block in (*request["tools"], *request["system"], *history)]


def before_rewrites(sent: list[list[str]]) -> list[list[str]]:
    """Give each request that the next one does not extend."""
    return [one for one, other in pairwise(sent) if other[: len(one)] != one]
