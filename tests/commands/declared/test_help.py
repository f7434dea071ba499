"""Help is whole at any width."""

import re

import pytest
import typer.main
from typer.testing import CliRunner

from sidecar.commands.declared.command_line import commands


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_nothing_of_help_is_cut(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    root = typer.main.get_command(commands())
    shown = CliRunner().invoke(commands(), ["--help"]).output
    below = shown.partition("Commands:")[2]
    assert "..." not in below
    assert "…" not in shown
    words = " ".join(below.split())
    for name, one in root.commands.items():  # type: ignore[attr-defined]
        first = str(one.help).partition("\n")[0]
        assert f"{name} {first}" in re.sub(r"- ", "-", words) or f"{name} {first}" in words
