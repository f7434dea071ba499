"""The page of a session: one file, nothing from elsewhere, nothing that runs, readable by all."""

import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from itertools import combinations, pairwise
from time import monotonic

import pytest

from sidecar.observe.report.course import Course
from sidecar.observe.report.plot import MOST_COLUMNS
from sidecar.observe.report.report import POLICY, report
from sidecar.observe.report.report_charts import NAMES
from sidecar.observe.report.style import COLOURS, REGION_COLOURS, style
from tests.observe.courses import NASTY, NOW, by_region, course

ALONE = {"meta", "input", "br"}
MOST_BYTES = 2_000_000
MOST_SECONDS = 20.0
"""Many times what it takes, for machines that do much else."""


class Tags(HTMLParser):
    """Checks that all that is opened is closed, and keeps tags, attributes and texts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in ALONE:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def of(self, tag: str, name: str) -> list[str]:
        return [value for t, n, value in self.attributes if (t, n) == (tag, name)]

    def classes(self, name: str) -> int:
        return sum(name in value.split() for _, n, value in self.attributes if n == "class")


def when(at: int) -> str:
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d %H:%M}"


def page(of: Course) -> str:
    return report(of, when, NOW)


def test_nothing_is_fetched_and_nothing_can_run() -> None:
    found = Tags(page(course()))
    allowed = {"circle", "ellipse", "g", "line", "path", "polygon", "polyline", "rect", "svg"}
    assert (
        not set(found.tags)
        - allowed
        - {
            *(
                "html",
                "head",
                "meta",
                "title",
                "style",
                "body",
                "main",
                "header",
                "div",
                "h1",
                "h2",
            ),
            *("h3", "p", "code", "br", "b", "i", "span", "fieldset", "legend", "label", "input"),
            *("section", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "text"),
            *("details", "summary", "pre", "footer"),
        }
    )
    names = {name for _, name, _ in found.attributes}
    assert not {"src", "href", "style", "xlink:href", "action", "srcset"} & names
    assert not [name for name in names if name.startswith("on")]
    assert POLICY in found.of("meta", "content")
    assert POLICY == "default-src 'none'; style-src 'unsafe-inline'"
    assert not re.search(r"https?:|@import|url\(|javascript:", page(course()))


def test_whatever_a_session_says_is_text() -> None:
    html = page(course(words=NASTY))
    found, plain = Tags(html), Tags(page(course()))
    assert set(found.tags) == {*plain.tags, "ul"}
    assert found.tags.count("script") == found.tags.count("img") == 0
    assert found.tags.count("style") == found.tags.count("meta") - 2 == 1
    # It is said where it should be: title, heading, reasons, tools, files, notes, problems.
    assert sum(NASTY in text for text in found.texts) > 60
    assert "<script" not in html
    assert "onerror=alert" not in html.replace("&lt;img src=x onerror=alert", "")


def test_each_chart_shows_all_there_is() -> None:
    drawn = course(turns=6, steps=3, period=6)
    found = Tags(page(drawn))
    assert found.tags.count("svg") == 4
    assert len(found.of("svg", "aria-label")) == 4
    assert found.of("svg", "role") == ["img"] * 4
    for region in by_region(drawn.now):
        areas = [v for v in found.of("path", "class") if v == f"area r-{region}"]
        assert len(areas) == 1, region
    assert found.classes("of-context") == found.classes("of-cache") == len(drawn.requests) == 18
    # Lines in both the context's and the cache's chart.
    assert found.classes("mark") == 2 * len(drawn.changes) == 4
    assert found.classes("miss") == sum(one.miss is not None for one in drawn.requests) == 3
    assert found.of("polyline", "class").count("paid") == 1
    assert found.of("polyline", "class").count("fresh") == 1
    assert found.of("polygon", "class").count("saved") == 1
    opened = sum(change.opens for change in drawn.changes)
    assert found.classes("epoch") == 1 + opened == 3
    assert found.classes("strip") == found.classes("zone") > 0
    assert found.of("g", "class").count("tool") == 13
    assert found.classes("points") == 1
    said = " ".join(found.texts)
    for region, tokens in by_region(drawn.now).items():
        assert NAMES.get(region, region) in said
        assert f"{tokens:,}" in found.texts
    assert f"{drawn.meter.used:,} of {drawn.limit:,} tokens, green" in said
    assert "tokens sent came from the cache" in said


def test_the_last_column_is_the_meter() -> None:
    drawn = course(turns=2, steps=2)
    found = Tags(page(drawn))
    paths = dict(zip(found.of("path", "class"), found.of("path", "d"), strict=False))
    tops = []
    for region in ("system", "context"):
        path = paths[f"area r-{region}"]
        ends = re.findall(r"V([\d.]+)H842.0", path)
        tops.append(float(ends[0]))
    axis = [
        (float(y), float(words.removesuffix("k")) * 1000)
        for y, words in re.findall(r'y="([\d.]+)" text-anchor="end">([\d.]+k)<', page(drawn))
    ]
    (y1, v1), (y2, v2) = axis[0], axis[1]
    per = (v2 - v1) / ((y2 - y1) or 1)
    assert v1 + (tops[1] - y1) * per == pytest.approx(drawn.meter.used, rel=0.02)


def test_a_session_in_which_nothing_was_asked_can_be_drawn() -> None:
    said = " ".join(Tags(page(course(turns=0))).texts)
    assert "Context by request" in said
    assert "Cache" not in said


def test_two_thousand_turns_make_a_page_that_opens() -> None:
    long = course(turns=2_000, steps=3, period=40)
    began = monotonic()
    html = page(long)
    assert monotonic() - began < MOST_SECONDS
    assert len(html.encode()) < MOST_BYTES
    found = Tags(html)
    assert 0 < found.classes("of-context") <= MOST_COLUMNS
    assert "<summary>2,000 turns</summary>" in html


def test_every_colour_that_is_used_is_there_in_light_and_in_dark() -> None:
    sheet = style()
    assert set(re.findall(r"var\(--([\w-]+)\)", sheet)) == COLOURS.keys()
    assert set(REGION_COLOURS) == set(by_region(course(turns=1, steps=1, period=1).now))
    assert "color-scheme:light dark" in sheet
    assert ":has(#dark:checked){color-scheme:dark}" in sheet


def channels(colour: str) -> list[float]:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def contrast(one: str, other: str) -> float:
    lights = [
        sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), channels(colour), strict=True))
        for colour in (one, other)
    ]
    return (max(lights) + 0.05) / (min(lights) + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_what_is_written_can_be_read(scheme: int) -> None:
    def colour(name: str) -> str:
        return COLOURS[name][scheme]

    for name in ("ink", "soft", "accent", "mark"):
        assert contrast(colour(name), colour("card")) >= 4.5, name
    for name in ("ink", "soft"):
        assert contrast(colour(name), colour("back")) >= 4.5, name
    for name in ("miss", "green", "yellow", "orange", "red", "uncached"):
        assert contrast(colour(name), colour("card")) >= 2.4, name


MACHADO = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "no green": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "no blue": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
"""How colours look to those who lack a kind of cone (Machado, Oliveira, Fernandes 2009)."""


def lab(colour: str, sight: str) -> tuple[float, float, float]:
    linear = channels(colour)
    seen = [
        min(1.0, max(0.0, sum(a * b for a, b in zip(row, linear, strict=True))))
        for row in MACHADO[sight]
    ]
    to_xyz = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    white = (0.9505, 1.0, 1.089)
    ratios = [
        sum(a * b for a, b in zip(row, seen, strict=True)) / w
        for row, w in zip(to_xyz, white, strict=True)
    ]
    x, y, z = (r ** (1 / 3) if r > 0.008856 else 7.787 * r + 16 / 116 for r in ratios)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def apart(one: str, other: str, sight: str) -> float:
    pairs = zip(lab(one, sight), lab(other, sight), strict=True)
    return sum((a - b) ** 2 for a, b in pairs) ** 0.5


@pytest.mark.parametrize("sight", MACHADO)
@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_regions_are_told_apart_by_everybody(scheme: int, sight: str) -> None:
    colours = [(name, COLOURS[name][scheme]) for name in REGION_COLOURS]
    near = sorted(
        (round(apart(a, b, sight), 1), one, other)
        for (one, a), (other, b) in combinations(colours, 2)
    )
    assert near[0][0] >= 10, near[:6]
    beside = [
        (round(apart(a, b, sight), 1), one, other) for (one, a), (other, b) in pairwise(colours)
    ]
    assert min(beside)[0] >= 15, sorted(beside)[:4]
