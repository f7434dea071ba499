"""What sessions cost and would have cost: each request once, like for like, in one sentence."""

import json
import re
from pathlib import Path

import pytest

from sidecar.core.parts import Json, JsonObject
from sidecar.core.plans.plan import Rates
from sidecar.replay.compare import ReplayedSession, Settings, Subagents, replay_file
from sidecar.replay.headline import compared, headline, percent, prices_told, told
from sidecar.replay.summary import figures, legend, reference_of
from tests.replay.neutral_files import long_recording, recording, write
from tests.replay.recorded import AT_HAND, SESSIONS
from tests.replay.talks import RATES

DEAR = Rates(1e-5, 5e-5, 1.25e-5, 1e-6)
WINDOW = 20_000


def priced(model: str) -> Rates | None:
    return {"claude-dear": DEAR, "m": RATES}.get(model)


def settings(policy: str = "manual") -> Settings:
    return Settings((policy,), WINDOW, RATES, priced=priced)


def played(path: Path, policy: str = "manual") -> ReplayedSession:
    found = replay_file(path, len, settings(policy))
    assert isinstance(found, ReplayedSession)
    return found


def answer(number: int, usage: JsonObject, *, model: str = "claude-dear", **more: Json) -> Json:
    message: Json = {
        "id": f"msg_{number}",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": f"Answer {number}."}],
        "usage": usage,
    }
    at = f"2026-01-01T00:00:{number:02}Z"
    common = {"sessionId": "s", "uuid": f"u{number}", "timestamp": at}
    return {**common, "type": "assistant", "message": message, **more}


def asked(number: int = 0) -> Json:
    said: Json = {"role": "user", "content": f"Question {number}"}
    at = f"2026-01-01T00:00:{number:02}Z"
    return {
        "sessionId": "s",
        "uuid": f"q{number}",
        "type": "user",
        "message": said,
        "timestamp": at,
    }


def claude(path: Path, *lines: Json) -> Path:
    return write(path, [line for line in lines if isinstance(line, dict)])


USED: JsonObject = {"input_tokens": 1_000, "output_tokens": 100}


def test_each_session_has_the_prices_of_its_own_model(tmp_path: Path) -> None:
    dear = played(claude(tmp_path / "a.jsonl", asked(), answer(1, USED)))
    assert dear.recorded == pytest.approx(1_000 * 1e-5 + 100 * 5e-5)
    usage: Json = {"prompt": 100, "uncached": 100, "cache_read": 0, "output": 10}
    usual = played(recording(tmp_path / "b.jsonl", usage=usage))
    assert usual.recorded == pytest.approx(3 * (100 * RATES.input + 10 * RATES.output))
    named = prices_told(compared([dear, usual]), RATES)
    assert "claude-dear 10/50/12.5/1" in named
    assert "unknown" not in named


def test_a_model_without_a_price_is_said_to_have_the_usual_one(tmp_path: Path) -> None:
    strange = played(claude(tmp_path / "a.jsonl", asked(), answer(1, USED, model="odd")))
    assert "odd (unknown, so the usual price)" in prices_told(compared([strange]), RATES)


def test_writes_for_an_hour_cost_twice_the_input(tmp_path: Path) -> None:
    split: Json = {"ephemeral_1h_input_tokens": 1_000, "ephemeral_5m_input_tokens": 0}
    used: JsonObject = {
        "input_tokens": 1,
        "cache_creation_input_tokens": 1_000,
        "cache_creation": split,
        "output_tokens": 0,
    }
    session = played(claude(tmp_path / "a.jsonl", asked(), answer(1, used)))
    assert session.recorded == pytest.approx((1 + 2 * 1_000) * 1e-5)
    assert session.money is not None
    assert session.money.hour == 1


def test_an_agents_own_cost_is_believed(tmp_path: Path) -> None:
    usage: Json = {"prompt": 100, "uncached": 100, "cache_read": 0, "output": 10, "cost": 0.25}
    path = recording(tmp_path / "one.jsonl", usage=usage)
    assert played(path).recorded == pytest.approx(0.75)
    # Who asks for a card asks what the usage would have come to by that.
    by_card = replay_file(path, len, Settings(("manual",), WINDOW, RATES))
    assert isinstance(by_card, ReplayedSession)
    assert by_card.recorded == pytest.approx(3 * (100 + 10 * 5))


@pytest.mark.parametrize("kind", ["side", "progress", "file"])
def test_subagents_are_paid_for_and_not_played(tmp_path: Path, kind: str) -> None:
    main = (asked(), answer(1, USED))
    side = answer(2, {"input_tokens": 5_000, "output_tokens": 0})
    assert isinstance(side, dict)
    lines: list[Json] = []
    alone: list[Subagents] = []
    if kind == "side":
        lines = [{**side, "isSidechain": True}]
    elif kind == "progress":
        lines = [{"type": "progress", "sessionId": "s", "data": {"message": side}}]
    else:
        found = replay_file(
            claude(tmp_path / "agent.jsonl", {**side, "isSidechain": True}), len, settings()
        )
        assert isinstance(found, Subagents)
        alone = [found]
    session = played(claude(tmp_path / "main.jsonl", *main, *lines))
    assert session.requests == 1
    head = headline(compared([session], alone))
    assert head is not None
    assert head.aside == pytest.approx(5_000 * 1e-5)
    assert head.paid == pytest.approx(6_000 * 1e-5 + 100 * 5e-5)
    assert head.here >= head.aside


def test_lines_of_one_answer_are_one_request_with_its_last_count(tmp_path: Path) -> None:
    begun, ended = dict(USED, output_tokens=1), USED
    session = played(claude(tmp_path / "a.jsonl", asked(), answer(1, begun), answer(1, ended)))
    assert session.recorded == pytest.approx(1_000 * 1e-5 + 100 * 5e-5)


def test_what_a_resumed_copy_repeats_counts_once(tmp_path: Path) -> None:
    first = (asked(), answer(1, USED), asked(2), answer(3, USED))
    short = played(claude(tmp_path / "a.jsonl", *first))
    longer = played(claude(tmp_path / "b.jsonl", *first, asked(4), answer(5, USED)))
    whole, of_short = compared([short, longer]), compared([short]).sessions[0]
    assert [round(one.share, 3) for one in whole.sessions] == [0, 1]
    head = headline(whole)
    assert head is not None
    assert (head.sessions, head.copies) == (1, 1)
    assert head.paid == pytest.approx(1.5 * of_short.paid)


def test_of_two_that_part_ways_the_beginning_counts_once(tmp_path: Path) -> None:
    first = (asked(), answer(1, USED))
    one = played(claude(tmp_path / "a.jsonl", *first, asked(2), answer(3, USED), answer(4, USED)))
    other = played(claude(tmp_path / "b.jsonl", *first, asked(5), answer(6, USED)))
    found = compared([one, other]).sessions
    assert [round(part.share, 3) for part in found] == [1, 0.5]


def test_the_same_way_costs_the_same_whatever_the_simulation_gets_wrong(tmp_path: Path) -> None:
    # What is reported is far more than the messages weigh; carrying on changes nothing here.
    usage: Json = {"prompt": 9_000, "uncached": 9_000, "cache_read": 0, "output": 10}
    found = compared([played(recording(tmp_path / "one.jsonl", usage=usage))])
    one = found.sessions[0]
    assert one.missed > 0
    assert one.ours == pytest.approx(one.theirs)
    assert one.here == pytest.approx(one.paid)
    head = headline(found)
    assert head is not None
    assert "no difference that can be told" in told(head)


def test_the_agents_own_cuts_are_played_too(tmp_path: Path) -> None:
    path = long_recording(tmp_path / "one.jsonl")
    kept = compared([played(path)]).sessions[0]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    answers = [line for line in lines if line["role"] == "assistant" and "usage" in line]
    for number, line in enumerate(answers[30:]):
        line["usage"] = {"prompt": 9_500 + 400 * number, "uncached": 9_500, "output": 80}
    cut = compared([played(write(tmp_path / "cut.jsonl", lines))]).sessions[0]
    assert cut.theirs < kept.theirs


def test_the_sentence_says_what_was_paid_what_here_and_how_sure(tmp_path: Path) -> None:
    found = compared([played(long_recording(tmp_path / "one.jsonl"), "economic")])
    head = headline(found)
    assert head is not None
    assert re.fullmatch(
        r"1 session: you paid [\d.,]+ USD; here [\d.,]+, [−+±]\d+ %, re-reads included, "  # noqa: RUF001
        r"±\d+ % by simulation(\.|: .*\.)",
        told(head),
    )


@pytest.mark.parametrize(
    ("here", "error", "end"),
    [
        (60.0, 0.04, "here 60.00, −40 %, re-reads included, ±4 % by simulation."),  # noqa: RUF001
        (98.0, 0.04, "±4 % by simulation: no difference that can be told."),
        (140.0, 0.04, "+40 %, re-reads included, ±4 % by simulation: dearer here."),
        (60.0, 0.001, "±1 % by simulation."),
    ],
)
def test_a_tie_and_a_loss_are_said(here: float, error: float, end: str) -> None:
    from sidecar.replay.headline import Headline

    head = Headline(2, 100.0, here, 100.0, here, 0.0, error, 0, 0)
    assert told(head).endswith(end)


def test_a_share_has_no_more_digits_than_it_is_worth() -> None:
    assert [percent(share) for share in (-0.004, 0.126, -0.41)] == ["±0 %", "+13 %", "−41 %"]  # noqa: RUF001


def test_recordings_without_usage_have_no_headline(tmp_path: Path) -> None:
    assert headline(compared([played(recording(tmp_path / "one.jsonl"))])) is None


def test_every_column_is_explained_and_no_other(tmp_path: Path) -> None:
    tally = played(recording(tmp_path / "one.jsonl")).tallies[0]
    alone = figures(tally, reference_of([tally]))
    assert "ratio" not in alone
    for column in alone:
        assert f"{column}: " in legend(alone)
    assert "ratio: " not in legend(alone)


@AT_HAND
def test_a_real_session_in_two_forms_is_one_with_its_subagents() -> None:
    [raw] = (SESSIONS / "raw").glob("claude-cli-15a48867*")
    [neutral] = (SESSIONS / "normalised").glob("claude-cli-15a48867*")
    both = headline(compared([played(raw), played(neutral)]))
    alone = headline(compared([played(raw)]))
    assert both is not None
    assert alone is not None
    assert (both.sessions, both.copies) == (1, 1)
    assert both.aside == alone.aside > 0
    assert both.paid == pytest.approx(alone.paid)
