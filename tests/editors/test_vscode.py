"""The extension in a real VS Code: packaged, installed, and used by keys and clicks.

`install.sh` installs VS Code; pictures of the main states are kept in `screenshots`.
"""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.plain import PlainClient, each_ending_well, say
from tests.editors.installed import CHROMIUM, EDITORS, EXTENSION, HERE, NODE, ROOT, missing
from tests.editors.test_emacs import EMACS
from tests.editors.test_neovim import installed
from tests.fakes.messages_api import FakeMessagesApi, text, tools

LIMIT = 400
"""Seconds for a whole scenario; each wait in it has a limit of its own."""

SETTINGS = {
    "sidecar.model": "offline",
    "sidecar.window": 16_000,
    "sidecar.config": {"maxTokens": 1000},
    "sidecar.permissions.allow": ["write_file", "edit_file"],
    "workbench.startupEditor": "none",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "chat.disableAIFeatures": True,
    "files.autoSave": "off",
    "git.enabled": False,
}
NUMBERS = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"
STORY = "# A story\n" + "".join(
    f"On day {n} Anna said: train {n * 7} leaves at {n % 24} and costs {n * 3} crowns.\n"
    for n in range(60)
)

FOURTH = """It is [the fourth](numbers.txt#L4), and `story.md:12` has none:

```text
four
```
"""
GREETER = '''"""Greets people."""


def greet(name: str, formal: bool):
    """Say hello."""
    if formal:
        return f"Hello, {name}."
    return f"Hi {name}!"
'''
SHOWN = {
    "sidecar.window": 16_000,
    "sidecar.config": {"maxTokens": 4000},
    "diffEditor.renderSideBySide": False,
    "editor.minimap.enabled": False,
    "editor.occurrencesHighlight": "off",
    "editor.renderLineHighlight": "none",
    "editor.scrollbar.vertical": "hidden",
    "editor.scrollbar.horizontal": "hidden",
    "workbench.colorCustomizations": {"scrollbarSlider.background": "#0000"},
    "window.commandCenter": False,
    "workbench.layoutControl.enabled": False,
}
"""Settings for a picture that is small."""

MISSING = missing(EDITORS / "vscode/.installed")
pytestmark = [pytest.mark.long, pytest.mark.skipif(bool(MISSING), reason=MISSING or "all is there")]


@pytest.fixture(scope="module")
def packaged() -> Path:
    """Give the extension's package, built from what is here."""
    made = subprocess.run(
        ["npm", "run", "package"],
        cwd=EXTENSION,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    return EXTENSION / "dist/sidecar.vsix"


@pytest.fixture
def given(packaged: Path, tmp_path: Path) -> dict[str, str]:
    """Lay out a workspace, settings, a daemon and the unpacked extension; names what is where."""
    with zipfile.ZipFile(packaged) as archive:
        archive.extractall(tmp_path / "unpacked")
    (tmp_path / "extensions").mkdir()
    (tmp_path / "unpacked/extension").rename(tmp_path / "extensions/sidecar.sidecar-0.1.0")
    daemon = tmp_path / "sidecar"
    # Each start leaves its process id, so that it can be killed.
    daemon.write_text(
        f'#!/bin/sh\necho "$$ $0" >> {tmp_path}/pids\nexec {sys.executable} -m sidecar "$@"\n'
    )
    daemon.chmod(0o755)
    machine = tmp_path / "server/data/Machine"
    machine.mkdir(parents=True)
    places = {"sidecar.path": str(daemon), "sidecar.dataDir": str(tmp_path / "store")}
    (machine / "settings.json").write_text(json.dumps({**SETTINGS, **places}))
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "a.txt").write_text("one\ntwo\nthree\n")
    (workspace / "numbers.txt").write_text(NUMBERS)
    (workspace / "story.md").write_text(STORY)
    return {
        "editors": str(EDITORS),
        "server": str(tmp_path / "server"),
        "extensions": str(tmp_path / "extensions"),
        "workspace": str(workspace),
        "daemon": str(daemon),
        "pids": str(tmp_path / "pids"),
        "pictures": str(HERE / "screenshots"),
        "chromium": str(CHROMIUM),
    }


def play(scenario: str, given: Mapping[str, object], pace: str = "0", **variables: str) -> None:
    """Run a scenario; what it says is shown when it fails. A word takes `pace` seconds to come."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("ANTHROPIC_", "SIDECAR_"))}
    played = subprocess.run(
        [str(NODE), str(HERE / "vscode" / scenario), json.dumps(given)],
        env={**clean, "PYTHONPATH": str(ROOT), "SIDECAR_OFFLINE_PACE": pace, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    assert played.returncode == 0, played.stdout + played.stderr


def test_a_session_from_the_first_look_at_the_meter_to_a_killed_daemon(
    given: dict[str, str],
) -> None:
    play("scenario.mjs", given)


def test_the_other_commands_and_what_a_person_may_run_into(given: dict[str, str]) -> None:
    play("commands.mjs", given)


def test_sessions_are_listed_searched_and_changed_in_their_tree(
    given: dict[str, str], tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with each_ending_well(partial(PlainClient, tmp_path / "store")) as start:
        client = start()
        client.start(model="offline")
        other = client.request("session/new", {"cwd": str(elsewhere)})["sessionId"]
        say(client, other, "Where is the haystack?")
        for _ in range(40):
            client.request("session/fork", {"sessionId": other})
    linked = tmp_path / "linked"
    linked.symlink_to(given["workspace"])
    play("sessions.mjs", {**given, "workspace": str(linked), "elsewhere": str(elsewhere)})


def test_a_session_is_exported_and_imported(given: dict[str, str], tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with each_ending_well(partial(PlainClient, tmp_path / "store")) as start:
        client = start()
        client.start(model="offline")
        other = client.request("session/new", {"cwd": str(elsewhere)})["sessionId"]
        say(client, other, "Where is the haystack?")
        away = client.request("session/archive", {"sessionId": other})["sessions"][-1]["path"]
    agents = tmp_path / "agents"
    homes = {"CLAUDE_CONFIG_DIR": f"{agents}/claude", "CODEX_HOME": f"{agents}/codex"}
    told = {**given, "elsewhere": str(elsewhere), "away": away, "agents": str(agents)}
    play("moving.mjs", told, **homes)


def test_the_daemon_is_found_or_installed(given: dict[str, str], tmp_path: Path) -> None:
    machine = tmp_path / "server/data/Machine/settings.json"
    settings = json.loads(machine.read_text())
    machine.write_text(json.dumps({**settings, "sidecar.path": ""}))
    tools, binaries, home = (tmp_path / name for name in ("tools", "bin", "home"))
    for folder in (tools, binaries, home):
        folder.mkdir()
    uv = binaries / "uv"
    # Stands for uv, which would fetch the dependencies.
    uv.write_text(
        f'#!/bin/sh\necho "$@" >> {tools}/asked\n'
        f'[ "$2" = dir ] && echo {tools} || cp {given["daemon"]} {tools}/sidecar\n'
    )
    uv.chmod(0o755)
    path = f"{binaries}:/usr/bin:/bin"
    # VS Code takes PATH from a login shell, where the system's own files begin it anew.
    (home / ".profile").write_text(f"PATH={path}\n")
    folders = {"tools": str(tools), "bin": str(binaries)}
    play("found.mjs", {**given, **folders}, PATH=path, HOME=str(home), SHELL="/bin/sh")


def test_a_folder_that_is_not_trusted(given: dict[str, str]) -> None:
    play("untrusted.mjs", given)


def test_settings_of_a_folder_give_it_no_power(given: dict[str, str], tmp_path: Path) -> None:
    workspace = Path(given["workspace"])
    hostile = tmp_path / "hostile"
    hostile.write_text(f"#!/bin/sh\necho started > {workspace}/started.txt\n")
    hostile.chmod(0o755)
    theirs = {
        "sidecar.path": str(hostile),
        "sidecar.permissions.allow": ["shell"],
        "sidecar.config": {"permissions": {"allow": ["shell"]}, "workspaceTrusted": True},
    }
    (workspace / ".vscode").mkdir()
    (workspace / ".vscode/settings.json").write_text(json.dumps(theirs))
    play("folder_settings.mjs", given)


def test_the_chat_and_the_context_view(given: dict[str, str]) -> None:
    play("views.mjs", given, pace="0.02")


def test_a_compaction_is_looked_at_part_by_part_in_a_tab(given: dict[str, str]) -> None:
    play("plan.mjs", given)


def test_what_a_compaction_left_out_is_greyed_and_recalled(given: dict[str, str]) -> None:
    play("unseen.mjs", given)


def test_the_input_of_the_chat(given: dict[str, str]) -> None:
    play("composer.mjs", given)


def test_a_turn_is_reviewed_hunk_by_hunk(given: dict[str, str]) -> None:
    play("review.mjs", given)


def test_an_earlier_message_is_edited_and_sent_again(given: dict[str, str]) -> None:
    play("edited.mjs", given)


def test_what_was_answered_leaves_the_chat(given: dict[str, str], tmp_path: Path) -> None:
    machine = tmp_path / "server/data/Machine/settings.json"
    edit = {"path": "a.txt", "oldText": "three\n", "newText": "three\nfour\n"}
    with FakeMessagesApi() as api:
        api.script(text(FOURTH), tools(("call_1", "edit_file", edit)), text("Done."))
        chosen = {"sidecar.model": "claude-sonnet-4-6", "sidecar.baseUrl": api.url}
        settings = {**json.loads(machine.read_text()), **chosen, "sidecar.permissions.allow": []}
        del settings["sidecar.window"]
        machine.write_text(json.dumps(settings))
        play("blocks.mjs", {**given, "answer": FOURTH}, ANTHROPIC_API_KEY="sk-test")


def test_the_picture_of_the_readme_can_be_taken(given: dict[str, str], tmp_path: Path) -> None:
    """It is looked at, cut and committed by hand: `docs/images`."""
    machine = tmp_path / "server/data/Machine/settings.json"
    machine.write_text(json.dumps({**json.loads(machine.read_text()), **SHOWN}))
    folder = tmp_path / "greeter"
    (folder / "phrases").mkdir(parents=True)
    (folder / "greeter.py").write_text(GREETER)
    for part in range(1, 5):
        (folder / f"phrases/{part}.md").write_text(STORY)
    play("picture.mjs", {**given, "workspace": str(folder), "scale": "2"})


def test_each_question_has_its_own_answer(given: dict[str, str], tmp_path: Path) -> None:
    machine = tmp_path / "server/data/Machine/settings.json"
    settings = json.loads(machine.read_text())
    machine.write_text(json.dumps({**settings, "sidecar.permissions.allow": []}))
    play("questions.mjs", given)


@pytest.mark.parametrize("language", ["de", "zh-cn"])
def test_another_language(given: dict[str, str], tmp_path: Path, language: str) -> None:
    machine = tmp_path / "server/data/Machine/settings.json"
    settings = json.loads(machine.read_text())
    machine.write_text(json.dumps({**settings, "sidecar.permissions.allow": []}))
    play("languages.mjs", {**given, "language": language})


def test_one_session_in_vs_code_neovim_emacs_and_an_acp_client(
    given: dict[str, str], tmp_path: Path
) -> None:
    pytest.importorskip("acp", reason="the agent-client-protocol package is not installed")
    nvim = installed("debian")
    if not EMACS:
        pytest.skip("there is no emacs on PATH")
    machine = tmp_path / "server/data/Machine/settings.json"
    settings = json.loads(machine.read_text())
    del settings["sidecar.dataDir"]
    settings["sidecar.permissions.allow"] = []
    machine.write_text(json.dumps(settings))
    daemon = Path(given["daemon"])
    daemon.write_text(f'#!/bin/sh\nexec {sys.executable} -m sidecar "$@" --shared\n')
    (tmp_path / "run").mkdir(mode=0o700)
    scenario = HERE / "neovim/one_session.lua"
    in_neovim = {
        "SIDECAR_PLUGIN": str(ROOT / "editors/neovim"),
        "SIDECAR_SCENARIO": str(scenario.parent),
        "SIDECAR_PROGRAM": str(daemon),
    }
    in_emacs = (
        f'(setq sidecar-command \'("{daemon}" "serve" "--stdio") sidecar-api-key nil '
        'sidecar-options \'(:model "offline" :window 16000 :workspaceTrusted t))'
    )
    plugin, beside = str(ROOT / "editors/emacs"), str(HERE / "emacs_one_session.el")
    run = ["-f", "beside-others"]
    commands = {
        "neovim": [nvim, "--headless", "-u", "NONE", "-i", "NONE", "-n", "-S", str(scenario)],
        "emacs": [EMACS, "-Q", "--batch", "-L", plugin, "-l", beside, "--eval", in_emacs, *run],
        "acp": [sys.executable, "-m", "tests.editors.acp_one_session"],
    }
    variables = {"neovim": in_neovim, "emacs": {"LC_ALL": "C.UTF-8"}, "acp": {}}
    others = {name: {"command": commands[name], "env": variables[name]} for name in commands}
    play(
        "one_session.mjs",
        {**given, "others": others},
        HOME=str(tmp_path / "home"),
        SIDECAR_DATA_DIR=str(tmp_path / "store"),
        XDG_RUNTIME_DIR=str(tmp_path / "run"),
        SIDECAR_LINGER="2",
    )
