"""The transcript of PROTOCOL.md is what a daemon says."""

from pathlib import Path

import pytest

from tests.e2e.transcript import PAGE, spoken

pytestmark = pytest.mark.long


def test_the_protocol_page_has_what_is_said(tmp_path: Path) -> None:
    said = spoken(tmp_path).splitlines()
    # Made by `python -m tests.e2e.transcript`, then `python -m protocol.generate`.
    assert said == PAGE.read_text("utf-8").splitlines()
    whole = (PAGE.parent / "PROTOCOL.md").read_text("utf-8")
    assert "\n".join(said) in whole
