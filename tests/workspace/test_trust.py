"""Which folders the user's list trusts, and where their own programs start."""

import json
from pathlib import Path

import pytest

from sidecar.workspace.trust import NAME, is_trusted, make_empty, standing, trust


@pytest.mark.parametrize(
    ("folder", "trusted"),
    [
        ("work", True),
        ("work/inner/deep", False),
        ("work-other", False),
        ("wor", False),
        (".", False),
        ("other/work", False),
    ],
)
def test_trust_is_for_that_very_folder(tmp_path: Path, folder: str, trusted: bool) -> None:
    trust(tmp_path / "data", tmp_path / "work")
    assert is_trusted(tmp_path / "data", tmp_path / folder) is trusted


@pytest.mark.parametrize("written", ["", "{", '"/"', '{"/": 1}', '[["/"], 1, null]'])
def test_a_list_that_is_none_trusts_nothing(tmp_path: Path, written: str) -> None:
    (tmp_path / NAME).write_text(written)
    assert not is_trusted(tmp_path, tmp_path / "work")


def test_beside_the_workspace_programs_have_a_folder_that_names_nothing_to_run(
    tmp_path: Path,
) -> None:
    data, work = tmp_path / "data", tmp_path / "work"
    places = standing(data, work, trusted=False)
    assert (places.workspace, places.trusted) == (work, False)
    assert places.empty.is_relative_to(data)
    make_empty(places.empty)
    (mark,) = places.empty.iterdir()
    assert (mark.name, json.loads(mark.read_bytes()).get("bin")) == ("package.json", None)
