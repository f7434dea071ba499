"""What a remote's address names."""

import pytest

from sidecar.session.sync.sync_remotes import project_of


@pytest.mark.parametrize(
    ("address", "project"),
    [
        ("git@example.org:ada/engine.git", "example.org/ada/engine"),
        ("example.org:/ada/engine", "example.org/ada/engine"),
        ("ssh://git@Example.org:2222/ada/engine.git/", "example.org/ada/engine"),
        ("https://ada:secret@example.org/ada/engine?x=1", "example.org/ada/engine"),
        ("file:///mnt/engine.git", "/mnt/engine"),
        ("/mnt/engine.git", "/mnt/engine"),
        ("/mnt/engine/.git", "/mnt/engine"),
    ],
)
def test_a_project_is_called_the_same_by_all_its_addresses(address: str, project: str) -> None:
    assert project_of(address) == project
