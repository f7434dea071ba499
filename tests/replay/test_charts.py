"""The charts of a replay: in their field, no label on another, whatever the figures."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sidecar.core.text.svg import LETTER
from sidecar.replay.charts import (
    BELOW,
    MOST_POINTS,
    SCATTER,
    WIDTH,
    Box,
    Dot,
    bars,
    scatter,
    timeline,
)
from sidecar.replay.compare import ReplayedSession
from sidecar.replay.simulate import Sent, SimulatedRewrite
from tests.examples import examples

NASTY = "</svg><script>\"'&"


def drawn(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def number(element: ElementTree.Element, name: str) -> float:
    return float(element.attrib[name])


def texts(root: ElementTree.Element, kind: str = "") -> dict[str, ElementTree.Element]:
    found = [one for one in root.iter("text") if kind in one.attrib.get("class", "")]
    return {one.text or "": one for one in found}


def box(element: ElementTree.Element) -> Box:
    """Where a label's text stands, as wide as it is thought to be at most."""
    x, y, width = number(element, "x"), number(element, "y"), LETTER * len(element.text or "")
    left = x - width if element.attrib.get("text-anchor") == "end" else x
    return Box(left, y - 9, left + width, y + BELOW - 0.2)


dots = st.builds(
    Dot,
    st.sampled_from(["manual", "economic", "economic-lean", "open-interpreter", "temporal"]),
    st.floats(0, 2_000) | st.sampled_from([100.0, 101.0]),
    st.floats(0, 1) | st.sampled_from([0.9, 0.9, 1.0]),
)


LONG = "a-policy-of-a-longer-name"


@settings(max_examples=examples(150), deadline=None)
@example([Dot("a", 0.0, 0.0), Dot("b", 900.0, 0.0), Dot(LONG, 512.0, 1.0), Dot(LONG, 507.0, 1.0)])
@example([Dot("a", 5e-324, 1.0)])
@given(st.lists(dots, min_size=1, max_size=9))
def test_no_label_of_the_scatter_covers_another_or_leaves_the_picture(dots: list[Dot]) -> None:
    root = drawn(scatter(dots))
    found = [box(one) for one in root.iter("text") if "label" in one.attrib.get("class", "")]
    assert 1 <= len(found) <= len(dots)
    for index, one in enumerate(found):
        assert one.left >= 0
        assert one.right <= WIDTH + 0.1
        assert 0 <= one.top < one.bottom <= SCATTER
        assert not any(one.meets(other) for other in found[:index])
    circles = list(root.iter("circle"))
    assert len(circles) == len(dots)
    for circle in circles:
        assert 0 <= number(circle, "cx") <= WIDTH
        assert 0 <= number(circle, "cy") <= SCATTER


def test_dots_in_one_place_share_a_label_that_names_them_all() -> None:
    root = drawn(scatter([Dot(f"evict-{n}", 500.0 + n / 100, 0.88) for n in b"abc1"]))
    [label] = texts(root, "label").items()
    assert label[0] == "evict-49 and 3 more"
    title = label[1].find("title")
    assert title is not None
    assert title.text == "evict-49, evict-97, evict-98, evict-99"
    both = texts(drawn(scatter([Dot("dyad", 5, 1.0), Dot("manual", 5, 1.0)])), "label")
    assert list(both) == ["dyad, manual"]
    long = texts(drawn(scatter([Dot("a" * 20, 5, 1.0), Dot("b" * 20, 5, 1.0)])), "label")
    assert list(long) == ["a" * 20 + " and 1 more"]


def test_a_label_that_has_to_move_has_a_line_to_its_dot() -> None:
    crowd = [Dot(f"policy-{n}", 500 + 12.0 * n, 0.9) for n in range(8)]
    root = drawn(scatter([*crowd, Dot("far", 2_000, 0.5)]))
    lines = [one for one in root.iter("line") if one.attrib["x1"] != one.attrib["x2"]]
    across = [one for one in lines if number(one, "x2") < WIDTH - 1]
    centres = {(one.attrib["cx"], one.attrib["cy"]) for one in root.iter("circle")}
    assert across
    assert all((one.attrib["x1"], one.attrib["y1"]) in centres for one in across)


def test_axes_have_round_numbers() -> None:
    root = drawn(scatter([Dot("a", 1_400, 0.8), Dot("b", 20, 1.0)]))
    assert [name for name in texts(root) if re.fullmatch(r"[\d,.]+", name)] == [
        *("0.80", "0.85", "0.90", "0.95", "1.00"),
        *("0", "500", "1,000", "1,500"),
    ]
    small = texts(drawn(scatter([Dot("a", 0.004, 0.999)])))
    assert {"0", "0.001", "0.004", "0.96", "1.00"} <= set(small)


@pytest.mark.parametrize("cost", [0.0, 1e-9, 1e9])
def test_any_cost_can_be_drawn(cost: float) -> None:
    drawn(scatter([Dot("a", cost, 1.0)]))
    drawn(bars([("a", cost), ("b", 0.0)]))


def test_bars_are_in_order_and_in_proportion() -> None:
    root = drawn(bars([("dear", 400.0), ("economic", 100.0), ("long-long-long-long-long", 200.0)]))
    rects = list(root.iter("rect"))
    assert [number(one, "width") / number(rects[0], "width") for one in rects] == pytest.approx(
        [1, 2, 4], rel=1e-3
    )
    assert [one.attrib["fill"] for one in rects] == ["var(--dot)", "var(--used)", "var(--used)"]
    names = list(texts(root, "name"))
    assert names == ["economic", "long-long-long-long-long", "dear"]
    longest = number(texts(root)[names[1]], "x") + LETTER * len(names[1])
    assert longest <= number(rects[0], "x")
    assert number(texts(root)["400.00"], "x") + LETTER * 6 <= WIDTH


def session(prompts: list[int], *rewrites: SimulatedRewrite, name: str = "one") -> ReplayedSession:
    sent = tuple(Sent(n, n, prompt, prompt // 2, 0, 0) for n, prompt in enumerate(prompts))
    return ReplayedSession(name, "neutral", len(sent), None, (), None, (), sent, rewrites)


def axis(root: ElementTree.Element) -> list[float]:
    return sorted(number(one, "y") for name, one in texts(root).items() if name.endswith("k"))


def test_a_timeline_shows_prompts_reads_and_why_there_were_rewrites() -> None:
    rewrite = SimulatedRewrite(1, "pays", f"because {NASTY}", 150_000, 50_000, 0.0)
    root = drawn(timeline(session([100_000, 50_000, 60_000], rewrite), 200_000))
    [line] = root.iter("polyline")
    heights = [float(point.split(",")[1]) for point in line.attrib["points"].split()]
    assert heights[0] < heights[2] < heights[1]
    [mark] = [one for one in root.iter("line") if "stroke" in one.attrib]
    title = mark.find("title")
    assert title is not None
    assert title.text == f"pays: because {NASTY}"
    assert {"200k", "100k", "0k", "request 0", "request 2"} <= set(texts(root))


@pytest.mark.parametrize("most", [1_000, 210_000, 825_000, 30_000_000])
def test_the_numbers_of_a_timeline_have_room_whatever_the_prompts(most: int) -> None:
    root = drawn(timeline(session([most, most // 3]), 200_000))
    found = axis(root)
    assert all(b - a >= 12 for a, b in pairwise(found))
    assert f"{max(most, 200_000) // 1_000}k" in texts(root)


def test_one_request_and_very_many_can_be_drawn() -> None:
    drawn(timeline(session([5_000]), 16_000))
    root = drawn(timeline(session([5_000] * 5_000, name=NASTY), 16_000))
    [line] = root.iter("polyline")
    assert len(line.attrib["points"].split()) <= 2 * MOST_POINTS
    assert NASTY in root.attrib["aria-label"]
