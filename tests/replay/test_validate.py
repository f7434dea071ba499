"""How a replay is held against what the recorded provider reported."""

from dataclasses import replace
from typing import Any

import pytest

from sidecar.core.parts import Usage
from sidecar.core.policies.manual import Manual
from sidecar.replay.simulate import SimulatedRun, simulate
from sidecar.replay.simulated_cache import USUAL
from sidecar.replay.validate import Agreement, Foresight, agreement, foresight, validity
from tests.replay.talks import RATES, WINDOW, talk

NOTATION = "0: t1000; 10: p500; 20: p500; 30: p500"
# What a replay sends: 3,000, 3,500, 4,000 and 4,500 tokens; it reads 0, 3,000, 3,500 and 4,000.


def reported(*usages: Usage | None, compacted: tuple[int, ...] = ()) -> tuple[Any, SimulatedRun]:
    plain = talk(NOTATION)
    requests = [replace(r, usage=u) for r, u in zip(plain.requests, usages, strict=True)]
    conversation = replace(plain, requests=tuple(requests), compacted=compacted)
    return conversation, simulate(conversation, Manual(), WINDOW, RATES)


def test_prompts_and_reads_are_summed_over_the_requests_that_have_usage() -> None:
    found = agreement(
        *reported(Usage(input=3_000), Usage(500, 3_000), None, Usage(input=3_000, cache_read=2_000))
    )
    assert found == Agreement("talk", 3, 11_000, 11_500, 7_000, 5_000, 0, 3_500, "Anthropic")
    assert found.prompts == pytest.approx(11_000 / 11_500)
    assert found.reads == pytest.approx(1.4)


def test_a_request_that_read_less_than_half_of_what_was_predicted_is_a_miss() -> None:
    usages = (Usage(3_000), Usage(2_000, 1_499), Usage(2_000, 1_750), Usage(4_500))
    found = agreement(*reported(*usages))
    assert found is not None
    assert found.misses == 2


def test_only_what_came_before_the_first_compaction_is_compared() -> None:
    usages = (Usage(3_000), Usage(500, 3_000), Usage(900), Usage(900))
    found = agreement(*reported(*usages, compacted=(2, 3)))
    assert found == Agreement("talk", 2, 6_500, 6_500, 3_000, 3_000, 0, 0, "Anthropic")
    assert agreement(*reported(*usages, compacted=(0,))) is None


def test_without_usage_or_reads_there_is_nothing_to_compare() -> None:
    assert agreement(*reported(None, None, None, None)) is None
    found = agreement(*reported(Usage(3_000), None, None, None))
    assert found is not None
    assert found.reads is None
    assert validity([]) is None


def test_validity_gives_medians_of_deviations_either_way() -> None:
    found = validity(
        [
            Agreement("a", 10, 90, 100, 50, 100, 1),
            Agreement("b", 10, 102, 100, 104, 100, 2),
            Agreement("c", 10, 130, 100, 7, 0, 4),
        ]
    )
    assert found is not None
    assert (found.sessions, found.requests, found.misses) == (3, 30, 7)
    assert found.prompts == pytest.approx(0.10)
    assert found.reads == pytest.approx((0.5 + 0.04) / 2)
    nothing_read = validity([Agreement("c", 10, 130, 100, 7, 0, 4)])
    assert nothing_read is not None
    assert nothing_read.reads is None


PREFIX = replace(
    USUAL, by="prefix", granularity=128, life="evict", writes_cost=False, source="Someone, a page"
)


def test_a_session_foresees_by_the_sizes_that_were_reported_before() -> None:
    usages = (Usage(3_300), Usage(800, 3_072), Usage(900, 3_584), Usage(1_100, 3_840))
    conversation, run = reported(*usages)
    found = agreement(conversation, run, PREFIX)
    assert found is not None
    # Of 3,300, 3,872 and 4,484 tokens, in steps of 128.
    assert (found.foreseen, found.vendor) == (3_200 + 3_840 + 4_480, "Someone")


def test_reads_are_summed_by_vendor_where_any_were_reported() -> None:
    told = [
        Agreement("a", 1, 1, 1, 1, 100, 0, 90, "One"),
        Agreement("b", 1, 1, 1, 1, 300, 0, 350, "One"),
        Agreement("c", 1, 1, 1, 1, 50, 0, 50, "Another"),
        Agreement("d", 1, 1, 1, 1, 0, 0, 50, "None"),
    ]
    found = foresight(told)
    assert found == (Foresight("Another", 1, 50, 50), Foresight("One", 2, 440, 400))
    assert [one.off for one in found] == pytest.approx([0.0, 0.1])
