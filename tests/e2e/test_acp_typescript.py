"""The agent face, by the TypeScript SDK as client: another implementation than the Python one."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CLIENT = Path(__file__).parent / "acp_client.mjs"
FOLDER = Path(os.environ.get("SIDECAR_ACP_SDK", Path(__file__).parent / "node_modules"))
ENTRY = FOLDER / "@agentclientprotocol/sdk/dist/v1/stable/acp.js"


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node on PATH")
@pytest.mark.skipif(
    not ENTRY.is_file(),
    reason="no TypeScript SDK: npm install --prefix tests/e2e @agentclientprotocol/sdk",
)
def test_a_session_by_the_typescript_sdk(tmp_path: Path, workspace: Path) -> None:
    (workspace / "long.txt").write_text("".join(f"line {n} of many words\n" for n in range(900)))
    clean = {k: v for k, v in os.environ.items() if not k.startswith("ANTHROPIC_")}
    daemon = [sys.executable, "-m", "sidecar", "serve", "--stdio", "--alone"]
    done = subprocess.run(
        ["node", str(CLIENT), str(ENTRY), str(workspace), *daemon],
        env={**clean, "SIDECAR_DATA_DIR": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    told = json.loads(done.stdout)
    assert (told["version"], told["stop"], told["asked"], told["sessions"]) == (1, "end_turn", 1, 1)
    assert told["compaction"] == "completed"
    assert {"agent_message_chunk", "tool_call", "tool_call_update", "usage_update"} <= set(
        told["kinds"]
    )
    assert "Good day" in (workspace / "main.py").read_text()
