"""Runs sessions through LSP alone, by `workspace/executeCommand`.

Progress and result come as messages. Arguments answer questions: `sidecar.rollback 2 files
overwrite`.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeAlias, cast

from pygls.lsp.server import LanguageServer

from sidecar.core.errors import BadRequest, Cancelled, RestoreConflict, SidecarError, innermost
from sidecar.core.files.reconcile import OnConflict
from sidecar.core.parts import JsonObject, SessionId
from sidecar.core.text.visible import clipped
from sidecar.session.desk.sessions import Sessions, watched
from sidecar.session.interface import Done, NewSession, PromptRequest, Scope, Wish
from sidecar.session.lifecycle.session import Session
from sidecar.wire.client_requests import ERROR, INFO, ClientFailed
from sidecar.wire.plain_editor import PlainEditor, meter_line, tokens
from sidecar.wire.rollback_words import numbered, paths, summary, turns_back, wanted

MOST_TURNS = 8
"""Turns offered for going back: more are hard to read."""
MOST_SAID = 300
"""Characters of an answer in a message; the editor's log has the rest."""
BACK, TALK_ONLY, FILES_ONLY, LEAVE = "Go back", "Conversation only", "Files only", "Leave it"

logger = logging.getLogger("sidecar.wire")


class Commands:
    """One connection's commands, which act on its newest session."""

    def __init__(self, sessions: Sessions, editor: PlainEditor, group: asyncio.TaskGroup) -> None:
        self._sessions = sessions
        self._editor = editor
        self._group = group
        self._current: SessionId | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._arriving: list[asyncio.Event] = []

    def offer(self, server: LanguageServer) -> None:
        acts: Mapping[str, Act] = {
            "new": self.new,
            "send": self.send,
            "cancel": self.cancel,
            "compact": self.compact,
            "undoCompaction": self.undo_compaction,
            "rollback": self.rollback,
            "redo": self.redo,
            "context": self.context,
            "handoff": self.handoff,
        }
        for name, act in acts.items():
            server.command(f"sidecar.{name}")(self._begun(name, act))

    def under_way(self) -> tuple[asyncio.Task[None], ...]:
        return tuple(self._tasks)

    async def arrivals(self) -> None:
        for arrived in tuple(self._arriving):
            await arrived.wait()

    def _begun(self, name: str, act: "Act") -> Callable[..., Awaitable[None]]:
        async def begin(*given: str) -> None:
            words = " ".join(str(one) for one in given).strip()
            task = self._group.create_task(self._carried_out(name, act, words))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        return begin

    async def _carried_out(self, name: str, act: "Act", words: str) -> None:
        try:
            await act(words)
        except Exception as found:
            error = innermost(found)
            if isinstance(error, SidecarError):
                self._editor.show(f"Sidecar: {error.message}", ERROR)
            else:
                logger.exception("sidecar.%s failed", name, exc_info=error)
                self._editor.show("Sidecar: something went wrong; its log says what", ERROR)

    # --- sessions ----------------------------------------------------------------------------

    async def _session(self) -> Session:
        if self._current is None:
            page, _ = await self._sessions.list(str(self._folder()), None, 1)
            if not page:
                return await self._opened()
            self._current = page[0].session_id
        session, editor = await self._sessions.get(self._current), self._editor
        # Sessions opened by our own methods already have a watcher and a client.
        if editor.connection.watch in session.audience.watchers():
            return session
        return await watched(self._sessions, session.id, editor, editor.watch)

    async def _opened(self) -> Session:
        request = NewSession(cwd=str(self._folder()))
        made = await self._sessions.new(request, self._editor, self._editor.watch)
        self._current = made.session_id
        return await self._sessions.get(made.session_id)

    def _folder(self) -> Path:
        return self._sessions.shared.root or self._sessions.folder

    def _tell(self, session: Session, what: str, kind: int = INFO) -> None:
        self._editor.show(f"{what} {meter_line(session.meter())}".strip(), kind)

    async def new(self, _: str) -> None:
        self._tell(await self._opened(), "New session.")

    async def handoff(self, goal: str) -> None:
        session = await self._session()
        made = await self._sessions.handoff(
            session.id, goal, self._editor, self._editor.watch, go_on=True
        )
        self._current = made.session_id
        self._tell(await self._session(), "Handed off to a new session.")

    # --- turns -------------------------------------------------------------------------------

    async def send(self, text: str) -> None:
        arrived = asyncio.Event()
        self._arriving.append(arrived)
        try:
            await self._sent(text, arrived)
        finally:
            arrived.set()
            self._arriving.remove(arrived)

    async def _sent(self, text: str, arrived: asyncio.Event) -> None:
        if not text:
            raise BadRequest(
                "give the prompt as the command's argument, or write it on a line, select that, "
                "and choose “Sidecar: send this” from the code actions"
            )
        session, editor = await self._session(), self._editor
        blocks: tuple[JsonObject, ...] = ({"type": "text", "text": text},)
        request = PromptRequest(blocks, ticket=object(), window=self._sessions.shared.known)
        with session.rewriting.works.show("Sidecar") as work:
            editor.said, editor.work = "", work
            try:
                result = await work.wait_for(session.prompt(request, arrived))
            except Cancelled:
                session.prompts.cancel_prompt(request.ticket)
                self._tell(session, "Cancelled.")
                return
            finally:
                editor.work = None
            work.outcome = result.stop_reason
        editor.log(editor.said)
        if result.error is not None:
            raise SidecarError(str(result.error.get("message")))
        said = " ".join(editor.said.split())
        shown = clipped(said, MOST_SAID)
        ended = "" if result.stop_reason == "end_turn" else f"[{result.stop_reason}] "
        self._tell(session, f"{ended}{shown}")

    async def cancel(self, _: str) -> None:
        session = await self._session()
        busy = session.prompts.busy
        session.prompts.cancel()
        self._tell(session, "Cancelled." if busy else "No turn runs.")

    # --- the context -------------------------------------------------------------------------

    async def context(self, _: str) -> None:
        session = await self._session()
        meter = session.meter()
        regions = sorted(meter.regions.items(), key=lambda one: -one[1])
        filled = ", ".join(f"{name} {tokens(size)}" for name, size in regions if size)
        cache = "warm" if meter.cache.warm else "cold"
        cost = meter.cost.session
        paid = "" if cost is None else f" Cost ${cost}."
        self._tell(session, f"{filled}. Cache {cache}.{paid}")

    async def compact(self, instructions: str) -> None:
        session = await self._session()
        plan = await session.rewriting.compact(None, None, dry_run=True, instructions=instructions)
        if not plan["plan"]:
            self._tell(session, f"Nothing to compact: {plan['reason']}.")
            return
        cost = "" if plan["price"] is None else f" for ${plan['price']}"
        sizes = f"{_size(plan, 'tokensBefore')} to {_size(plan, 'tokensAfter')} tokens"
        question = f"Compact {sizes}{cost}?"
        # Compaction can be undone, so proceeds where nobody can be asked.
        if await self._chosen(question, ("Compact", LEAVE), "Compact") != "Compact":
            self._tell(session, "Left as it was.")
            return
        done = await session.rewriting.compact(None, None, dry_run=False, instructions=instructions)
        sizes = f"{_size(done, 'tokensBefore')} to {_size(done, 'tokensAfter')} tokens"
        self._tell(session, f"Compacted {sizes}.")

    async def undo_compaction(self, _: str) -> None:
        session = await self._session()
        await session.rewriting.undo(None)
        self._tell(session, "The compaction is taken back.")

    # --- going back --------------------------------------------------------------------------

    async def rollback(self, words: str) -> None:
        session = await self._session()
        scope, on_conflict, number = wanted(words)
        message_id = await self._turn(session, number)
        if message_id is None:
            self._tell(session, "Left as it was.")
            return
        wish = Wish(scope, None, message_id, on_conflict, dry_run=True)
        foreseen = await session.rollback.restore(wish)
        if foreseen.reason is not None:
            self._editor.show(f"Sidecar: {foreseen.reason}", INFO)
            return
        if number is None:
            choice = await self._agreed(foreseen, wish)
            if choice is None:
                self._tell(session, "Left as it was.")
                return
            scope, on_conflict = choice
        try:
            done = await session.rollback.restore(Wish(scope, None, message_id, on_conflict))
        except RestoreConflict as conflict:
            names = ", ".join(paths(foreseen, "conflict"))
            text = "add keep, overwrite or merge to the command"
            raise BadRequest(f"{conflict.message} ({names}): {text}") from None
        self._tell(session, f"Went back: {summary(done)}.")
        if done.prompt is not None:
            self._editor.log(f"The prompt that was rolled back:\n{done.prompt}")

    async def redo(self, words: str) -> None:
        session = await self._session()
        _, on_conflict, _ = wanted(words)
        done = await session.rollback.redo(Wish("both", on_conflict=on_conflict))
        self._tell(session, f"Went forth again: {summary(done)}.")

    async def _turn(self, session: Session, number: int | None) -> str | None:
        turns = await turns_back(session)
        if number is not None:
            return numbered(turns, number).message_id
        offered = {f"{n}. {one.title}": one for n, one in enumerate(turns[:MOST_TURNS], 1)}
        choice = await self._chosen("Go back to before which turn?", (*offered, LEAVE), None)
        return None if choice not in offered else offered[choice].message_id

    async def _agreed(self, foreseen: Done, wish: Wish) -> tuple[Scope, OnConflict] | None:
        conflicts = paths(foreseen, "conflict")
        ways: dict[str, tuple[Scope, OnConflict]] = {BACK: ("both", wish.on_conflict)}
        if conflicts:
            ways = {
                "Merge": ("both", "merge"),
                "Keep mine": ("both", "keep"),
                "Overwrite": ("both", "overwrite"),
            }
        ways |= {TALK_ONLY: ("conversation", "refuse")}
        if not conflicts:
            ways |= {FILES_ONLY: ("files", "refuse")}
        question = f"This would go back: {summary(foreseen)}."
        return ways.get(await self._chosen(question, (*ways, LEAVE), None) or "")

    async def _chosen(
        self, question: str, choices: tuple[str, ...], else_: str | None
    ) -> str | None:
        """Asks the user; where the editor cannot, returns `else_` or raises BadRequest."""
        try:
            return await self._editor.choose(question, choices)
        except ClientFailed:
            if else_ is not None:
                return else_
            listed = "; ".join(choice for choice in choices if choice != LEAVE)
            raise BadRequest(
                f"{question} This editor cannot ask: give the answer as the command's argument "
                f"({listed}), or choose “Sidecar: take back the newest turn” from the code actions"
            ) from None


Act: TypeAlias = Callable[[str], Awaitable[None]]
"""A command over its arguments as one text."""


def _size(told: JsonObject, name: str) -> str:
    return tokens(cast("int", told[name]))
