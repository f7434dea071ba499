"""What a search by ripgrep holds in memory."""

import shutil
import weakref
from pathlib import Path

import pytest

from sidecar.tools.files import ripgrep
from sidecar.tools.runner import run_builtin
from sidecar.tools.tool_contract import ToolContext


@pytest.mark.skipif(shutil.which("rg") is None, reason="ripgrep is not installed")
async def test_a_search_keeps_the_lines_of_one_file_alone(
    root: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two hundred large ones took gigabytes."""

    class Lines(list[bytes]):
        pass

    read, kept = ripgrep._lines, list[weakref.ref[Lines]]()

    def lines(real: Path) -> list[bytes]:
        assert not any(one() for one in kept)
        found = Lines(read(real))
        kept.append(weakref.ref(found))
        return found

    monkeypatch.setattr(ripgrep, "_lines", lines)
    for number in range(5):
        (root / f"{number}.txt").write_text("word\nrest\nword")
    found = await run_builtin("search", {"pattern": "word"}, context)
    assert found.text.count("word") == 10
    assert len(kept) == 5
