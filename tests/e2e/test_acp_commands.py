"""Commands typed in the chat of an ACP client, by the official Python SDK."""

import asyncio
from pathlib import Path

import pytest

from tests.e2e.test_acp_sdk import Window, daemon, say

pytestmark = pytest.mark.long


async def test_commands_that_are_typed_do_what_they_say(tmp_path: Path, workspace: Path) -> None:
    (workspace / "long.txt").write_text("".join(f"line {n} of many words\n" for n in range(900)))
    window = Window()
    async with daemon(tmp_path / "data", window, policy="manual") as agent:
        session = (await agent.new_session(cwd=str(workspace), mcp_servers=[])).session_id
        await window.until(lambda: window.of("available_commands_update"))
        offered = window.of("available_commands_update")[0].available_commands
        assert {"help", "compact", "rollback", "export"} <= {c.name for c in offered}

        async def command(words: str) -> str:
            window.updates.clear()
            assert (await say(agent, session, words)).stop_reason == "end_turn"
            return window.said()

        assert "no turn to go back to" in await command("/rollback")
        for _ in range(4):
            await say(agent, session, "read long.txt")
        await say(agent, session, "in main.py, change `Hello` to `Good day`")
        before = window.of("usage_update")[-1].used

        filled = await command("/context")
        assert "| toolResults |" in filled
        assert "Context:" in filled
        told = await command("/compact keep the API notes")
        assert "The context was compacted" in told
        assert window.of("usage_update")[-1].used < before
        listed = await command("/rollback")
        assert "1. in main.py, change" in listed
        assert "`main.py`" in listed
        (workspace / "main.py").write_text("# all mine\n")
        assert "`/rollback 1 overwrite`" in await command("/rollback 1")
        back = await command("/rollback 1 overwrite")
        assert "change `Hello` to `Good day`" in back
        assert "Hello" in (workspace / "main.py").read_text()
        assert "Went forth again" in await command("/redo")
        assert (workspace / "main.py").read_text() == "# all mine\n"
        assert "did nothing" in await command("/rollback sideways")
        drafted = await command("/handoff finish the greeting")
        assert "finish the greeting" in drafted
        assert len((await agent.list_sessions()).sessions) == 2
        assert "did nothing" in await command("/handoff")
        assert (await say(agent, session, "/etc/hosts is a path")).usage.total_tokens > 0


async def test_a_compaction_is_taken_back_by_a_command(tmp_path: Path, workspace: Path) -> None:
    (workspace / "long.txt").write_text("".join(f"line {n} of many words\n" for n in range(900)))
    window = Window()
    async with daemon(tmp_path / "data", window, policy="manual") as agent:
        session = (await agent.new_session(cwd=str(workspace), mcp_servers=[])).session_id
        for _ in range(4):
            await say(agent, session, "read long.txt")
        used = [window.of("usage_update")[-1].used]
        for command in ("/compact", "/undo"):
            await say(agent, session, command)
            used.append(window.of("usage_update")[-1].used)
        assert used[1] < used[0] == used[2]
        assert "The newest compaction is taken back" in window.said()


async def test_every_command_is_answered_and_none_reaches_the_model(
    tmp_path: Path, workspace: Path
) -> None:
    window = Window()
    async with daemon(tmp_path / "data", window) as agent:
        session = (await agent.new_session(cwd=str(workspace), mcp_servers=[])).session_id

        async def command(words: str) -> str:
            window.updates.clear()
            ended = await say(agent, session, words)
            assert (ended.stop_reason, ended.usage) == ("end_turn", None)
            return window.said()

        assert "no turn to go back to" in await command("/checkpoints")
        await say(agent, session, "in main.py, change `Hello` to `Good day`")
        await say(agent, session, "create new.txt with `two`")

        assert "| `/compact` | Make room in the context now | what to keep" in await command(
            "/help"
        )
        assert "1. create new.txt" in await command("/checkpoints")
        newest, all_of_it = await command("/diff 1"), await command("/diff")
        assert ("+two" in newest, "Good day" in newest) == (True, False)
        assert ("+two" in all_of_it, '+    return "Good day' in all_of_it) == (True, True)
        assert "| the session so far |" in await command("/cost")
        assert "did nothing" in await command("/undo")

        assert "The model is `offline`" in await command("/model")
        assert "did nothing" in await command("/policy none-of-them")
        assert "The compaction policy is now `manual`" in await command("/policy manual")
        assert window.of("config_option_update")
        assert "- `high`" in await command("/effort")

        assert "| 1 | " in await command("/pin")
        kept = await command("/pin 1")
        assert "is kept through compactions" in kept
        part = kept.split("`")[1]
        assert f"`{part}` is no longer kept" in await command(f"/unpin {part}")
        assert "did nothing" in await command("/pin nothing")

        assert "is called “Good days” now" in await command("/rename  Good  days ")
        assert window.of("session_info_update")
        assert "did nothing" in await command("/rename")
        copied = (await command("/fork")).split("`")[1]
        listed = await command("/sessions")
        assert f"`{session}` (this one)" in listed
        assert f"`{copied}` |" in listed
        await agent.load_session(session_id=copied, cwd=str(workspace), mcp_servers=[])
        written = (await command("/export kept.sidecar")).split("`")[1]
        assert await asyncio.to_thread(Path(written).is_file)
        assert written == str(workspace / "kept.sidecar")
        assert "did nothing" in await command("/export kept.sidecar")

        assert "no words are taken after it" in await command("/context now")
        assert "`/context` may be meant" in await command("/conext")
        assert "`/help` lists all" in await command("/nothing like it")
        (line,) = [s for s in (await agent.list_sessions()).sessions if s.session_id == session]
        assert line.field_meta["sidecar"]["turns"] == 2
