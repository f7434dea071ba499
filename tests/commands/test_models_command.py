"""`sidecar models` says which models there are, what they cost, and what is missing."""

import json
import os
import subprocess
import sys
from pathlib import Path

from sidecar.core.parts import JsonObject
from tests.e2e.conftest import spawn, start, workspace
from tests.e2e.desk import Start

__all__ = ["spawn", "start", "workspace"]


def listed(**variables: str) -> dict[str, JsonObject]:
    """The command's rows by id, with no other keys than these."""
    clean = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    found = subprocess.run(
        [sys.executable, "-m", "sidecar", "models", "--json"],
        env={**clean, **variables},
        capture_output=True,
        check=True,
        text=True,
    )
    return {row["id"]: row for row in json.loads(found.stdout)}


def test_it_lists_models_with_prices_and_what_is_missing() -> None:
    rows = listed(OPENAI_API_KEY="sk-of-openai")
    claude, ours = rows["claude-opus-5-5"], rows["openai/gpt-6.1-sol"]
    assert claude["price"] == {"input": "4", "cacheRead": "0.2", "cacheWrite": "5", "output": "20"}
    assert (claude["missing"], ours["missing"]) == ("set ANTHROPIC_API_KEY", None)
    assert ours["window"] == 1_050_000
    assert rows["gemini/gemini-3.8-flash"]["missing"] == "set GEMINI_API_KEY"
    assert rows["offline"]["missing"] is None
    assert rows["bedrock/global.anthropic.claude-opus-5-5"]["price"] == claude["price"]
    vertex = rows["vertex/claude-opus-5-5"]
    assert (vertex["price"], vertex["missing"]) == (claude["price"], "set CLOUD_ML_REGION")
    assert (claude["cache"], ours["cache"]) == ("5/60 min", "30 min")
    # None that is suggested is "cost unknown".
    assert all(row["price"] for row in rows.values())


def test_a_named_provider_lists_the_models_of_its_kind(tmp_path: Path) -> None:
    settings = tmp_path / "sidecar" / "config.toml"
    settings.parent.mkdir()
    settings.write_text('[providers.work]\nkind = "openai"\napi_key = "env:WORK_KEY"\n')
    rows = listed(XDG_CONFIG_HOME=str(tmp_path), WORK_KEY="sk-of-work", ANTHROPIC_API_KEY="sk-ant")
    assert (rows["work/gpt-5.5"]["missing"], rows["claude-opus-5-5"]["missing"]) == (None, None)
    assert "openai/gpt-5.5" not in rows


def test_pickers_show_what_the_command_lists(start: Start, workspace: Path) -> None:
    client = start()
    client.start(model="offline", provider={"apiKey": "sk-ant"})
    opened = client.request("session/new", {"cwd": str(workspace)})
    [models] = [one for one in opened["configOptions"] if one["id"] == "model"]
    told = {one["value"]: one["description"] for one in models["options"]}
    assert told["gemini/gemini-3.8-flash"] == (
        "set GEMINI_API_KEY · 1M tokens · $0.75 in, $0.075 cached, $3.75 out · cache 5 min"
    )
    assert told["claude-haiku-5-5"].startswith("1M tokens")
    assert told["claude-haiku-5-5"].endswith("$0.5 out · cache 5/60 min")


def test_what_pickers_say_imports_no_list_of_prices() -> None:
    """A quarter of a second of every window's first session."""
    code = (
        "import sys; from sidecar.config import Config; from sidecar.model.models import Models;"
        "from sidecar.core.prompt.pricing import in_words; m = Models(lambda: 0, lambda: 0.0);"
        "m.configure(Config()); print(len([in_words(m.info(name)) for name in m.known]));"
        "assert 'genai_prices' not in sys.modules"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    assert int(done.stdout) > 30
