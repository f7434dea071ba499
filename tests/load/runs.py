"""The runs of load, each as large as it is asked for: what they give is checked and printed."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import Refused, each_ending_well
from tests.e2e.resident import until
from tests.fakes.messages_api import FakeMessagesApi, Reply, text
from tests.load.fleet import (
    LIMIT,
    Latencies,
    Prompted,
    TimedClient,
    check_acknowledged,
    check_kept,
    check_quiet,
    daemons,
    open_sessions,
    prompt_all,
    windows,
)

WORDS = "one two three four five six seven eight nine ten "
DAY = 24 * 60 * 60
"""Seconds."""


@dataclass
class Streamed:
    """Sessions that streamed at once in one daemon: latencies, and how many texts came."""

    took: Latencies
    texts: int = 0


def stream_at_once(folder: Path, sessions: int, turns: int, length: int) -> Streamed:
    """Let sessions stream from a provider at once; each must be told exactly what it was sent."""
    found, said, work = Streamed(Latencies()), WORDS * length, _folder(folder)

    def respond(*_: object) -> Reply:
        return text(said, piece=len(WORDS), pace=0.02)

    api = FakeMessagesApi(respond)
    with api, each_ending_well(TimedClient) as begin:
        client = begin(data=folder / "data")
        provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": "sk-test"}
        client.start(model="claude-sonnet-4-6", provider=provider)
        opened = open_sessions(client, work, sessions)
        for turn in range(turns):
            prompt_all(client, opened, "Tell me.", found.took)
            check_acknowledged(opened, sessions * (turn + 1))
            for one in opened:
                texts = client.said.pop(one.session)
                assert "".join(texts) == said, one.session
                found.texts += len(texts)
        assert (api.refused, api.prefix_breaks) == ([], [])
        check_quiet([client])
        assert client.stop() == 0
        again = begin(data=folder / "data")
        again.start(model="offline")
        check_kept(again, opened)
    return found


def share_a_daemon(folder: Path, count: int, sessions: int, turns: int, length: int) -> Streamed:
    """Let sessions of many windows stream at once in one daemon.

    Each window is told exactly what its sessions were sent, and one of its neighbour's.
    """
    found, said, work = Streamed(Latencies()), WORDS * length, _folder(folder)

    def respond(*_: object) -> Reply:
        return text(said, piece=len(WORDS), pace=0.02)

    with FakeMessagesApi(respond) as api:
        provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": "sk-test"}
        options = {"model": "claude-sonnet-4-6", "provider": provider}
        with windows(folder, count, **options) as clients:
            opened = [open_sessions(client, work, sessions) for client in clients]
            follow = [opened[(number + 1) % count][0].session for number in range(count)]
            for client, session in zip(clients, follow, strict=True):
                client.request("session/load", {"sessionId": session, "replay": False})
            everything = [one for some in opened for one in some]

            def work_on(number: int) -> None:
                client, heard = clients[number], [one.session for one in opened[number]]
                prompt_all(client, opened[number], "Tell me.", found.took)
                for session in (*heard, follow[number]):
                    until(lambda s=session: len("".join(client.said.get(s, ()))) >= len(said))
                    texts = client.said.pop(session)
                    assert "".join(texts) == said, session
                    found.texts += len(texts)

            for turn in range(turns):
                _at_once(count, work_on)
                check_acknowledged(everything, count * sessions * (turn + 1))
            assert (api.refused, api.prefix_breaks) == ([], [])
            check_quiet(clients)
    with daemons(folder / "data", 1) as (client,):
        check_kept(client, everything)
    return found


@dataclass
class Shared:
    """Daemons that used one store at once. `disputed` prompts went to sessions of others."""

    took: Latencies
    prompts: int
    disputed: int


def share_a_store(folder: Path, count: int, sessions: int, turns: int) -> Shared:
    """Let daemons work on one store at once, each all the while also on a session of another.

    Whatever was acknowledged must be there afterwards, what was refused must not.
    """
    took, everything = Latencies(), list[Prompted]()
    disputed = 0
    work = _folder(folder)
    with daemons(folder / "data", count, SIDECAR_OFFLINE_PACE="0.002") as clients:
        opened: list[list[Prompted]] = [[] for _ in clients]

        def open_some(number: int) -> None:
            opened[number] = open_sessions(clients[number], work, sessions)

        strays: list[Prompted] = []

        def work_on(number: int) -> None:
            client, stray = clients[number], strays[number]
            client.request("session/load", {"sessionId": stray.session, "replay": False})
            for _ in range(turns):
                prompt_all(client, [stray, *opened[number]], "call nothing", took)

        _at_once(count, open_some)
        strays += (Prompted(opened[(number + 1) % count][0].session) for number in range(count))
        _at_once(count, work_on)
        for stray in strays:
            assert not stray.acknowledged, "two daemons wrote one session"
            assert all("another window writes this session" in why for why in stray.refused)
            disputed += len(stray.refused)
        check_quiet(clients)
        everything = [one for some in opened for one in some]
        check_acknowledged(everything, count * sessions * turns)
    with daemons(folder / "data", 1) as (client,):
        check_kept(client, everything)
        check_quiet([client])
    return Shared(took, sum(len(one.acknowledged) for one in everything), disputed)


def _at_once(count: int, act: Callable[[int], None]) -> None:
    """Do something in threads, one for each daemon; raises what the first of them raised."""
    failed: list[BaseException] = []

    def run(number: int) -> None:
        try:
            act(number)
        except BaseException as error:  # noqa: BLE001 - it is raised where the others are awaited
            failed.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT * 5)
    assert not any(thread.is_alive() for thread in threads), "a daemon hangs"
    if failed:
        raise failed[0]


@dataclass
class Soaked:
    """A day in rounds. `memory` is the daemon's own after each round, in bytes."""

    took: Latencies
    memory: list[int] = field(default_factory=list)
    prompts: int = 0

    def growth(self, warm_up: int) -> int:
        """Give by how many bytes memory grew from the first quarter after the warm-up to the last.

        Medians are compared: an allocator's ups and downs from round to round say nothing.
        """
        after = self.memory[warm_up:]
        quarter = max(1, len(after) // 4)
        return _median(after[-quarter:]) - _median(after[:quarter])


def soak(folder: Path, rounds: int, pool: int = 4) -> Soaked:
    """Spend a day in so many rounds: each opens, uses and closes sessions, then time passes.

    The daemon's clock is moved by its file, so that leases, cache entries, keep-alive and the
    sweeps see a whole day. Every prompt must be acknowledged, and be there in another daemon on
    the evening of that day, but for the sessions that were deleted.
    """
    took, clock, work = Latencies(), folder / "clock", _folder(folder)
    clock.write_text("0")
    found = Soaked(took)
    env = {"SIDECAR_CLOCK_OFFSET_FILE": str(clock), "MALLOC_ARENA_MAX": "2"}
    tool = {"name": "look", "description": "Look.", "inputSchema": {"type": "object"}}
    calls = 'call look {"n": 1} then call look {"n": 2}'

    looked: list[int] = []

    def look(given: Any) -> Any:
        looked.append(given["input"]["n"])
        return {"content": [{"type": "text", "text": f"{given['input']['n']} {WORDS * 100}"}]}

    with each_ending_well(TimedClient) as begin:
        client = begin(data=folder / "data", env=env, answers={"tool/call": look})
        client.start(model="offline")
        opened, closed, deleted = list[Prompted](), list[Prompted](), list[Prompted]()
        for number in range(rounds):
            opened += open_sessions(client, work, 1, tools=[{**tool, "kind": "read"}])
            if len(opened) > pool:
                one = opened.pop(0)
                client.request("session/close", {"sessionId": one.session}, LIMIT)
                if number % 2:
                    client.request("session/delete", {"sessionId": one.session}, LIMIT)
                (deleted if number % 2 else closed).append(one)
            prompt_all(client, opened[-1:], calls, took)
            prompt_all(client, opened, "hello", took)
            found.prompts += 1 + len(opened)
            clock.write_text(str(round((number + 1) * DAY / rounds)))
            found.memory.append(client.resident())
            client.notifications.clear()
            client.requests.clear()
            client.said.clear()
            client.ended.clear()
        check_quiet([client])
        check_acknowledged([*opened, *closed, *deleted], found.prompts)
        assert sorted(looked) == [1] * rounds + [2] * rounds
        assert client.stop() == 0
        again = begin(data=folder / "data", env=env)
        again.start(model="offline")
        check_kept(again, [*opened, *closed])
        for one in deleted:
            with pytest.raises(Refused, match="no session"):
                again.request("session/load", {"sessionId": one.session}, LIMIT)
    return found


def _median(values: list[int]) -> int:
    return sorted(values)[len(values) // 2]


def _folder(folder: Path) -> Path:
    made = folder / "work"
    made.mkdir(parents=True, exist_ok=True)
    return made
