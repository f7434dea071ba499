"""A client of the official ACP SDK beside other editors; `vscode/one_session.mjs` says when."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.e2e.test_acp_sdk import Window, daemon, say
from tests.polling import until

LIMIT = 120.0
"""Seconds until a step begins, after those of the other editors."""


async def step(window: Window, name: str, run: Callable[[], Awaitable[None]]) -> None:
    """Play a step once it is to begin, and tell that it is done, with the tokens in the context."""
    folder = Path.cwd().parent
    if name != "joined":
        await until((folder / f"acp-{name}.go").exists, LIMIT)
    await run()
    (folder / f"acp-{name}.new").write_text(str(window.of("usage_update")[-1].used))
    (folder / f"acp-{name}.new").rename(folder / f"acp-{name}.done")


async def main() -> None:
    # Questions stay open here: another editor answers them.
    window = Window(hold=asyncio.Event())
    cwd = str(Path.cwd())
    async with daemon(Path(os.environ["SIDECAR_DATA_DIR"]), window, None, "--shared") as agent:
        session = (await agent.list_sessions(cwd=cwd)).sessions[0].session_id

        async def joined() -> None:
            await agent.load_session(session_id=session, cwd=cwd, mcp_servers=[])
            await window.until(lambda: window.of("usage_update"))
            assert "read a.txt" in window.said("user_message_chunk")

        async def spoken() -> None:
            ended = await say(agent, session, "hello from acp")
            assert ended.stop_reason == "end_turn"

        async def heard() -> None:
            others = ("vscode", "neovim", "emacs")
            said = window.said("user_message_chunk")
            assert all(f"hello from {name}" in said for name in others), said

        async def asked() -> None:
            ended = await say(agent, session, 'call shell {"command": "echo four > four.txt"}')
            assert ended.stop_reason == "end_turn"
            assert window.asked[-1].title == "Run echo four > four.txt"
            assert window.of("tool_call_update")[-1].title == "Run echo four > four.txt"

        for run in (joined, spoken, heard, asked):
            await step(window, run.__name__, run)


if __name__ == "__main__":
    asyncio.run(main())
