"""A session of 60 turns full of build logs costs less than half of what it once did."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sidecar.core.policies import policies
from sidecar.replay.prices import read_card
from sidecar.replay.simulate import simulate
from tests.replay.log_heavy import TURNS, log_heavy
from tests.replay.recorded import messages_of, overheard, tokenizer

WINDOW = 200_000
ONCE = {"chars/4": 11.82, "tokenizer": 13.34}
"""USD on 2026-11-22, when durations and ids counted as names that a rewrite must keep."""


def quarter(text: str) -> int:
    return (len(text) + 3) // 4


@pytest.mark.parametrize("counted", ONCE)
def test_a_log_heavy_session_costs_less_than_half_and_uses_its_pauses(
    counted: str, tmp_path: Path
) -> None:
    count: Callable[[str], int] = quarter if counted == "chars/4" else tokenizer()
    messages = messages_of(log_heavy(tmp_path / "logs.jsonl"))
    told = overheard(messages, "logs", count=count)
    run = simulate(told, policies()["economic"], WINDOW, read_card("classic"))
    assert len(run.sent) == 5 * TURNS
    assert run.cost <= ONCE[counted] / 2
    assert run.over == 0
    pauses = TURNS // 3
    # Images of the files that are worked on stay, so that some pauses wait for the next: what would
    # go is too little yet (`LEAST_COMPRESSION`).
    assert sum(rewrite.cause == "cold" for rewrite in run.rewrites) >= 0.6 * pauses
