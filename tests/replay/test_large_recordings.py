"""A large recording is read in a stream: what is kept of it is its texts, and no image."""

import base64
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MEGABYTE = 1_000_000
SIZE = 60 * MEGABYTE
IMAGE = 1_500_000
"""Characters of an image in base64; three quarters of the file are images."""
TEXT_SHARE = 0.25
MOST = 1.2
"""Memory beyond a start, in sizes of the file: 0.85 measured, half of it lines of files that were
read; 1.59 with images kept."""
PROGRAM = """
import sys
from pathlib import Path
from sidecar.core.plans.plan import Rates
from sidecar.model.vocabulary import load_counter
from sidecar.replay.compare import Settings, replay_file

count = load_counter()
# Not `ru_maxrss`, which a child begins with its parent's.
status = lambda: dict(line.split(":") for line in open("/proc/self/status"))
peak = lambda: int(status()["VmHWM"].split()[0]) * 1024
before = peak()
settings = Settings(("manual",), 200_000, Rates(3e-6, 15e-6, 3.75e-6, 0.3e-6))
session = replay_file(Path(sys.argv[1]), count, settings)
print(session.requests, len(session.damaged), peak() - before)
"""


def lines() -> Iterator[str]:
    """Give a session of calls with long results, some of which are images."""
    chance = random.Random(7)
    names = [f"{verb}_{number}" for number in range(4_000) for verb in ("parse", "load", "find")]
    head = {"sessionId": "s", "timestamp": "2026-11-21T10:00:00Z"}
    typed = {"role": "user", "content": "Read all of it."}
    yield json.dumps({**head, "uuid": "u", "type": "user", "message": typed})
    read = shown = number = 0
    while read + shown < SIZE:
        number += 1
        call = {
            "type": "tool_use",
            "id": f"c{number}",
            "name": "Read",
            "input": {"path": f"{number}"},
        }
        asked = {"role": "assistant", "id": f"a{number}", "model": "m", "content": [call]}
        yield json.dumps({**head, "uuid": f"a{number}", "type": "assistant", "message": asked})
        content: list[dict[str, object]]
        if read < TEXT_SHARE * (read + shown):
            some = chance.sample(names, 400)
            text = "\n".join(f"    result = {name}(value, other)  # as it was" for name in some)
            content = [{"type": "text", "text": text * 8}]
            read += 8 * len(text)
        else:
            data = base64.b64encode(chance.randbytes(IMAGE * 3 // 4)).decode()
            source = {"type": "base64", "media_type": "image/png", "data": data}
            content = [{"type": "image", "source": source}]
            shown += len(data)
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": content}
        given = {"role": "user", "content": [result]}
        yield json.dumps({**head, "uuid": f"r{number}", "type": "user", "message": given})


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
@pytest.mark.long
def test_no_image_of_a_large_recording_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    with path.open("w") as file:
        file.writelines(f"{line}\n" for line in lines())
    size = path.stat().st_size
    assert size >= SIZE
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    requests, damaged, kept = map(int, done.stdout.split())
    assert requests > 100
    assert damaged == 0
    assert kept < MOST * size, f"{kept / size:.2f} times the file"
