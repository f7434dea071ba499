"""A store as a version of Sidecar left it, and what people see of it: for versions to come.

`python -m tests.e2e.old_store NAME` has this version write one, with each kind of record that the
offline model can bring about, and notes what is seen of it.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import zstandard

from tests.e2e.plain import PlainClient
from tests.faults.place import Place

STORES = Path(__file__).parent / "stores"
PROJECT = Path(tempfile.gettempdir()) / "a-sidecar-project"
"""Where the sessions worked; nothing need be there to read them."""


def unpacked(name: str, folder: Path) -> Path:
    """Put a kept store into a data folder; gives the folder."""
    folder.mkdir(mode=0o700, parents=True)
    packed = (STORES / f"{name}.db.zst").read_bytes()
    (folder / "store.db").write_bytes(zstandard.decompress(packed))
    return folder


def seen(client: PlainClient) -> dict[str, Any]:
    """Give what a client is shown of every session in a store, without what depends on the time."""
    found: dict[str, Any] = {}
    for one in client.request("session/list", {})["sessions"]:
        name = one["sessionId"]
        client.notifications.clear()
        client.request("session/load", {"sessionId": name, "cwd": one["cwd"], "replay": True})
        updates = [
            n["params"]["update"] for n in client.notifications if n["method"] == "session/update"
        ]
        listed = client.request("checkpoint/list", {"sessionId": name})["checkpoints"]
        regions = client.request("context/breakdown", {"sessionId": name})["segments"]
        found[one["title"]] = {
            "updates": [told for told in map(_short, updates) if told],
            "checkpoints": [[c["title"], sorted(f["path"] for f in c["files"])] for c in listed],
            "context": [[s["region"], s["tokens"]] for s in regions],
        }
    return found


def _short(update: dict[str, Any]) -> list[Any]:
    kind = update["sessionUpdate"]
    if kind in ("session_info_update", "config_option_update", "available_commands_update"):
        return []
    words = update.get("content")
    said = words.get("text", "") if isinstance(words, dict) else ""
    names = ("title", "status", "cause", "stopReason", "tokensBefore", "tokensAfter", "text")
    return [kind, said, {name: update[name] for name in names if name in update}]


def write(name: str) -> None:
    """Have this version write a store, and keep it."""
    folder = Path(tempfile.mkdtemp())
    PROJECT.mkdir()
    place = Place(folder, root=PROJECT)
    place.say("create notes.txt with `one`")
    place.say("replace `one` with `two` in notes.txt then run `seq 1 4000`")
    early = place.say("never touch the folder vendor; create b.txt with `b`")
    place.write("theirs.txt", b"by the user\n")
    place.say("run `echo three >> notes.txt` then run `false`")
    for number in range(6):
        lines = "".join(f"def part_{number}_{n}(value): return value * {n}\n" for n in range(300))
        place.write(f"part_{number}.py", lines.encode())
        place.say(f"read part_{number}.py")
    segments = place("context/breakdown")["segments"]
    output = next(s["id"] for s in reversed(segments) if s["region"] == "toolResults").partition(
        ":"
    )[0]
    place("context/pin", partId=output, pinned=True)
    done = place("context/compact")
    place("context/undoCompaction", compactionId=done["compactionId"])
    place("context/compact", instructions="dwell on notes.txt")
    last = place.say("create c.txt with `c`")
    place.back(last)
    place("checkpoint/redo")
    place("session/set_config_option", configId="policy", value="opencode")
    place("session/fork", atMessageId=early)
    place("session/handoff", goal="finish it", **{"continue": True})
    place.client.stop()
    STORES.mkdir(exist_ok=True)
    kept = zstandard.ZstdCompressor(19).compress((place.data / "store.db").read_bytes())
    (STORES / f"{name}.db.zst").write_bytes(kept)
    client = PlainClient(unpacked(name, folder / "again"))
    client.request("initialize", {"capabilities": {}, "initializationOptions": {}})
    client.notify("initialized")
    told = json.dumps(seen(client), indent=1, ensure_ascii=False)
    (STORES / f"{name}.json").write_text(told + "\n", "utf-8")
    client.stop()
    shutil.rmtree(PROJECT)


if __name__ == "__main__":
    write(sys.argv[1])
