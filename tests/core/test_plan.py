"""What a note is reckoned to take, beside what the tokenizer's vocabulary says."""

import pytest

from sidecar.core.plan import weigh
from sidecar.model.vocabulary import load_counter
from sidecar.replay.conversation import FACTOR

NAMES = "Seen: src/session/planner.py · compact_now · RewriteFailed · docs/architecture.md"
HASHES = "\n".join(f"{n * 0x9E3779B97F4A7C15 % 2**40:010x} Checkpoint: {n}" for n in range(1, 40))
NUMBERS = "\n".join(
    f"2026-11-{n:02} 12:{n:02}:07.{n * 37:04} INFO took {n * 211} ms" for n in range(31)
)
PROSE = "Said:\n- Now the retry limit stays at three, because the server drops the fourth one."


@pytest.mark.parametrize("note", [NAMES * 9, HASHES, NUMBERS, PROSE * 9, HASHES + NAMES * 9])
def test_a_note_is_weighed_whatever_it_is_full_of(note: str) -> None:
    assert weigh(note) == pytest.approx(FACTOR * load_counter()(note), rel=0.25)
