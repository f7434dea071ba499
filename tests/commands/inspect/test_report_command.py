"""`sidecar report` as people run it, of a session that a daemon has open."""

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from sidecar.commands.inspect import report_command
from tests.commands.inspect.test_inspect_command import KEY, Inspect, inspect, inspected, recorded
from tests.e2e.desk import Desk
from tests.observe.report.test_report import Tags

pytestmark = pytest.mark.long

__all__ = ["inspect"]

Report = Callable[..., tuple[int, str]]
NASTY = f"<script>alert(1)</script> {KEY} <img src=x onerror=alert(2)>"


@pytest.fixture
def report(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Report:
    monkeypatch.setenv("SIDECAR_DATA_DIR", str(data))

    def run(
        session: str | None = None,
        path: Path | None = None,
        *,
        last: bool = False,
        overwrite: bool = False,
    ) -> tuple[int, str]:
        capsys.readouterr()
        code = report_command.write_report(session, path, last=last, overwrite=overwrite)
        return code, capsys.readouterr().out.strip()

    return run


def test_the_page_ends_with_the_meter_of_the_daemon_that_has_the_session_open(
    desk: Desk, report: Report, inspect: Inspect, tmp_path: Path
) -> None:
    desk.open()
    desk.look = lambda given: f"{NASTY} {given['path']} {'line ' * 3000}"
    desk.work(2, 2)
    done = desk("context/compact", strategy="economic")
    desk.work(1, 1)
    page = tmp_path / "page.html"
    code, said = report(desk.session, page)
    assert (code, said.startswith(str(page))) == (0, True)
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    html = page.read_text("utf-8")
    found, meter = Tags(html), desk("context/meter")
    words = " ".join(found.texts)
    limit = meter["window"] - meter["reservedOutput"]
    assert f"{meter['used']:,} of {limit:,} tokens, {meter['zone']}" in words
    legend = dict(zip(found.of("i", "class"), range(99), strict=False))
    for region, tokens in meter["regions"].items():
        if tokens:
            assert f"r-{region}" in legend
            assert f'<i class="r-{region}"></i>' in html
            assert f"<b>{tokens:,}</b>" in html
    assert f"{done['tokensBefore']:,} → {done['tokensAfter']:,}" in found.texts
    told = inspected(inspect, desk.session)
    assert told["meter"]["used"] == meter["used"]
    assert len(told["requests"]) == found.classes("of-context") == 8
    # What the tool said is words, and its key is out.
    assert "script" not in found.tags
    assert "<script>alert(1)</script> [redacted]" in words
    assert KEY[:20] not in html


def test_where_it_goes_and_what_is_said(report: Report, data: Path, tmp_path: Path) -> None:
    _, session = recorded(data, tmp_path / "work")
    code, said = report(last=True)
    place = data / "reports" / f"{session}.html"
    assert (code, said.partition("  (")[0], place.is_file()) == (0, str(place), True)
    assert report(last=True)[0] == 0
    code, said = report(session, tmp_path)
    assert (code, (tmp_path / f"{session}.html").is_file()) == (0, True)
    code, said = report(session, tmp_path)
    assert (code, "is there already: add --overwrite" in said) == (1, True)
    assert report(session, tmp_path, overwrite=True)[0] == 0
    assert report(str(tmp_path / "other.html"), last=True)[0] == 0
    assert (tmp_path / "other.html").is_file()
    code, said = report(session, tmp_path / "none/page.html")
    assert (code, "cannot be written: No such file" in said) == (1, True)
    code, said = report("nonesuch")
    assert (code, "There is no session whose id is, or begins with" in said) == (1, True)
