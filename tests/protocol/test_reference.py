"""The pages of commands and settings say what the code declares."""

import pytest

from protocol import reference
from sidecar.config.settings import SETTINGS

PAGES = reference.pages()


@pytest.mark.parametrize("name", PAGES)
def test_a_reference_page_is_current(name: str) -> None:
    written = (reference.ROOT / name).read_text("utf-8")
    assert written == PAGES[name], "run: python -m protocol.generate"


def test_every_command_has_a_page_and_its_options_there() -> None:
    restore = PAGES["docs/reference/commands/going-back.md"].partition("## sidecar restore")[2]
    assert "\n\n`sidecar restore SESSION`\n\nGo back to a state" in restore
    assert "| `--scope conversation/files/both` | What goes back. Default: `both`. |" in restore
    assert "May be given more than once." in restore
    index = PAGES["docs/reference/commands.md"]
    assert "[`sidecar archive [SESSION…]`](commands/keeping.md#sidecar-archive)" in index
    assert "commands/starting.md#sidecar-config-show" in index


def test_a_command_without_a_page_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    without = {name: one for name, one in reference.GROUPS.items() if name != "going-back"}
    monkeypatch.setattr(reference, "GROUPS", without)
    with pytest.raises(ValueError, match="restore"):
        reference.pages()


def test_every_setting_is_in_the_table() -> None:
    table = reference.settings_table()
    assert table.count("\n") == len(SETTINGS) + 2
    assert "| `permissions.allow` | list of rules |  | next turn |" in table
    assert "`max_tokens`" not in table
