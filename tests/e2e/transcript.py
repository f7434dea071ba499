"""Has one session spoken with a real daemon, and writes it down for PROTOCOL.md.

python -m tests.e2e.transcript
"""

import copy
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.e2e.plain import PlainClient

PAGE = Path(__file__).parents[2] / "protocol/transcript.md"
LEFT_OUT = ("context/meterChanged", "daemon/statusChanged", "daemon/alert", "window/logMessage")
"""Come when they may: the first two at most some times a second, newest wins."""
TOLD = ("turn_started", "turn_ended", "compacted", "restored")
"""Causes of `session/changed` that are no matter of speed."""
OPAQUE = ("meter", "features", "configOptions", "usage", "availableCommands", "serverInfo")
"""Fields that are shown as `…`: large, or other figures on each machine."""
CHUNKS = ("agent_message_chunk", "agent_thought_chunk", "user_message_chunk")
LONGEST = 120
MOST = 3
"""Of a text, and of a list, what is shown."""
IDS = re.compile(r"\b(ses|msg|part|turn|cmp|cp)_(?:msg_)?\d\w{9,}")
TIMES = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
FIGURES = re.compile(
    r'"(revision|breakEvenRequests|tokensBefore|tokensAfter|price|cost|fidelity|size|used|created|durationMs|tokens'
    r'|processId|seq)": ("[\d.-]+"|-?[\d.]+)'
)


class Recorder(PlainClient):
    """Keeps all messages, in the order in which they went and came."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self.said: list[tuple[str, dict[str, Any]]] = []
        super().__init__(*given, **named)

    def write(self, message: Any) -> None:
        self.said.append(("→", message))
        super().write(message)

    def _take(self, message: dict[str, Any]) -> None:
        self.said.append(("←", message))
        super()._take(message)


def spoken(folder: Path) -> str:
    """The page, of one session in a folder of its own."""
    work, data = folder / "app", folder / "data"
    work.mkdir()
    (work / "story.txt").write_text("".join(f"Line {n} of a long story.\n" for n in range(4_000)))

    def answer(params: Any) -> Any:
        question = params["toolCall"]["_meta"]["sidecar"]["question"]
        chosen = {"trust": "trust_once", "permission": "allow_once"}[question]
        return {"outcome": {"outcome": "selected", "optionId": chosen}}

    client = Recorder(data=data, answers={"session/request_permission": answer})
    page = _Page(client, folder)
    for note, act in _acts(client, work):
        act()
        page.write(note)
    assert client.close() == 0, client.stderr
    return page.text()


def _acts(client: Recorder, work: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    ours = {"requestPermission": True}
    opening = {
        "processId": None,
        "clientInfo": {"name": "example", "version": "1"},
        "rootUri": work.as_uri(),
        "capabilities": {"experimental": {"sidecar": ours}},
        "initializationOptions": {"model": "offline"},
    }
    session = ""

    def ask(method: str, **given: Any) -> Any:
        return client.request(method, {"sessionId": session, **given})

    def begin() -> None:
        nonlocal session
        session = client.request("session/new", {"cwd": str(work)})["sessionId"]

    def prompt(words: str) -> Callable[[], Any]:
        said = [{"type": "text", "text": words}]
        return lambda: ask("session/prompt", prompt=said)

    def back() -> None:
        first = ask("checkpoint/list")["checkpoints"][0]["checkpointId"]
        ask("checkpoint/restore", checkpointId=first)

    yield (
        "**Beginning.** The client says what it can do; what it did not announce is not asked of "
        "it. `features` of the answer lists the methods that this daemon has.",
        lambda: (client.request("initialize", opening), client.notify("initialized")),
    )
    yield "**A session** works in one folder, given as an absolute path.", begin
    yield (
        "**A prompt that changes something.** The turn's result comes last, behind all of its "
        "updates. Before anything is first changed in a folder, the daemon asks whether the folder "
        "is trusted, then whether this call may run: two requests to the client, told apart by "
        "`question`. A call is announced (`pending`), asked about, run (`in_progress`) and ends "
        "(`completed`, `failed`). Pieces of one text have one `partId`; another id is another "
        "bubble.",
        prompt("create notes.txt with `hello`"),
    )
    yield "**A large read**, so that there is something to compact.", prompt("read story.txt")
    yield "**Another turn**, after which that read is old.", prompt("list files")
    yield (
        "**Compaction.** What is left out stays in the session's log: `context/recall` reads it, "
        "and `context/undoCompaction` takes this back by `compactionId`.",
        lambda: ask("context/compact"),
    )
    yield (
        "**Going back** to the state before the first prompt: conversation and files, as `scope` "
        "is `both` unless said. What was undone can be had again by `checkpoint/redo`.",
        back,
    )
    yield (
        "**The end.** `shutdown` is answered, `exit` is not.",
        lambda: (client.request("shutdown"), client.notify("exit")),
    )


class _Page:
    def __init__(self, client: Recorder, folder: Path) -> None:
        self._client = client
        self._folder = str(folder.resolve())
        self._names: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._lines: list[str] = []
        self._seen = 0

    def write(self, note: str) -> None:
        """Writes what was said since the last note."""
        said = self._client.said[self._seen :]
        self._seen = len(self._client.said)
        shown = ((way, one) for way, one in said if not _is_left_out(one))
        self._lines += [note, "", "```", *(self._line(*one) for one in _joined(shown)), "```", ""]

    def text(self) -> str:
        return "\n".join(self._lines)

    def _line(self, way: str, message: dict[str, Any]) -> str:
        # First, as how much of a text is shown may depend on where this is run.
        here = json.loads(json.dumps(message).replace(self._folder, "/projects"))
        shown = {key: value for key, value in here.items() if key != "jsonrpc"}
        text = json.dumps(_short(shown), ensure_ascii=False)
        text = TIMES.sub("2026-11-29T12:00:00Z", text)
        text = FIGURES.sub(r'"\1": …', text).replace('"…"', "…")
        text = IDS.sub(lambda found: self._name(found[0], found[1]), text)
        return f"{way} {text}"

    def _name(self, known: str, kind: str) -> str:
        if known not in self._names:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._names[known] = f"{kind}_{self._counts[kind]}"
        return self._names[known]


def _short(value: Any) -> Any:
    match value:
        case dict():
            return {key: "…" if key in OPAQUE else _short(one) for key, one in value.items()}
        case list():
            return [_short(one) for one in value[:MOST]] + ["…"] * (len(value) > MOST)
        case str() if len(value) > LONGEST:
            return f"{value[:LONGEST]}…"
        case _:
            return value


def _joined(said: Iterable[tuple[str, dict[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    """Puts one part's pieces into one message: how they are cut is a matter of speed."""
    made: list[tuple[str, dict[str, Any]]] = []
    for way, message in said:
        kind, part, text = _piece(message)
        if made and part and text is not None:
            before, before_part, begun = _piece(made[-1][1])
            if (before, before_part) == (kind, part) and begun is not None:
                _extend(made[-1][1]["params"]["update"], text)
                continue
        made.append((way, copy.deepcopy(message)))
    return made


def _is_left_out(message: dict[str, Any]) -> bool:
    method, params = message.get("method"), message.get("params") or {}
    return method in LEFT_OUT or (method == "session/changed" and params["cause"] not in TOLD)


def _piece(message: dict[str, Any]) -> tuple[str, str, str | None]:
    """The kind of an update, the part that it is a piece of, and the piece."""
    update = message.get("params", {}).get("update", {})
    meta = update.get("_meta", {}).get("sidecar", {})
    kind = str(update.get("sessionUpdate", ""))
    text = update["content"].get("text") if kind in CHUNKS else meta.get("inputDelta")
    return kind, str(meta.get("partId", "")), text


def _extend(update: dict[str, Any], text: str) -> None:
    if update["sessionUpdate"] in CHUNKS:
        update["content"]["text"] += text
    else:
        update["_meta"]["sidecar"]["inputDelta"] += text


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(spoken(Path(folder)), "utf-8")


if __name__ == "__main__":
    main()
