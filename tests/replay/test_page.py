"""The page of a replay: one file, nothing from elsewhere, readable in light and in dark."""

import re
from html.parser import HTMLParser

import pytest

from sidecar.replay.compare import PolicyTally, ReplayedSession, Settings
from sidecar.replay.headline import compared
from sidecar.replay.money.session_money import Charge, SessionMoney
from sidecar.replay.page import MOST_CHARTS, STYLE, page
from sidecar.replay.simulate import Sent, SimulatedRewrite
from tests.replay.talks import RATES

NASTY = "<script>alert(1)</script>\"'&amp; ../" + "long-name-" * 20
ALONE = {"meta"}


class Tags(HTMLParser):
    """Checks that all that is opened is closed, and keeps tags, attributes and texts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ALONE:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def tallies(*names: str, cost: float = 2.0) -> tuple[PolicyTally, ...]:
    return tuple(
        PolicyTally(
            name, cost + number, 10, 90_000, 60_000, 50_000, far=8, view=6, ledger=7, reach=8
        )
        for number, name in enumerate(names)
    )


def session(name: str = "one", cost: float = 2.0, *names: str) -> ReplayedSession:
    sent = tuple(Sent(n, n, 9_000, 6_000, 1_000, 2_000) for n in range(10))
    rewrite = SimulatedRewrite(3, "pays", f"9000 to 3000 tokens: {NASTY}", 9_000, 3_000, 0.0)
    made = tallies(*(names or ("economic",)), cost=cost)
    charge = Charge((), 3.5)
    money = SessionMoney((charge,), 3.5, 4.0, {NASTY: RATES}, own=False, hour=0.0, unsaid=0.0)
    return ReplayedSession(name, "neutral", 10, money, made, None, (), sent, (rewrite,))


def drawn(sessions: list[ReplayedSession], *names: str) -> str:
    return page(sessions, compared(sessions), settings(*names))


def settings(*names: str) -> Settings:
    return Settings(names or ("economic",), 20_000, RATES)


def three() -> str:
    names = ("economic", "manual", "opencode")
    return drawn([session("one", 2.0, *names)], *names)


def test_nothing_is_fetched_from_elsewhere() -> None:
    html = three()
    assert not re.search(r"https?:|//|@import|url\(|javascript:", html.replace(NASTY, ""))
    found = Tags(html)
    assert not {"script", "link", "img", "iframe", "object", "a", "base"} & set(found.tags)
    assert not {"src", "href", "style", "xlink:href"} & {name for name, _ in found.attributes}
    assert not [name for name, _ in found.attributes if name.startswith("on")]


def test_names_reasons_and_prices_are_escaped() -> None:
    html = drawn([session(NASTY)])
    found = Tags(html)
    assert "script" not in found.tags
    assert NASTY in found.texts
    assert f"Context over time: {NASTY}" in [value for _, value in found.attributes]
    assert sum(NASTY in text for text in found.texts) == 4


def test_a_comparison_has_a_table_bars_and_a_scatter_and_the_first_policy_s_sessions() -> None:
    found = Tags(three())
    assert found.tags.count("svg") == 3
    assert found.tags.count("tr") == 4
    said = " ".join(found.texts)
    assert "1 recorded session, replayed" in said
    assert "10 requests, 2.00 USD here, simulated" in said
    assert "before request 3: pays, 9000 to 3000 tokens" in said
    # Of opencode's cost, in view, + ledger, reachable.
    for figure in ("0.500", "0.750", "0.875", "1.000"):
        assert figure in found.texts


def test_one_policy_alone_needs_no_comparison() -> None:
    found = Tags(drawn([session()]))
    assert (found.tags.count("svg"), found.tags.count("tr")) == (1, 2)


def test_only_the_dearest_sessions_have_a_chart() -> None:
    sessions = [session(f"session-{n}", cost=float(n)) for n in range(MOST_CHARTS + 5)]
    said = Tags(drawn(sessions)).texts
    names = [text for text in said if text.startswith("session-")]
    assert names == [f"session-{n}" for n in range(MOST_CHARTS + 4, 4, -1)]


def test_what_costs_nothing_can_be_drawn() -> None:
    names = ("economic", "opencode")
    free = ReplayedSession(
        *("one", "neutral", 1, None, tuple(PolicyTally(name, requests=1) for name in names)),
        *(None, (), (Sent(0, 0, 10, 0, 0, 10),), ()),
    )
    Tags(drawn([free], *names))


def schemes() -> tuple[dict[str, str], dict[str, str]]:
    light, dark = re.findall(r":root\{([^}]*)\}", STYLE)
    found = [dict(re.findall(r"--([\w-]+):(#\w+)", one)) for one in (light, dark)]
    return found[0], found[1]


def test_every_colour_that_is_used_is_there_in_light_and_in_dark() -> None:
    light, dark = schemes()
    assert light.keys() == dark.keys()
    assert set(re.findall(r"var\(--([\w-]+)\)", three())) == light.keys()
    assert "color-scheme:light dark" in STYLE
    assert "prefers-color-scheme:dark" in STYLE


def luminance(colour: str) -> float:
    colour = colour if len(colour) > 4 else "#" + "".join(2 * digit for digit in colour[1:])
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1])
def test_text_and_lines_can_be_told_from_what_is_behind_them(scheme: int) -> None:
    colours = schemes()[scheme]
    for behind in ("card", "back"):
        assert contrast(colours["ink"], colours[behind]) > 7
        assert contrast(colours["soft"], colours[behind]) > 4.5
    for line in ("used", "mark", "dot"):
        assert contrast(colours[line], colours["card"]) > 3
    assert contrast(colours["used"], colours["read"]) > 1.5
