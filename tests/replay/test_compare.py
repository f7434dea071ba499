"""Whole recordings under several policies: what is added up, and of what."""

import json
from collections import Counter
from pathlib import Path

import pytest

from sidecar.core.errors import BadRequest
from sidecar.core.parts import Json
from sidecar.core.policies import policies
from sidecar.core.policies.manual import Manual
from sidecar.replay.compare import PolicyTally, Settings, replay_file, tally, totals
from sidecar.replay.headline import compared
from sidecar.replay.simulate import simulate
from sidecar.replay.summary import as_json, policy_json, share
from tests.replay.neutral_files import line, recording, text
from tests.replay.talks import RATES, WINDOW, Scripted, shortened, talk


def settings(*names: str) -> Settings:
    return Settings(names or ("manual",), WINDOW, RATES)


def test_a_session_is_played_under_each_policy_in_the_order_asked_for(tmp_path: Path) -> None:
    path = recording(tmp_path / "one.jsonl")
    session = replay_file(path, len, settings("opencode", "manual"))
    assert (session.name, session.format, session.requests) == ("one", "neutral", 3)
    assert [one.policy for one in session.tallies] == ["opencode", "manual"]
    assert [len(session.sent), session.rewrites, session.damaged] == [3, (), ()]
    # No usage was recorded: there is nothing to compare with.
    assert (session.recorded, session.agreement) == (None, None)


def test_recorded_usage_is_billed_and_compared(tmp_path: Path) -> None:
    usage: Json = {"prompt": 100, "uncached": 100, "cache_read": 0, "output": 10}
    session = replay_file(recording(tmp_path / "one.jsonl", usage=usage), len, settings())
    assert session.recorded == pytest.approx(3 * (100 + 10 * 5))
    assert session.agreement is not None
    assert session.agreement.prompt_recorded == 300


def test_a_recording_is_checked_in_a_window_that_holds_it_up_to_its_own_compaction(
    tmp_path: Path,
) -> None:
    usage: Json = {"prompt": 60_000, "uncached": 60_000, "cache_read": 0, "output": 10}
    path = recording(tmp_path / "one.jsonl", usage=usage)
    lines = path.read_text().splitlines()
    lines.insert(3, json.dumps({**line("user", 1_010, text("so far")), "origin": "compaction"}))
    path.write_text("\n".join(lines))
    session = replay_file(path, len, Settings(("manual",), 16_000, RATES))
    assert session.agreement is not None
    assert (session.agreement.requests, session.agreement.prompt) == (1, 60_000)
    assert session.sent[0].prompt < 16_000


def test_every_policy_plays_a_recording(tmp_path: Path) -> None:
    answers = 30
    path = recording(tmp_path / "one.jsonl", answers=answers)
    known = tuple(policies())
    session = replay_file(path, len, Settings(known, 16_000, RATES))
    assert [one.policy for one in session.tallies] == list(known)
    assert all(one.requests == answers and one.cost > 0 for one in session.tallies)
    assert len({one.peak for one in session.tallies}) > 1
    first = session.tallies[0]
    assert (len(session.rewrites), len(session.sent)) == (first.rewrites, answers)
    assert max(sent.prompt for sent in session.sent) == first.peak


def test_damaged_lines_are_told_and_the_rest_is_played(tmp_path: Path) -> None:
    path = recording(tmp_path / "one.jsonl")
    lines = path.read_text().splitlines()
    lines.insert(2, '{"role":')
    path.write_text("\n".join(lines))
    session = replay_file(path, len, settings())
    assert [one.line for one in session.damaged] == [3]
    assert session.requests == 3


def test_a_recording_without_an_answer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps(line("user", 1, text("hello"))))
    with pytest.raises(BadRequest, match="holds no answer of a model"):
        replay_file(path, len, settings())


def test_one_run_is_added_up() -> None:
    policy = Scripted({2: shortened("p1", to=50), 4: shortened("p3", to=5)})
    run = simulate(talk("0: t1000; 10: c500; 20: p700; 400: p10; 410: p10"), policy, WINDOW, RATES)
    found = tally(run)
    assert (found.policy, found.requests, found.rewrites) == ("scripted", 5, 2)
    assert found.peak == max(sent.prompt for sent in run.sent) == 3_765
    assert found.prompt == sum(sent.prompt for sent in run.sent)
    assert found.read == sum(sent.read for sent in run.sent)
    assert found.causes == Counter({"budget": 2})
    assert (found.runways, found.compressed) == ([2, 2], [10.0, 2.0])


def test_breaks_of_the_cache_are_put_down_to_what_caused_them() -> None:
    policy = Scripted({2: shortened("p0", to=50)})
    run = simulate(talk("0: t3000; 10: c500; 20: p700; 400: p10"), policy, WINDOW, RATES)
    assert tally(run).breaks == Counter({"rewrite": 1, "expired": 1})


def test_a_few_tokens_less_are_no_break() -> None:
    policy = Scripted({2: shortened("p1", to=50)})
    run = simulate(talk("0: t3000; 10: c500; 20: p700"), policy, WINDOW, RATES)
    assert run.sent[2].read == run.sent[1].prompt - 500
    assert tally(run).breaks == Counter()


def test_tallies_of_sessions_add_up_and_the_peak_is_the_highest() -> None:
    runs = [simulate(talk(n), Manual(), WINDOW, RATES) for n in ("0: t1000; 9: p9", "0: t5000")]
    one, other = map(tally, runs)
    both = PolicyTally("manual")
    both.add(one)
    both.add(other)
    assert (both.requests, both.peak, both.prompt) == (3, 7_000, 3_000 + 3_009 + 7_000)
    assert both.cost == one.cost + other.cost
    both.add(PolicyTally("manual", causes=Counter({"pays": 2}), breaks=Counter({"expired": 3})))
    both.add(PolicyTally("manual", causes=Counter({"pays": 1}), breaks=Counter({"lookback": 1})))
    assert both.causes == {"pays": 3}
    assert both.breaks == {"expired": 3, "lookback": 1}
    both.add(PolicyTally("manual", runways=[4], compressed=[2.5]))
    both.add(PolicyTally("manual", runways=[8, 9], compressed=[7.0, 4.0]))
    assert (both.runways, both.compressed) == ([4, 8, 9], [2.5, 7.0, 4.0])


def test_totals_keep_the_order_of_the_policies(tmp_path: Path) -> None:
    chosen = settings("opencode", "manual")
    sessions = [replay_file(recording(tmp_path / f"{n}.jsonl", n), len, chosen) for n in (1, 4)]
    sums = totals(sessions, chosen.policies)
    assert [(one.policy, one.requests) for one in sums] == [("opencode", 5), ("manual", 5)]


def test_the_summary_is_plain_json_with_shares(tmp_path: Path) -> None:
    session = replay_file(recording(tmp_path / "one.jsonl"), len, settings())
    made = as_json([session], compared([session]), settings(), "classic")
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert policy_json(PolicyTally("p", cost=1.0, far=8, view=6, ledger=7, reach=8))["recall"] == {
        "inView": 0.75,
        "withLedger": 0.875,
        "reachable": 1.0,
        "wholeParts": 0.0,
    }


def test_the_summary_says_how_far_rewrites_lie_apart_and_how_much_smaller_they_make_it() -> None:
    made = policy_json(PolicyTally("p", runways=[4, 8, 9], compressed=[2.5, 7.0, 4.0, 5.0]))
    assert made["runway"] == 8
    assert made["compression"] == {"median": 4.5, "least": 2.5, "belowThree": 1}
    never = policy_json(PolicyTally("p"))
    assert (never["runway"], never["compression"]) == (None, None)


def test_of_nothing_all_was_kept() -> None:
    assert (share(0, 0), share(1, 4)) == (1.0, 0.25)
