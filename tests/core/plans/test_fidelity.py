"""The share of what is likely to be needed that a rewrite leaves in sight."""

import pytest

from sidecar.core.plans.value import fidelity
from sidecar.core.text.identifiers import NameIndex


def index() -> NameIndex:
    names = NameIndex()
    names.see(["seen_once"], 1)
    names.see(["used_often"], 1)
    for step in (2, 3, 4, 5):
        names.use(["used_often"], step)
    return names


def test_nothing_named_is_nothing_lost() -> None:
    assert fidelity(set(), set(), index(), 6) == 1.0
    assert fidelity({"nobody_knows_it"}, set(), index(), 6) == 1.0


def test_all_that_still_stands_there_is_kept() -> None:
    assert fidelity({"seen_once", "used_often"}, {"seen_once", "used_often"}, index(), 6) == 1.0
    assert fidelity({"seen_once", "used_often"}, set(), index(), 6) == 0.0


def test_what_is_likely_to_be_used_again_weighs_more() -> None:
    both = {"seen_once", "used_often"}
    assert fidelity(both, {"used_often"}, index(), 6) == pytest.approx(
        0.225 / (0.225 + 0.026), 0.02
    )
    assert fidelity(both, {"seen_once"}, index(), 6) < 0.15
