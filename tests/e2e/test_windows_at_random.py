"""Eight windows of a shared daemon come, prompt, and go or are killed as a dice says."""

import random
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import PlainClient, Refused
from tests.e2e.resident import Open, about, busy, prompt, seqs, until

pytestmark = pytest.mark.long

WINDOWS = 8
SECONDS = 4.0
SEED = 20_260_828
OVERLOADED, CANCELLED = -32001, -32800


@dataclass
class Seat:
    """One user's; `taken`: the texts that the daemon has read, and did not refuse."""

    number: int
    open: Open
    sessions: list[str]
    until: float
    clients: list[PlainClient] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)
    faults: list[BaseException] = field(default_factory=list)

    def work(self) -> None:
        dice = random.Random(SEED + self.number)
        try:
            while time.monotonic() < self.until:
                self._visit(dice)
        except BaseException as fault:  # noqa: BLE001 - told by the test's own thread
            self.faults.append(fault)

    def _visit(self, dice: random.Random) -> None:
        client, session = self.open(), dice.choice(self.sessions)
        self.clients.append(client)
        load = client.send("session/load", {"sessionId": session})
        if dice.random() < 0.8:
            client.result(load)
        texts = [f"say {self.number}x{len(self.clients)}x{n}." for n in range(dice.randint(1, 3))]
        asked = [(text, prompt(client, session, text)) for text in texts]
        for text, number in asked[: dice.randint(0, len(asked))]:
            if not self._is_refused(client, number):
                self.taken.append(text)
        time.sleep(dice.random() / 4)
        if dice.random() < 0.6:
            client.kill()
            return
        # Of a window that ends well the daemon has read all.
        assert client.stop() == 0, client.stderr
        for text, number in asked:
            if not (client.answered(number) and self._is_refused(client, number)):
                self.taken.append(text)

    def _is_refused(self, client: PlainClient, number: int) -> bool:
        """Whether sixteen wait already; an answer that was cancelled went nowhere."""
        try:
            assert client.result(number)["stopReason"] == "end_turn"
        except Refused as refused:
            if refused.code not in (OVERLOADED, CANCELLED):
                raise
            return refused.code == OVERLOADED
        return False


def asked_in(client: PlainClient) -> list[str]:
    """The prompts that a client was told of."""
    return [str(u["content"]["text"]) for u in client.updates("user_message_chunk")]


def test_what_a_window_was_told_is_lost_to_no_death_of_another(
    window: Open, variables: dict[str, str], workspace: Path
) -> None:
    variables["SIDECAR_OFFLINE_PACE"] = "0.002"
    first = window()
    pid = about(variables)["pid"]
    sessions: list[str] = [
        first.request("session/new", {"cwd": str(workspace)})["sessionId"] for _ in range(3)
    ]
    end = time.monotonic() + SECONDS
    seats = [Seat(number, window, sessions, end) for number in range(WINDOWS)]
    threads = [threading.Thread(target=seat.work) for seat in seats]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [fault for seat in seats for fault in seat.faults] == []
    until(lambda: not busy(variables))
    until(lambda: about(variables)["windows"] == 1)
    assert about(variables)["pid"] == pid
    kept: list[str] = []
    for session in sessions:
        last = window()
        last.request("session/load", {"sessionId": session})
        assert seqs(last) == sorted(set(seqs(last)))
        kept += asked_in(last)
    assert len(kept) == len(set(kept))
    told: set[Any] = {
        text for seat in seats for client in seat.clients for text in asked_in(client)
    }
    taken = {text for seat in seats for text in seat.taken}
    assert (taken | told) - set(kept) == set()
    assert len(kept) > 2 * WINDOWS
    assert any(client.process.returncode == -9 for seat in seats for client in seat.clients)
    for client in (client for seat in seats for client in seat.clients):
        assert seqs(client) == sorted(set(seqs(client)))
