"""What a search by ripgrep holds in memory."""

import shutil
import weakref
from pathlib import Path

import pytest

from sidecar.tools.files import ripgrep
from sidecar.tools.tool_contract import ToolContext
from tests.tools.files.test_find import search


@pytest.mark.skipif(shutil.which("rg") is None, reason="ripgrep is not installed")
async def test_a_search_keeps_the_lines_of_one_file_alone(
    root: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two hundred large ones took gigabytes."""

    class Lines(list[bytes]):
        pass

    read, kept = ripgrep._lines, list[weakref.ref[Lines]]()

    def lines(real: Path) -> list[bytes]:
        # Threads let go of a result a little later.
        assert sum(one() is not None for one in kept) <= 4
        found = Lines(read(real))
        kept.append(weakref.ref(found))
        return found

    monkeypatch.setattr(ripgrep, "_lines", lines)
    for number in range(40):
        (root / f"{number}.txt").write_text("word\nrest\nword")
    assert (await search(context, "word")).text.count("word") == 80
    assert len(kept) == 40
