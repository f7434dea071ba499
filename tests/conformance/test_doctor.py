"""`sidecar doctor --ask MODEL`: whether a provider takes the key, the model and the region."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.vendors import KEY, Vendor

Doctor = Callable[[], tuple[int, str]]


@pytest.fixture
def api(vendor: Vendor) -> Any:
    with vendor.api() as api:
        yield api


@pytest.fixture
def doctor(vendor: Vendor, api: Any, tmp_path: Path) -> Doctor:
    settings = tmp_path / "sidecar" / "config.toml"
    settings.parent.mkdir()
    [(name, given)] = vendor.provider(api).items()
    told = {"kind": "kind", "baseUrl": "base_url", "apiKey": "api_key"}
    lines = [f'{told[key]} = "{value}"\n' for key, value in given.items()]
    settings.write_text(f'[providers."{name}"]\n' + "".join(lines))
    folders = dict.fromkeys(("XDG_CONFIG_HOME", "XDG_DATA_HOME"), str(tmp_path))
    env = {**os.environ, **folders, "COLUMNS": "400", **vendor.account(api, tmp_path)}

    def run() -> tuple[int, str]:
        command = [sys.executable, "-m", "sidecar", "doctor", "--ask", vendor.id]
        done = subprocess.run(command, env=env, check=False, stdout=-1, text=True, timeout=60)
        said = next(line for line in done.stdout.splitlines() if vendor.id in line)
        return done.returncode, said

    return run


def test_it_says_whether_a_model_answers(vendor: Vendor, api: Any, doctor: Doctor) -> None:
    api.script(vendor.says("ready"), vendor.unauthorised(), vendor.unknown_model())
    code, said = doctor()
    assert (code, api.refused) == (0, []), said
    assert f"✓ answer {vendor.id} answered within" in " ".join(said.split())
    code, said = doctor()
    assert code == 1
    assert "; check " in said
    assert KEY not in said
    code, said = doctor()
    assert code == 1
    assert "; check the model's id" in said
    assert len(api.requests) == 3
