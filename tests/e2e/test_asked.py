"""What is asked about, over the wire: ways around rules, what runs later, and trust."""

import os
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event
from time import sleep
from typing import Any

import pytest

from tests.e2e.lines import LineClient
from tests.e2e.plain import PlainClient, Refused, Spawn, each_ending_well
from tests.e2e.test_hostile import opened, refuse, results, say
from tests.e2e.test_mcp import wait_for
from tests.fakes.messages_api import FakeMessagesApi, text, tools

pytestmark = pytest.mark.long

Start = Callable[..., PlainClient]
MADE = "made"
REPOSITORY = {
    "HEAD": "ref: refs/heads/main\n",
    "config": "[core]\n\trepositoryformatversion = 0\n\tworktree = .\n\tfsmonitor = touch made\n",
    "objects/x": "",
    "refs/x": "",
}
"""What makes git take a folder for a repository, and run a program of its choice."""


def option(params: Any, kind: str) -> Any:
    """Answer as a client does that picks the first option of a kind, or dismisses."""
    ids = [one["optionId"] for one in params["options"] if one["kind"] == kind]
    return {
        "outcome": {"outcome": "selected", "optionId": ids[0]} if ids else {"outcome": "cancelled"}
    }


def chosen(option_id: str) -> Callable[[Any], Any]:
    return lambda _: {"outcome": {"outcome": "selected", "optionId": option_id}}


def asked(client: PlainClient) -> list[Any]:
    """Give the titles of what was asked about."""
    return [one["params"]["toolCall"]["title"] for one in client.requests]


@pytest.mark.parametrize("where", ["sub", "."])
def test_a_folder_made_to_look_like_a_repository_runs_nothing(
    start: Start, workspace: Path, where: str
) -> None:
    """The model writes a bare repository, then asks git for the status in it."""
    place = workspace / where
    with FakeMessagesApi() as api:
        client = start(answers={"session/request_permission": chosen("allow_once")})
        rules = {"allow": ["write_file", "shell:git status*", "shell:git *"]}
        session = opened(client, api, workspace, permissions=rules)
        written = [
            (f"w{at}", "write_file", {"path": f"{where}/{name}", "content": body})
            for at, (name, body) in enumerate(REPOSITORY.items())
        ]
        command = {"command": "git status", "cwd": where}
        api.script(*map(tools, reversed(written)), tools(("s", "shell", command)), text("done"))
        say(client, session)
        # The user's own git would run it: what makes the folder a repository is asked about.
        said = asked(client)
        (head,) = [one for one in said if "HEAD (runs later: git may take its folder for" in one]
        others = [one for one in said if one != head]
        # So is whatever else has no ending. A rule holds in the root; elsewhere the user is asked.
        odd = [one for one in others if "of no kind that is known" in one]
        assert len(odd) == len(REPOSITORY) - 1
        assert others == [*odd, *([] if where == "." else ["Run in sub: git status"])]
        assert "not a git repository" in str(results(api)) or "safe.bareRepository" in str(
            results(api)
        )
    assert (place / "config").exists()
    assert not list(workspace.rglob(MADE))
    # The test can fail: without our settings, git runs what the folder says.
    plain = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    subprocess.run(
        ["git", "status"], cwd=place, env=plain, timeout=20, capture_output=True, check=False
    )
    assert list(workspace.rglob(MADE))


WAYS = [
    "git log --output=made",
    "git log --outp=made",
    "git -c alias.x='!touch made' x",
    "git -c core.pager='touch made' -p log",
    "git diff --no-index --output=made main.py other.py",
    "git grep -O'touch made;' Hello",
    "find . -name main.py -exec touch made ';'",
    "find . -name main.py -fprint made",
    "rg --pre ./evil Hello",
    "tar tf x.tar --checkpoint=1 --checkpoint-action=exec='touch made'",
    "tar tf x.tar -I ./evil",
    "sort -o made main.py",
    "sort --compress-program=./evil -S1 main.py",
    "sed -n 'w made' main.py",
    "sed '1e touch made' main.py",
    "sed 's/def/touch made/e' main.py",
    "awk 'BEGIN{system(\"touch made\")}'",
    "printf -v 'a[$(touch made)]' x",
    "test -v 'a[$(touch made)]'",
    "uniq main.py made",
    "xargs -I{} touch made",
    "env touch made",
    "ls; touch made",
    "ls $(touch made)",
    "ls > made",
    "tee made",
]


def test_nothing_gets_around_a_rule(start: Start, workspace: Path) -> None:
    """Each way is asked about with the most generous rules, and nothing of it is run."""
    (workspace / "evil").write_text("#!/bin/sh\ntouch made\n")
    (workspace / "evil").chmod(0o755)
    (workspace / "other.py").write_text("")
    subprocess.run(["tar", "cf", "x.tar", "main.py"], cwd=workspace, check=True, timeout=20)
    programs = sorted({way.split()[0].rstrip(";") for way in WAYS})
    allow = [f"shell:{name}{star}" for name in programs for star in (" *", "*")]
    with FakeMessagesApi() as api:
        client = start(answers={"session/request_permission": refuse})
        session = opened(client, api, workspace, permissions={"allow": ["shell:*", *allow]})
        calls = [(f"c{at}", "shell", {"command": way}) for at, way in enumerate(WAYS)]
        api.script(tools(*calls), text("never said"))
        say(client, session)
        assert sorted(asked(client)) == sorted(f"Run {way}" for way in WAYS)
    assert not (workspace / MADE).exists()


def test_always_allow_what_is_like_this(start: Start, workspace: Path) -> None:
    with FakeMessagesApi() as api:
        client = start(answers={"session/request_permission": chosen("allow_similar")})
        session = opened(client, api, workspace)
        api.script(
            tools(("a", "shell", {"command": "ls main.py"})),
            tools(("b", "shell", {"command": "ls -l main.py"})),
            tools(("c", "shell", {"command": "ls", "cwd": "sub"})),
            text("done"),
        )
        (workspace / "sub").mkdir()
        say(client, session)
        assert asked(client) == ["Run ls main.py", "Run in sub: ls"]
        options = client.requests[0]["params"]["options"]
        assert [(one["optionId"], one["kind"], one["name"]) for one in options] == [
            ("allow_once", "allow_once", "Allow once"),
            ("allow_always", "allow_always", "Always allow exactly this"),
            ("allow_similar", "allow_always", "Always allow ls *"),
            ("reject_once", "reject_once", "Reject"),
            ("reject_always", "reject_always", "Always reject exactly this"),
        ]
        about = client.requests[0]["params"]["toolCall"]["_meta"]["sidecar"]
        assert about["question"] == "permission"


def test_what_runs_later_is_asked_about_whatever_is_allowed(start: Start, workspace: Path) -> None:
    names = [".envrc", ".vscode/tasks.json", ".VSCODE/settings.json", "AGENTS.md", "linked/ci.yml"]
    (workspace / ".github/workflows").mkdir(parents=True)
    (workspace / "linked").symlink_to(".github/workflows")
    with FakeMessagesApi() as api:
        client = start(answers={"session/request_permission": refuse})
        allow = ["write_file", "edit", "*", *(f"write_file:{name}" for name in names)]
        session = opened(client, api, workspace, permissions={"allow": allow})
        calls = [
            (f"c{at}", "write_file", {"path": name, "content": "x"})
            for at, name in enumerate([*names, "plain.txt"])
        ]
        api.script(tools(*calls), text("never said"))
        say(client, session)
        assert len(asked(client)) == len(names)
        assert all("runs later: " in title for title in asked(client))
        kinds = {o["kind"] for one in client.requests for o in one["params"]["options"]}
        assert kinds == {"allow_once", "reject_once"}
    assert (workspace / "plain.txt").exists()
    assert not any((workspace / name).exists() for name in names)


def test_a_file_of_no_known_kind_is_asked_about_once(start: Start, workspace: Path) -> None:
    with FakeMessagesApi() as api:
        client = start(answers={"session/request_permission": chosen("allow_always")})
        session = opened(client, api, workspace, permissions={"allow": ["write_file"]})
        names = ("tool.rules", "a.py", "tool.rules", "b.rules", "sub/tool.rules")
        calls = [
            (f"c{at}", "write_file", {"path": name, "content": str(at)})
            for at, name in enumerate(names)
        ]
        api.script(*(tools(call) for call in calls), text("done"))
        say(client, session)
        kind = "(of no kind that is known to be source or text)"
        odd = ("tool.rules", "b.rules", "sub/tool.rules")
        assert asked(client) == [f"Write {name} {kind}" for name in odd]
        names_of = [option["name"] for option in client.requests[0]["params"]["options"]]
        assert names_of[1] == "Always allow this path"
    assert (workspace / "tool.rules").read_text() == "2"


ANSWERS: list[Callable[[Any], Any]] = [
    partial(option, kind="allow_once"),
    chosen("allow_once"),
    chosen("allow_always"),
    lambda params: chosen(params["options"][0]["optionId"])(params),
]


def untrusted(client: PlainClient, api: FakeMessagesApi, workspace: Path) -> str:
    """Begin where nobody has said yet whether the folder is trusted, over either face."""
    provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": "sk-test"}
    given = {
        "model": "claude-sonnet-4-6",
        "provider": provider,
        "permissions": {"allow": ["shell"]},
    }
    if isinstance(client, LineClient):
        about = {"protocolVersion": 1, "clientCapabilities": {}, "_meta": {"sidecar": given}}
        client.request("initialize", about)
        return client.open(workspace)
    able = {"experimental": {"sidecar": {"requestPermission": True}}}
    about = {"processId": os.getpid(), "rootUri": workspace.as_uri(), "capabilities": able}
    client.request("initialize", {**about, "initializationOptions": given})
    client.notify("initialized")
    return str(client.request("session/new", {"cwd": str(workspace)})["sessionId"])


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("face", [PlainClient, LineClient])
def test_no_answer_for_a_tool_trusts_a_folder(
    face: type[PlainClient],
    answer: Callable[[Any], Any],
    workspace: Path,
    tmp_path: Path,
    spawn: Spawn | None,
) -> None:
    made = partial(face, tmp_path / "data", spawn=spawn)
    with each_ending_well(made) as begin, FakeMessagesApi() as api:
        client = begin(answers={"session/request_permission": answer})
        session = untrusted(client, api, workspace)
        api.script(tools(("s", "shell", {"command": "touch made"})), text("done"))
        say(client, session)
        (question,) = client.requests
    call, options = question["params"]["toolCall"], question["params"]["options"]
    assert call["_meta"]["sidecar"]["question"] == "trust"
    assert call["_meta"]["sidecar"]["folder"] == str(workspace.resolve())
    assert call["title"].startswith("Trust the folder ")
    assert "rawInput" not in call
    assert [(one["optionId"], one["kind"]) for one in options] == [
        ("distrust", "reject_once"),
        ("trust_once", "allow_always"),
        ("trust_always", "allow_always"),
    ]
    assert not (workspace / MADE).exists()
    assert not (tmp_path / "data" / "trusted-workspaces.json").exists()


@pytest.mark.parametrize("trusted", [False, True])
def test_a_server_of_the_users_runs_nothing_of_an_untrusted_folder(
    start: Start, workspace: Path, tmp_path: Path, trusted: bool
) -> None:
    """The server's settings have it start in the folder, and it takes its program from there."""
    program = workspace / "node_modules/.bin/docs"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\ntouch made\n")
    program.chmod(0o755)
    began = tmp_path / "began"
    words = ["-c", f"node_modules/.bin/docs; touch {began}"]
    docs = {"command": "sh", "args": words, "cwd": "."}
    with FakeMessagesApi() as api:
        opened(start(), api, workspace, workspaceTrusted=trusted, mcpServers={"docs": docs})
        wait_for(began.exists)
    assert (workspace / MADE).exists() == trusted


@pytest.mark.parametrize("answer", ["trust_once", "trust_always"])
@pytest.mark.parametrize("face", [PlainClient, LineClient])
def test_a_folder_is_trusted_by_its_own_answer(
    face: type[PlainClient],
    answer: str,
    workspace: Path,
    tmp_path: Path,
    spawn: Spawn | None,
) -> None:
    made = partial(face, tmp_path / "data", spawn=spawn)
    with each_ending_well(made) as begin, FakeMessagesApi() as api:
        client = begin(answers={"session/request_permission": chosen(answer)})
        session = untrusted(client, api, workspace)
        api.script(tools(("s", "shell", {"command": "touch made"})), text("done"))
        say(client, session)
        assert len(client.requests) == 1
    assert (workspace / MADE).exists()
    kept = (tmp_path / "data" / "trusted-workspaces.json").exists()
    assert kept == (answer == "trust_always")


def test_no_module_of_a_workspace_that_pythonpath_names_runs_in_the_daemon(
    start: Start, workspace: Path
) -> None:
    source, mark = workspace / "src", workspace.parent / "ran"
    source.mkdir()
    for name in ("tree_sitter", "tree_sitter_bash", "anthropic"):
        (source / f"{name}.py").write_text(f"open({str(mark)!r}, 'w').close()\n")
    client = start(
        env={"PYTHONPATH": str(source)},
        spawn=None,
        answers={"session/request_permission": chosen("reject_once")},
    )
    client.start(model="offline")
    session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
    prompt = [{"type": "text", "text": "run `ls`"}]
    client.request("session/prompt", {"sessionId": session, "prompt": prompt})
    assert not mark.exists()


@pytest.mark.parametrize("wrong", [{"window": "wide"}, {"policy": "nonsense"}, {"log": "loud"}])
def test_no_wrong_option_makes_the_others_be_forgotten(
    start: Start, workspace: Path, wrong: dict[str, Any]
) -> None:
    """Without a part of them a session would do what the others forbid."""
    client = start()
    client.start(model="offline", **({"workspaceTrusted": False} | wrong))
    # The daemon warms up between, and goes on to say so to whoever asks.
    for pause in (0, 0.5):
        sleep(pause)
        with pytest.raises(Refused, match=rf"initializationOptions\.{next(iter(wrong))}: "):
            client.request("session/new", {"cwd": str(workspace)})


def test_a_session_loaded_again_repeats_no_open_question(start: Start, workspace: Path) -> None:
    """As an editor does that shows its hidden chat: the answer to the question it has holds."""
    loaded = Event()

    def answer(_: Any) -> Any:
        assert loaded.wait(20)
        return {"outcome": {"outcome": "selected", "optionId": "allow_once"}}

    with FakeMessagesApi() as api:
        client = start(answers={"session/request_permission": answer})
        session = opened(client, api, workspace)
        api.script(tools(("s", "shell", {"command": "touch made"})), text("done"))
        prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "go"}]}
        turn = client.send("session/prompt", prompt)
        wait_for(lambda: bool(client.requests))
        for _ in range(2):
            client.request("session/load", {"sessionId": session})
        loaded.set()
        client.result(turn)
    assert len(asked(client)) == 1
    assert (workspace / MADE).exists()


@pytest.mark.parametrize(
    ("more", "is_asked"),
    [({}, True), ({"readOnly": True}, False), ({"kind": "other"}, False), ({"kind": "edit"}, True)],
)  # fmt: skip
def test_a_tool_of_the_clients_that_does_not_say_what_it_does_is_asked_about(
    start: Start, workspace: Path, more: dict[str, Any], is_asked: bool
) -> None:
    look = {"name": "look", "description": "", "inputSchema": {"type": "object"}, **more}
    answers = {
        "session/request_permission": chosen("allow_once"),
        "tool/call": lambda _: {"content": [{"type": "text", "text": "seen"}]},
    }
    client = start(answers=answers)
    client.start(model="offline", workspaceTrusted=True)
    made = client.request("session/new", {"cwd": str(workspace), "tools": [look]})
    say(client, made["sessionId"], "call look {}")
    assert [one["method"] for one in client.requests][-1] == "tool/call"
    assert ("session/request_permission" in [one["method"] for one in client.requests]) is is_asked


@pytest.mark.parametrize(
    ("call", "given"),
    [
        ("write_file", {"content": "export A=1\n"}),
        ("edit_file", {"oldText": "#off ", "newText": "", "replaceAll": True}),
    ],
)
def test_a_change_that_was_none_when_it_was_asked_about_is_not_made(
    start: Start, workspace: Path, call: str, given: dict[str, Any]
) -> None:
    """The user saves while the question waits, which showed no change."""
    file = workspace / ".envrc"
    file.write_text("export A=1\n")

    def answer(params: Any) -> Any:
        assert not params["toolCall"].get("content")
        file.write_text("export A=2\n#off curl evil\n")
        return option(params, "allow_once")

    with FakeMessagesApi() as api:
        client = start(answers={"session/request_permission": answer})
        session = opened(client, api, workspace)
        api.script(tools(("w", call, {"path": ".envrc", **given})), text("Done."))
        say(client, session)
        (found,) = results(api)
    assert "The file changed while the user was asked" in str(found["content"])
    assert file.read_text() == "export A=2\n#off curl evil\n"
