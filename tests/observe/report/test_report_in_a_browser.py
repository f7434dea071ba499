"""A report in a real browser: it loads alone, nothing runs, and everything can be seen.

Pictures of it are always taken and looked into; `SIDECAR_SHOTS` names a folder that they are put
into, to be looked at.
"""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sidecar.observe.report.report import report
from sidecar.observe.report.style import COLOURS, REGION_COLOURS
from tests.observe.courses import NASTY, NOW, course
from tests.observe.report.browser import Browser, running
from tests.observe.report.pictures import read
from tests.observe.report.test_report import when

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed"),
]

COUNTS = """({
  charts: document.querySelectorAll('svg').length,
  areas: document.querySelectorAll('path.area[class*=" r-"]').length,
  columns: document.querySelectorAll('.of-context').length,
  marks: document.querySelectorAll('.mark').length,
  tools: document.querySelectorAll('g.tool').length,
  turns: document.querySelectorAll('table[aria-label=Turns] tbody tr').length,
  points: document.querySelectorAll('.points > li').length,
  paid: document.querySelectorAll('polyline.paid').length,
  fresh: document.querySelectorAll('polyline.fresh').length,
  saved: document.querySelectorAll('polygon.saved').length,
  epochs: document.querySelectorAll('rect.epoch').length,
  scripts: document.scripts.length + document.images.length,
})"""
OVERLAPS = """(() => {
  const found = [];
  for (const svg of document.querySelectorAll('svg')) {
    const frame = svg.getBoundingClientRect();
    const boxes = [...svg.querySelectorAll('text')].map(t => [t, t.getBoundingClientRect()]);
    for (const [text, box] of boxes) {
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1
          || box.bottom > frame.bottom + 1) found.push('outside: ' + text.textContent);
      for (const [other, its] of boxes) {
        if (text === other) break;
        if (box.left < its.right - 1 && its.left < box.right - 1
            && box.top < its.bottom - 3 && its.top < box.bottom - 3)
          found.push(text.textContent + ' on ' + other.textContent);
      }
    }
  }
  return found;
})()"""
CUT = """[...document.querySelectorAll('.scroll')]
  .filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.textContent.slice(0, 40))"""
HEIGHT = "document.documentElement.scrollHeight"
CHART = "JSON.stringify(document.querySelector('svg').getBoundingClientRect())"
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
BACK = "getComputedStyle(document.body).backgroundColor"
LIGHT, DARK = "rgb(243, 245, 248)", "rgb(17, 21, 27)"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with running(CHROMIUM, tmp_path_factory.mktemp("profile")) as found:
        yield found


def shown(browser: Browser, folder: Path, name: str, width: int, **given: Any) -> None:
    """Show a page, and keep a picture where pictures are wanted."""
    dark = bool(given.pop("dark", False))
    path = folder / f"{name}.html"
    path.write_text(report(course(**given), when, NOW), "utf-8")
    browser.logged.clear()
    browser.asked.clear()
    browser.show(path, width=width, dark=dark)
    height = browser.value(HEIGHT)
    data = browser.shoot({"x": 0, "y": 0, "width": width, "height": height})
    picture = read(data)
    assert (picture.width, picture.height) == (width, height)
    if shots := os.environ.get("SIDECAR_SHOTS"):
        (Path(shots) / f"{name}-{width}{'-dark' if dark else ''}.png").write_bytes(data)
    assert browser.logged == []
    assert browser.asked == [path.as_uri()]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 420])
def test_it_loads_alone_and_shows_all_there_is(
    browser: Browser, tmp_path: Path, width: int, dark: bool
) -> None:
    shown(browser, tmp_path, "plain", width, dark=dark, turns=20, steps=3, period=12)
    assert browser.value(COUNTS) == {
        "charts": 4,
        "areas": 11,
        "columns": 60,
        "marks": 8,
        "tools": 13,
        "turns": 20,
        "points": 40,
        "paid": 1,
        "fresh": 1,
        "saved": 1,
        "epochs": 5,
        "scripts": 0,
    }
    assert browser.value(OVERLAPS) == []
    assert browser.value(WIDE) == 0
    assert browser.value(BACK) == (DARK if dark else LIGHT)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_its_picture_has_the_page_and_every_region(
    browser: Browser, tmp_path: Path, dark: bool
) -> None:
    """The end of the context's chart and the page beside it: each region has a pixel there."""
    shown(browser, tmp_path, "picture", 1280, dark=dark, turns=20, steps=3, period=8)
    chart = json.loads(browser.value(CHART))
    box = {"x": 900, "y": chart["top"], "width": 380, "height": chart["height"]}
    seen = read(browser.shoot(box)).colours()
    wanted = {COLOURS[name][dark] for name in ("back", "card", *REGION_COLOURS)}
    assert wanted <= seen
    assert not {COLOURS[name][not dark] for name in ("back", "card")} & seen


def test_the_switch_wins_over_what_the_system_prefers(browser: Browser, tmp_path: Path) -> None:
    shown(browser, tmp_path, "switched", 900)
    assert browser.value(BACK) == LIGHT
    browser.value("document.getElementById('dark').click()")
    assert browser.value(BACK) == DARK
    shown(browser, tmp_path, "switched", 900, dark=True)
    assert browser.value(BACK) == DARK
    browser.value("document.getElementById('light').click()")
    assert browser.value(BACK) == LIGHT


def test_on_paper_it_is_light_and_nothing_is_cut_or_folded(
    browser: Browser, tmp_path: Path
) -> None:
    shown(browser, tmp_path, "printed", 720)
    browser.value("document.getElementById('dark').click()")
    assert not browser.value("document.querySelector('details table').checkVisibility()")
    assert browser.value(CUT) != []
    browser("Emulation.setEmulatedMedia", media="print")
    assert browser.value("getComputedStyle(document.documentElement).colorScheme") == "light"
    assert browser.value("getComputedStyle(document.querySelector('fieldset')).display") == "none"
    assert browser.value("document.querySelector('details table').checkVisibility()")
    assert browser.value(CUT) == []
    browser("Emulation.setEmulatedMedia", media="")


def test_hostile_words_stay_words(browser: Browser, tmp_path: Path) -> None:
    shown(browser, tmp_path, "nasty", 1280, words=NASTY, turns=8, steps=2, period=6)
    assert browser.value("document.title") == f"{NASTY} · Sidecar"
    assert browser.value("document.querySelector('h1').textContent") == NASTY
    assert browser.value(COUNTS)["scripts"] == 0
    assert browser.value(WIDE) == 0
    # Even a script that came in could not run: the page allows none.
    browser.value(
        "document.body.append(Object.assign(document.createElement('script'),"
        "{textContent: 'document.title = 1'}))"
    )
    assert browser.value("document.title") == f"{NASTY} · Sidecar"
    assert "Content Security Policy" in browser.logged[0]


@pytest.mark.parametrize("given", [{"turns": 0}, {"turns": 1, "steps": 1}, {"turns": 2_000}])
def test_short_and_long_sessions_are_drawn_without_overlaps(
    browser: Browser, tmp_path: Path, given: dict[str, int]
) -> None:
    shown(browser, tmp_path, f"turns-{given['turns']}", 1280, **given)
    assert browser.value(OVERLAPS) == []
    assert browser.value(WIDE) == 0
