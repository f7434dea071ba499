"""What presets have a model write: the sections that the named systems ask for."""

import pytest

from sidecar.core.plans.plan import Summary
from sidecar.core.policies import policies
from tests.core.policies.situations import situation

LONG = "U100 A900 " * 125 + "U100 C30k; C30k; A900 U10 A500 U10 C900; C900; C900"

SECTIONS = {
    "opencode": [
        "## Goal", "## Instructions", "## Discoveries", "## Accomplished",
        "## Relevant files / directories",
    ],
    "gemini": [
        "<state_snapshot>", "<overall_goal>", "<key_knowledge>", "<file_system_state>",
        "<recent_actions>", "<current_plan>", "</state_snapshot>",
    ],
    "codex": ["handoff summary", "decisions", "constrains", "next steps", "references"],
    "claude-code": [
        "1. Primary request and intent", "2. Key technical concepts", "3. Files and code sections",
        "4. Errors and fixes", "5. Problem solving", "6. All user messages", "7. Pending tasks",
        "8. Current work", "9. Optional next step",
    ],
    "adk": ["found out", "decided", "questions and tasks are still open"],
    "picoclaw": ["core", "key points", "earlier summary"],
    "temporal": ["two sentences"],
}  # fmt: skip


def wanted(name: str) -> Summary:
    given = situation(LONG, 195_000, messages=300, opens_turn=True)
    plan = policies()[name].plan(given, "user")
    assert plan is not None
    assert plan.summary is not None
    return plan.summary


@pytest.mark.parametrize("name", SECTIONS)
def test_the_sections_of_the_named_system_are_asked_for_in_their_order(name: str) -> None:
    prompt = wanted(name).prompt
    places = [prompt.find(section) for section in SECTIONS[name]]
    assert -1 not in places
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("name", "asking", "calls"),
    [
        ("opencode", "fresh", 1),
        ("gemini", "fresh", 2),
        ("codex", "fresh", 1),
        ("claude-code", "extension", 1),
        ("adk", "fresh", 1),
        ("picoclaw", "fresh", 3),
        ("temporal", "fresh", 1),
    ],
)
def test_it_is_asked_for_as_the_named_system_asks(name: str, asking: str, calls: int) -> None:
    assert (wanted(name).asking, wanted(name).calls) == (asking, calls)


def test_only_what_is_kept_by_scores_needs_to_be_read_by_its_policy() -> None:
    finishing = {
        name
        for name, policy in policies().items()
        if (plan := policy.plan(situation(LONG, 195_000, opens_turn=True), "user")) is not None
        and plan.summary is not None
        and plan.summary.finish is not None
    }
    assert finishing <= {"aircher"}


def test_where_no_named_system_is_followed_the_usual_sections_are_written() -> None:
    plan = policies()["evict-fifo"].plan(situation("U10 A100k A60k U10 A100 C9; C9; C9"), "budget")
    assert plan is not None
    assert plan.summary is not None
    assert plan.summary.prompt == ""
