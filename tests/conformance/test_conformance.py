"""The same scenarios with every vendor: what users do, and what happens to them."""

import json
from pathlib import Path

import pytest

from sidecar.config.provider_settings import KINDS, VARIABLES
from tests.conformance.conftest import IMAGE, PNG, Talk
from tests.conformance.vendors import ANTHROPIC, KEY, RESPONSES, VENDORS
from tests.e2e.desk import Start
from tests.e2e.plain import say
from tests.fakes.streaming_server import Answer, said


def test_every_kind_of_provider_is_tried() -> None:
    assert {vendor.kind for vendor in VENDORS} == {*KINDS}


def test_a_turn_with_tools_at_once_survives_kill_byte_by_byte(talk: Talk) -> None:
    talk.api.script(talk.look(), talk.vendor.says("All is well."))
    result = talk.say("what is there?")
    assert (result["cost"] is None) == (talk.vendor.kind == "chat")
    assert result["meter"]["accuracy"] == "exact"
    first, second = talk.api.requests
    talk.grew(first)
    back = talk.vendor.conversation(second).decode()
    assert back.count("seen") == 2
    assert talk.vendor.secret in back
    talk.again()
    assert talk.say("and now?")["usage"]["cachedReadTokens"] > 3_000
    talk.grew(second)
    assert "All is well." in talk.vendor.conversation(talk.last).decode()


@pytest.mark.long
def test_what_can_pass_is_tried_again_and_leaves_nothing(talk: Talk) -> None:
    failures = talk.vendor.passing()
    talk.api.script(*failures, talk.vendor.says("whole"))
    talk.say()
    assert len(talk.api.requests) == len(failures) + 1
    told = [n["params"] for n in talk.client.notifications if n["method"] == "session/retrying"]
    assert [one["attempt"] for one in told] == [*range(1, len(failures) + 1)]
    assert told[-1]["discard"]
    assert len({talk.vendor.conversation(asked) for asked in talk.api.requests}) == 1
    talk.say("and now?")
    assert "will not be finished" not in talk.vendor.conversation(talk.last).decode()
    talk.again(replay=True)
    chunks = talk.client.updates("agent_message_chunk")
    assert "".join(chunk["content"]["text"] for chunk in chunks) == "wholeas you wish"


@pytest.mark.long
def test_a_cancelled_answer_is_hung_up_on_and_told(talk: Talk) -> None:
    talk.api.script(talk.vendor.says("word " * 3_000, pace=0.002))
    asked = talk.ask("speak")
    talk.client.wait_for(lambda n: "agent_message_chunk" in json.dumps(n))
    talk.client.notify("session/cancel", {"sessionId": talk.session})
    assert talk.client.result(asked)["stopReason"] == "cancelled"
    assert talk.api.closed_early.wait(10)
    talk.say("shorter")
    assert "word wo" in talk.vendor.conversation(talk.last).decode()


@pytest.mark.long
def test_pictures_of_users_and_results_are_seen(talk: Talk) -> None:
    talk.seen += [IMAGE]
    talk.api.script(talk.look(), talk.vendor.says("A dot."))
    talk.say("see this", IMAGE)
    sent = talk.vendor.conversation(talk.last).decode()
    assert sent.count(PNG) == 3 * talk.vendor.images
    assert sent.count("is left out: the provider takes none") == 3 * (not talk.vendor.images)
    before = talk.last
    talk.again()
    talk.say("and now?")
    talk.grew(before)


@pytest.mark.long
def test_a_compaction_is_sent_undone_and_survives_kill(talk: Talk) -> None:
    talk.work()
    before, shown = talk.last, talk.shown()
    done = talk("context/compact", strategy="economic")
    talk("context/undoCompaction", compactionId=done["compactionId"])
    assert talk.shown() == shown
    talk("context/compact", strategy="economic")
    talk.say("go on")
    after = talk.last
    assert len(talk.vendor.conversation(after)) < len(talk.vendor.conversation(before))
    talk.again()
    talk.say("and on")
    talk.grew(after)


@pytest.mark.long
def test_a_summary_is_asked_of_the_vendor(talk: Talk) -> None:
    talk.work()
    talk.vendor.summarises(talk.api)
    talk("context/compact", strategy="codex")
    talk.say("go on")
    assert "seen" not in talk.vendor.conversation(talk.last).decode()


@pytest.mark.long
def test_a_fork_and_its_parent_both_begin_with_what_was_sent(talk: Talk) -> None:
    talk.api.script(talk.look(), talk.vendor.says("Seen."))
    talk.say("look")
    before, parent = talk.last, talk.session
    talk.session = talk("session/fork")["sessionId"]
    talk.say("elsewhere")
    talk.grew(before)
    talk.session = parent
    talk.say("here")
    talk.grew(before)
    assert "elsewhere" not in talk.vendor.conversation(talk.last).decode()


@pytest.mark.long
def test_another_vendor_goes_on_and_the_first_finds_its_bytes_again(talk: Talk) -> None:
    talk.api.script(talk.look(), talk.vendor.says("It is alpha."))
    talk.say("what is there?")
    before = talk.last
    [other] = [one for one in talk.apis if one != talk.vendor]
    there = talk.apis[other]
    talk.choose(other.id)
    there.script(other.calls(("d1", "look", {}), thought="So?"), other.says("I agree."))
    talk.say("and you?")
    told = other.conversation(there.requests[-1]).decode()
    # The other is told what was said and done, and nothing that only the first can read.
    assert "It is alpha." in told
    assert "look" in told
    assert not talk.vendor.secret or talk.vendor.secret not in told
    talk.choose(talk.vendor.id)
    talk.again()
    talk.say("back again")
    talk.grew(before)
    assert "I agree." in talk.vendor.conversation(talk.last).decode()


@pytest.mark.long
def test_a_prompt_that_is_too_long_is_told_or_made_to_fit(talk: Talk) -> None:
    talk.api.script(talk.vendor.too_long())
    assert talk.failing()["kind"] == "context_overflow"
    talk.work()
    # Where something can go, there is another try.
    talk.api.script(talk.vendor.too_long(), talk.vendor.says("Now it fits."))
    talk.say("and now?")
    *_, long, short = map(talk.vendor.conversation, talk.api.requests)
    assert len(short) < len(long)


@pytest.mark.long
def test_a_wrong_key_says_what_to_do(talk: Talk) -> None:
    talk.api.script(talk.vendor.unauthorised())
    failed = talk.failing()
    assert failed["kind"] == "authentication"
    assert "; check " in failed["message"]
    assert KEY not in json.dumps(failed)
    assert len(talk.api.requests) == 1


@pytest.mark.long
def test_a_wrong_model_says_what_to_do(talk: Talk) -> None:
    talk.api.script(talk.vendor.unknown_model())
    assert "; check the model's id" in talk.failing()["message"]
    assert len(talk.api.requests) == 1


@pytest.mark.long
@pytest.mark.parametrize(("kind", "variables"), VARIABLES.items())
def test_a_missing_key_is_told_with_its_variable(
    kind: str, variables: tuple[str, ...], start: Start, workspace: Path
) -> None:
    client = start(env=dict.fromkeys(variables, ""))
    client.start(model=f"{kind}/any")
    session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
    assert variables[0] in say(client, session, "hello")["error"]["message"]


@pytest.mark.long
@pytest.mark.parametrize("vendor", [RESPONSES], indirect=True)
def test_openais_own_compaction_is_kept_beside_what_can_be_read(talk: Talk) -> None:
    hidden = "gAAAAhidden"
    talk.api.script(said("It says alpha."), Answer(({"compacted": hidden}, {"text": "Go on."})))
    talk.say("what do the notes say?")
    talk.say("and then?")
    talk.again()
    talk.say("back again")
    before = talk.last
    sent = json.dumps(before.body["input"])
    assert sent.count(hidden) == 1
    assert sent.index("It says alpha.") < sent.index(hidden)
    talk.choose(ANTHROPIC.id)
    talk.say("and you?")
    asked = ANTHROPIC.conversation(talk.apis[ANTHROPIC].requests[-1]).decode()
    assert hidden not in asked
    assert "It says alpha." in asked
    assert "Go on." in asked
    talk.choose(talk.vendor.id)
    talk.say("once more")
    talk.grew(before)
