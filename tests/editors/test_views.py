"""The pages of the VS Code views in a browser, with what a real daemon said; VS Code is not needed.

Pictures in dark, light and high contrast are kept in `screenshots`.
"""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import PlainClient
from tests.editors.installed import CHROMIUM, EDITORS, EXTENSION, HERE, NODE, missing
from tests.fakes.messages_api import FakeMessagesApi, text, thinking, tools

pytestmark = pytest.mark.long

LIMIT = 400
"""Seconds for a whole scenario; each wait in it has a limit of its own."""

ANSWER = """The function joined strings, so `greet(None)` raised a **TypeError**. What I changed:

1. `greet` formats its argument, and says *there* where there is no name.
2. `part` is as it was, because [nothing calls it](https://example.org/why).

```python
def greet(name=None):
    return f"Hello, {name or 'there'}"
```

| case | before | after |
|:--|:--|--:|
| `greet("Ada")` | Hello, Ada | Hello, Ada |
| `greet(None)` | *TypeError* | Hello, there |

- [x] Mend `greet`
- [ ] Mend `<b>part</b>`

> The tests pass. Nothing else uses this module.
"""
GREETING = (
    '"""Greets people."""\n\n\ndef greet(name):\n    return "Hello, " + name\n\n\n'
    'def part(name):\n    return "Bye, " + name\n'
)
EDIT = {
    "path": "greeting.py",
    "oldText": 'def greet(name):\n    return "Hello, " + name',
    "newText": "def greet(name=None):\n    return f\"Hello, {name or 'there'}\"",
}
TASKS = [
    {"content": "Read the notes", "status": "completed"},
    {"content": "Summarise them", "status": "in_progress"},
    {"content": "Write summary.md", "status": "pending"},
]


PACKAGES = EDITORS / "vscode/node_modules"
MISSING = missing(PACKAGES / "playwright-core", PACKAGES / "axe-core", NODE)
needs_a_browser = pytest.mark.skipif(bool(MISSING), reason=MISSING or "all is there")


@pytest.fixture(scope="module")
def pages() -> Path:
    """Give the folder of the built pages."""
    built = subprocess.run(
        ["npm", "run", "pages"],
        cwd=EXTENSION,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return EXTENSION / "dist/pages"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "AGENTS.md").write_text("Use tabs.\n" * 30)
    (folder / "greeting.py").write_text(GREETING)
    (folder / "notes.txt").write_text("alpha\nbeta\ngamma\n" * 60)
    (folder / "story.md").write_text(
        "".join(f"On day {n} Anna said: train {n * 7} costs {n * 3} crowns.\n" for n in range(45))
    )
    return folder


class Recorder:
    """A session with a real daemon, and all that it said."""

    def __init__(self, folder: Path, workspace: Path, **options: Any) -> None:
        allowed = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
        self.client = PlainClient(
            folder / "data", answers={"session/request_permission": lambda _: allowed}
        )
        self.client.start(workspaceTrusted=True, **options)
        opened = self.client.request("session/new", {"cwd": str(workspace)})
        self.session = opened["sessionId"]

    def __call__(self, method: str, **given: Any) -> Any:
        return self.client.request(method, {"sessionId": self.session, **given})

    def say(self, words: str) -> Any:
        result = self("session/prompt", prompt=[{"type": "text", "text": words}])
        assert result["stopReason"] == "end_turn", result
        return result

    def heard(self, since: int = 0) -> list[Any]:
        """The updates from a place in `client.notifications` on."""
        told = self.client.notifications[since:]
        return [n["params"]["update"] for n in told if n["method"] == "session/update"]


@pytest.fixture
def conversation(tmp_path: Path, workspace: Path) -> Iterator[dict[str, Any]]:
    """Two turns with a thinking model: what came live, what is replayed, and what was asked."""
    with FakeMessagesApi() as api:
        provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": "sk-test"}
        recorder = Recorder(tmp_path, workspace, model="claude-sonnet-4-6", provider=provider)
        look = (
            ("c1", "read_file", {"path": "greeting.py"}),
            ("c2", "search", {"pattern": "greet"}),
        )
        api.script(
            thinking("Who calls greet?\n\nIt is one place.", "sig", tools(*look, words="I look.")),
            tools(("c3", "edit_file", EDIT), words="One change is enough:"),
            tools(("c4", "shell", {"command": "python3 -c 'print(6 * 7)'"})),
            text(ANSWER),
            tools(
                ("c5", "read_file", {"path": "missing.txt"}),
                ("c6", "shell", {"command": "ls missing; exit 3"}),
            ),
            tools(("c7", "todo", {"items": TASKS}), ("c8", "read_file", {"path": "notes.txt"})),
            tools(("c9", "write_file", {"path": "summary.md", "content": "# Summary\n\nThree.\n"})),
            text("The notes repeat **three letters** sixty times."),
        )
        recorder.say("`greet(None)` fails. Repair it, and check it.")
        first = len(recorder.client.notifications)
        recorder.say("Now summarise notes.txt into summary.md")
        said = {
            "turns": [
                [u for u in recorder.heard() if u not in recorder.heard(first)],
                recorder.heard(first),
            ],
            "checkpoints": recorder("checkpoint/list")["checkpoints"],
            "meter": recorder("context/meter"),
            "questions": [request["params"] for request in recorder.client.requests],
        }
        before = len(recorder.client.notifications)
        recorder("session/load", replay=True)
        yield {**said, "replay": recorder.heard(before)}
        assert recorder.client.stop() == 0


@pytest.fixture
def breakdowns(tmp_path: Path, workspace: Path) -> Iterator[dict[str, Any]]:
    """A context before and after a compaction, and what can be recalled of what was left out."""
    options = {"model": "offline", "window": 12_000, "config": {"maxTokens": 1000}}
    recorder = Recorder(tmp_path, workspace, **options)
    recorder.say("read story.md")
    for words in ("search for Anna in story.md", "read notes.txt", "read story.md"):
        recorder.say(words)
    before = recorder("context/breakdown")
    plan = recorder("context/compact", dryRun=True)
    answers = [s for s in plan["plan"] if s["reason"] == "not worth its tokens"]
    # The newest, so that much can still go.
    part = answers[-1]["partId"]
    thought = next(s["partId"] for s in plan["plan"] if "thinking" in s["reason"])
    ticked = {
        part: recorder("context/compact", dryRun=True, keep=[part]),
        thought: recorder("context/compact", dryRun=True, keep=[part, thought]),
    }
    read = {part: recorder("context/recall", partId=part)}
    recorder("context/compact")
    after = recorder("context/breakdown")
    whole = ("verbatim", "note")
    gone = [s["partId"] for s in after["segments"] if s["presentation"] not in whole]
    yield {
        "before": before,
        "after": after,
        "plan": plan,
        "ticked": ticked,
        "read": read,
        "checkpoints": recorder("checkpoint/list")["checkpoints"],
        "recalled": {part: recorder("context/recall", partId=part, limit=2000) for part in gone},
    }
    assert recorder.client.stop() == 0


def play(scenario: str, pages: Path, said: dict[str, Any], folder: Path) -> None:
    """Play a scenario in the browser; what it says is shown when it fails."""
    given = {
        "playwright": str(EDITORS / "vscode"),
        "chromium": CHROMIUM,
        "pages": str(pages),
        "pictures": str(HERE / "screenshots"),
        "said": said,
    }
    (folder / "given.json").write_text(json.dumps(given))
    played = subprocess.run(
        [str(NODE), str(HERE / "views" / scenario), str(folder / "given.json")],
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    assert played.returncode == 0, played.stdout + played.stderr


@needs_a_browser
def test_the_chat_shows_a_conversation(
    pages: Path, conversation: dict[str, Any], tmp_path: Path
) -> None:
    play("chat.mjs", pages, conversation, tmp_path)


@needs_a_browser
def test_the_chat_marks_what_the_model_no_longer_sees(
    pages: Path, conversation: dict[str, Any], tmp_path: Path
) -> None:
    play("unseen.mjs", pages, conversation, tmp_path)


@needs_a_browser
def test_the_composer_takes_commands_pictures_and_what_was_sent_before(
    pages: Path, tmp_path: Path
) -> None:
    play("composer.mjs", pages, {}, tmp_path)


@needs_a_browser
def test_the_context_shows_breakdowns(
    pages: Path, breakdowns: dict[str, Any], tmp_path: Path
) -> None:
    play("context.mjs", pages, breakdowns, tmp_path)


@pytest.mark.skipif(not NODE.exists(), reason="run tests/editors/install.sh")
def test_histories_and_texts_are_worked_out() -> None:
    played = subprocess.run(
        [str(NODE), "--no-warnings", str(HERE / "views/texts.mjs")],
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    assert played.returncode == 0, played.stdout + played.stderr


def test_every_colour_is_the_themes() -> None:
    own = re.compile(
        r"#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch)a?\(|\b(?:white|black|gr[ea]y)\b(?!-)", re.I
    )
    for path in (EXTENSION / "media").glob("*.css"):
        assert not own.findall(path.read_text("utf-8")), path


def test_nothing_is_fetched_and_only_our_script_runs() -> None:
    page = (EXTENSION / "media/page.html").read_text("utf-8")
    policy = re.search(r'Policy" content="([^"]+)"', page)
    assert policy is not None
    assert policy[1] == "default-src 'none'; style-src {{source}}; script-src 'nonce-{{nonce}}'"
