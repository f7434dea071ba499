"""A session of our own making: after its rewrites it reads as a story."""

from sidecar.core.policies import policies
from tests.replay.own_session import FENCE, MODULES, NO_TARGET, PAGE, STRING, on_page, played, sent
from tests.replay.recorded import Watched
from tests.replay.test_recorded_story import read


def test_each_rewrite_has_the_form_of_a_story() -> None:
    run = played(Watched(policies()["economic"], read))
    assert len(run.rewrites) >= 2
    assert run.memory.failures == run.memory.failures_kept == 1


def test_what_is_sent_tells_what_is_asked_done_and_failed_and_which_rules_hold() -> None:
    text = sent(policies()["economic"])
    for module in range(1, MODULES + 1):
        assert f"Done: slot_00{module} in mod_0{module}.py returns {module * 7}" in text
        assert f"mod_0{module}.py" in text
    assert f"make docs → {NO_TARGET}" in text
    assert STRING not in text
    assert "Never touch generated.py" in text
    assert "CONTRIBUTING.md:\n- Never import from another slot." in text
    places = [text.index(f"──\nSet slot_00{module} to") for module in range(2, MODULES + 1)]
    assert places == sorted(places)


def test_the_page_shows_what_is_sent_word_for_word() -> None:
    text = on_page(sent(policies()["economic"]))
    assert FENCE.findall(PAGE.read_text("utf-8")) == [text], (
        "run `python -m tests.replay.own_session --write`"
    )
    assert "[Files that you work on" in text
    assert text.count("\n") <= 170
