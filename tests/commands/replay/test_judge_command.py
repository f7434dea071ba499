"""`sidecar replay --judge` with the real SDK against a scripted judge on loopback."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.messages_api import Body, FakeMessagesApi, Reply, status, text
from tests.faults.forked import sidecar
from tests.replay.neutral_files import long_recording, recording

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
WINDOW = ("--window", "20000", "--jobs", "1")
Answer = Callable[[str], str]


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    """No configuration and no key but what is given."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name != "COLUMNS" and not name.startswith(("ANTHROPIC_", "SIDECAR_"))
    }
    return {**kept, "XDG_CONFIG_HOME": str(tmp_path / "config"), "HOME": str(tmp_path), **more}


def keyed(tmp_path: Path, api: FakeMessagesApi) -> dict[str, str]:
    return environment(tmp_path, ANTHROPIC_BASE_URL=api.url, ANTHROPIC_API_KEY="sk-test")


def run(*arguments: str | Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    done = sidecar("replay", "--judge", *arguments, env=env, timeout=120)
    assert "Traceback" not in done.stderr + done.stdout, done.stderr
    return done


def asked(body: Body) -> str:
    return str(body["messages"][0]["content"][0]["text"])


def questions(body: Body) -> list[str]:
    return list(dict.fromkeys(re.findall(r'^\{"question": "(q\d+)"', asked(body), re.M)))


def step(body: Body) -> str:
    """What a request is: answers, verdicts, or a summary."""
    if "system" not in body:
        return "summary"
    told = str(body["system"][0]["text"])
    return "verdicts" if told.startswith("Two readers") else "answers"


def lines(body: Body, **each: str) -> Reply:
    return text("\n".join(json.dumps({"question": q, **each}) for q in questions(body)))


def judge(
    verdicts: Callable[[Body], Reply], answers: Callable[[Body], Reply] | None = None
) -> Callable[[Body, int], Reply]:
    """A model that answers and judges as it is told."""

    def respond(body: Body, number: int) -> Reply:
        match step(body):
            case "answers":
                return (answers or (lambda b: lines(b, answer="as the record says")))(body)
            case "verdicts":
                return verdicts(body)
            case _:
                return text("## Decisions\n- it was decided to go on, and a model wrote this")

    return respond


def good(body: Body) -> Reply:
    return lines(body, verdict="same", why="nothing is missing")


def found(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    value = json.loads(done.stdout)
    assert isinstance(value, dict)
    return value


def test_a_good_judge_passes_the_gate_and_all_of_it_is_told(tmp_path: Path) -> None:
    path = long_recording(tmp_path / "one.jsonl")
    with FakeMessagesApi(judge(good)) as api:
        done = run(path, *WINDOW, "--json", env=keyed(tmp_path, api))
        kinds = [step(one.body) for one in api.requests]
        contexts = sorted(len(asked(r.body)) for r in api.requests if step(r.body) == "answers")
        purposes = {one.headers["x-sidecar-purpose"] for one in api.requests}
    assert (done.returncode, api.refused, purposes) == (0, [], {"judge"})
    judged = found(done)
    assert (judged["score"], judged["gate"], judged["passed"]) == (1.0, 0.85, True)
    assert (judged["model"], judged["policy"]) == ("claude-opus-5-5", "economic")
    [session] = judged["sessions"]
    assert session["rewrites"] > 0
    assert 6 <= len(session["questions"]) <= 12
    assert set(session["questions"][0]) == {
        "question", "kind", "text", "evidence", "full", "compacted", "verdict", "why",
    }  # fmt: skip
    assert (kinds.count("answers"), kinds.count("verdicts")) == (2, 1)
    assert contexts[0] < 0.8 * contexts[1]
    assert judged["usage"]["requests"] == len(kinds)
    assert float(judged["cost"]) > 0
    estimate, *_, spent = done.stderr.splitlines()
    assert re.match(
        r"asking claude-opus-5-5 about 1 session in 3 requests: .* [\d.]+ USD \(an estimate\)",
        estimate,
    )
    assert re.match(rf"spent: {len(kinds)} requests, .* [\d.]+ USD$", spent)


def test_a_lossy_context_fails_the_gate_and_what_was_lost_is_named(tmp_path: Path) -> None:
    path = long_recording(tmp_path / "one.jsonl")

    def lossy(body: Body) -> Reply:
        ids = questions(body)
        rulings = ["lost", "partial", *["same"] * (len(ids) - 2)]
        said = [
            {"question": q, "verdict": v, "why": f"the {v} one"}
            for q, v in zip(ids, rulings, strict=True)
        ]
        return text("Here you are:\n```json\n" + json.dumps(said) + "\n```")

    with FakeMessagesApi(judge(lossy)) as api:
        done = run(path, *WINDOW, env=keyed(tmp_path, api))
        count = len(questions(api.requests[-1].body))
    assert done.returncode == 1
    score = (count - 1.5) / count
    assert (
        f"Fidelity {score:.3f}, judged by claude-opus-5-5: below the gate of 0.85." in done.stdout
    )
    assert "lost: one: What did the user ask for at first, in detail? the lost one" in done.stdout
    assert "partial: one: " in done.stdout


def test_the_judge_sees_both_answers_and_the_evidence(tmp_path: Path) -> None:
    path = long_recording(tmp_path / "one.jsonl")

    def answers(body: Body) -> Reply:
        whole = "module_0.py" in asked(body) and "value_1_9 = 9" in asked(body)
        return lines(body, answer="from all" if whole else "from what is left")

    with FakeMessagesApi(judge(good, answers)) as api:
        done = run(path, *WINDOW, "--json", env=keyed(tmp_path, api))
        [shown] = [asked(r.body) for r in api.requests if step(r.body) == "verdicts"]
    told = [json.loads(line) for line in shown.splitlines()[1:]]
    assert {(one["first"], one["second"]) for one in told} == {("from all", "from what is left")}
    assert any("ImportError: no module_4" in one["evidence"] for one in told)
    assert found(done)["sessions"][0]["questions"][0]["compacted"] == "from what is left"


def test_summaries_are_written_by_the_model_that_is_asked(tmp_path: Path) -> None:
    path = long_recording(tmp_path / "one.jsonl")
    with FakeMessagesApi(judge(good)) as api:
        done = run(path, *WINDOW, "--policy", "opencode", env=keyed(tmp_path, api))
        bodies = [one.body for one in api.requests]
    summaries = [body for body in bodies if step(body) == "summary"]
    assert (done.returncode, len(summaries) > 0) == (0, True)
    answered = [asked(body) for body in bodies if step(body) == "answers"]
    assert ["and a model wrote this" in one for one in answered].count(True) == 1
    # An estimate: what is written is not as long as what was reckoned with.
    foreseen = int(done.stderr.split(" requests: about ")[0].rsplit(" ", 1)[1])
    assert foreseen >= len(summaries) + 3


def test_where_no_summary_is_written_the_logs_own_words_stand_and_it_is_said(
    tmp_path: Path,
) -> None:
    path = long_recording(tmp_path / "one.jsonl")
    usual = judge(good)

    def respond(body: Body, number: int) -> Reply:
        sorry = text("I'm sorry, I can't help with that.")
        return sorry if step(body) == "summary" else usual(body, number)

    with FakeMessagesApi(respond) as api:
        done = run(path, *WINDOW, "--policy", "opencode", env=keyed(tmp_path, api))
        left = min((asked(r.body) for r in api.requests if step(r.body) == "answers"), key=len)
    assert done.returncode == 0
    assert re.search(
        r"^one: (\d+) of \1 summaries are made of the log's own words: the model refused",
        done.stderr,
        re.M,
    )
    assert "put together from its own sentences" in left


@pytest.mark.parametrize("said", ["I cannot judge this.", "", '{"question": "q1", "verdict": "?"}'])
def test_verdicts_that_cannot_be_read_are_asked_for_once_more_and_then_refused(
    tmp_path: Path, said: str
) -> None:
    path = long_recording(tmp_path / "one.jsonl")
    with FakeMessagesApi(judge(lambda _: text(said))) as api:
        done = run(path, *WINDOW, env=keyed(tmp_path, api))
        kinds = [step(one.body) for one in api.requests]
    assert (done.returncode, kinds.count("verdicts")) == (1, 2)
    assert "Not judged: one: the verdicts could not be read for" in done.stdout
    assert (said or "nothing") in done.stdout
    assert "No session was judged: the gate is not passed." in done.stdout


def test_only_what_was_not_answered_is_asked_again(tmp_path: Path) -> None:
    path = long_recording(tmp_path / "one.jsonl")

    def halting(body: Body) -> Reply:
        ids = questions(body)
        some = ids if len(ids) < 4 else ids[:-2]
        return text("\n".join(json.dumps({"question": q, "verdict": "same"}) for q in some))

    with FakeMessagesApi(judge(halting)) as api:
        done = run(path, *WINDOW, env=keyed(tmp_path, api))
        rounds = [questions(r.body) for r in api.requests if step(r.body) == "verdicts"]
    assert done.returncode == 0
    assert rounds[1] == rounds[0][-2:]


def test_a_session_that_fails_keeps_the_gate_shut_and_the_others_are_told(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    long_recording(tmp_path / "in" / "a.jsonl")
    long_recording(tmp_path / "in" / "b.jsonl", answers=50)

    def first_only(body: Body) -> Reply:
        return good(body) if "module_59" in asked(body) else text("no")

    with FakeMessagesApi(judge(first_only)) as api:
        done = run(tmp_path / "in", *WINDOW, env=keyed(tmp_path, api))
    assert done.returncode == 1
    assert "Not judged: b: the verdicts" in done.stdout
    assert "but a session could not be judged: the gate is not passed." in done.stdout


def test_an_overloaded_provider_is_asked_again_and_in_the_end_it_is_said(tmp_path: Path) -> None:
    path = long_recording(tmp_path / "one.jsonl")
    with FakeMessagesApi(judge(good)) as api:
        api.script(*[status(529, "overloaded_error", retry_after_ms="1")] * 2)
        assert run(path, *WINDOW, env=keyed(tmp_path, api)).returncode == 0
        assert len(api.requests) == 5
    settings = tmp_path / "config" / "sidecar" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("[retry]\nattempts = 4\ncap_ms = 20\n")
    with FakeMessagesApi(lambda *_: status(529, "overloaded_error")) as api:
        done = run(path, *WINDOW, env=keyed(tmp_path, api))
        assert 4 <= len(api.requests) <= 8
    assert done.returncode == 1
    assert "Not judged: one: " in done.stdout
    assert "overloaded" in done.stdout
    assert "spent: 0 requests" in done.stderr


def test_a_key_that_is_not_taken_ends_it(tmp_path: Path) -> None:
    path = long_recording(tmp_path / "one.jsonl")
    with FakeMessagesApi(
        lambda *_: status(401, "authentication_error", "invalid x-api-key")
    ) as api:
        done = run(path, *WINDOW, env=keyed(tmp_path, api))
    assert (done.returncode, done.stdout) == (2, "")
    assert "sidecar replay: " in done.stderr.splitlines()[-1]
    assert "check the API key" in done.stderr


def test_without_a_key_it_says_what_is_missing(tmp_path: Path) -> None:
    done = run(recording(tmp_path / "one.jsonl"), env=environment(tmp_path))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "there is no key to ask one: set ANTHROPIC_API_KEY" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--judge-model", "offline"), "the offline model cannot judge"),
        (("--limit", "0"), "give --limit 1 to 1000"),
        (("--compare",), "leave out --compare, --html"),
        (("--policy", "thrifty"), "there is no policy 'thrifty'"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_one_line(
    tmp_path: Path, arguments: tuple[str, ...], word: str
) -> None:
    env = environment(tmp_path, ANTHROPIC_API_KEY="sk-test")
    done = run(recording(tmp_path / "one.jsonl"), *arguments, env=env)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert word in done.stderr


def test_what_was_never_compacted_is_not_judged_and_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("one", "two"):
        recording(tmp_path / "in" / f"{name}.jsonl")
    with FakeMessagesApi(judge(good)) as api:
        done = run(tmp_path / "in", env=keyed(tmp_path, api))
        assert api.requests == []
    assert done.returncode == 1
    assert "skipped: one is not compacted in a window of 200,000 tokens" in done.stderr
    assert "(and 1 more are not)" in done.stderr
    assert "no session there can be judged" in done.stderr


def test_at_most_so_many_sessions_are_judged_by_the_model_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in "abc":
        long_recording(tmp_path / "in" / f"{name}.jsonl")
    chosen = ("--judge-model", "some-local-model", "--limit", "2", "--json")
    with FakeMessagesApi(judge(good)) as api:
        done = run(tmp_path / "in", *WINDOW, *chosen, env=keyed(tmp_path, api))
        models = {one.body["model"] for one in api.requests}
    assert [one["session"] for one in found(done)["sessions"]] == ["a", "b"]
    assert (models, found(done)["cost"]) == ({"some-local-model"}, None)
    assert "at a price that is not known (an estimate)" in done.stderr


def test_an_interrupt_ends_it_and_what_was_spent_is_said(tmp_path: Path) -> None:
    path = long_recording(tmp_path / "one.jsonl")
    with FakeMessagesApi(
        lambda *_: Reply(({"type": "text", "text": "x" * 50},), failure="stall")
    ) as api:
        command = [sys.executable, "-m", "sidecar", "replay", "--judge", str(path), *WINDOW]
        with subprocess.Popen(
            [*command, "--policy", "opencode"],
            cwd=ROOT,
            env=keyed(tmp_path, api),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                api.wait_for(2, 60)
                os.killpg(process.pid, signal.SIGINT)
                out, errors = process.communicate(timeout=20)
            finally:
                process.kill()
    assert (process.returncode, out) == (130, "")
    assert errors.splitlines()[-1] == "sidecar replay: interrupted"
    assert re.search(r"^spent: \d requests", errors, re.M)
