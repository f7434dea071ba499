"""Presets are known by name, and imported only once they are chosen."""

import subprocess
import sys

import pytest

from sidecar.core.policies import policies

SCRIPT = """
import sys
import sidecar.daemon.serving, sidecar.wire.server
from sidecar.core.policies import policies

def loaded():
    return [n for n in sys.modules if n.startswith("sidecar.core.policies.presets.")]

assert "codex" in policies() and "opencode" in tuple(policies())
assert policies().get("nobody-s") is None
assert not loaded(), loaded()
assert "sidecar.core.summaries.turn_scores" not in sys.modules
assert policies()["codex"].name == "codex"
assert loaded() == ["sidecar.core.policies.presets.codex"], loaded()
"""


def test_a_daemon_holds_no_preset_until_it_is_chosen() -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, timeout=60)


def test_each_name_is_the_name_of_its_policy() -> None:
    assert all(policies()[name].name == name for name in policies())
    assert len(policies()) == len(tuple(policies()))


def test_what_is_no_policy_is_not_looked_for() -> None:
    for name in ("os", "../codex", "turn_scores", "open_interpreter", ""):
        assert name not in policies()
        with pytest.raises(KeyError):
            policies()[name]
