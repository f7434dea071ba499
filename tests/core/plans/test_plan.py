"""What a note is reckoned to take, beside what the tokenizer's vocabulary says."""

import pytest

from sidecar.core.prompt.tokens import USUAL_FACTOR, weigh
from tests.replay.recorded import tokenizer

NAMES = "Changed: src/session/planner.py · compact_now · RewriteFailed · docs/architecture.md"
HASHES = "\n".join(f"{n * 0x9E3779B97F4A7C15 % 2**40:010x} Checkpoint: {n}" for n in range(1, 40))
NUMBERS = "\n".join(
    f"2026-11-{n:02} 12:{n:02}:07.{n * 37:04} INFO took {n * 211} ms" for n in range(31)
)
PROSE = "Said:\n- Now the retry limit stays at three, because the server drops the fourth one."


@pytest.mark.parametrize("note", [NAMES * 9, HASHES, NUMBERS, PROSE * 9, HASHES + NAMES * 9])
def test_a_note_is_weighed_whatever_it_is_full_of(note: str) -> None:
    assert weigh(note) == pytest.approx(USUAL_FACTOR * tokenizer()(note), rel=0.25)


def test_a_model_that_counts_more_makes_a_note_as_much_larger() -> None:
    assert weigh(NAMES, 2 * USUAL_FACTOR) - 8 == pytest.approx(2 * (weigh(NAMES) - 8), abs=1)
