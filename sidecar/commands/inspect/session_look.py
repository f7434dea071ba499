"""A session for `inspect`, `report` and `audit`."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from typing import NoReturn

from sidecar.commands.session_names import meant
from sidecar.commands.terminal import run_async
from sidecar.config import Config, load
from sidecar.config.reload import CurrentSettings
from sidecar.config.settings import secrets_of
from sidecar.core.parts import SessionId
from sidecar.core.prompt.prompt_text import prompt_text
from sidecar.core.text.redaction import Redaction
from sidecar.daemon.clock_and_ids import id_source, read_clock
from sidecar.daemon.stores import look_into
from sidecar.model.catalogue import lookup
from sidecar.model.vocabulary import VOCABULARY, load_counter
from sidecar.observe.report.course import Course
from sidecar.session.desk.session_named import find
from sidecar.session.desk.store_look import ReadAccess, look, sent_now
from sidecar.session.turn.clock import Clock
from sidecar.session.turn.model_access import ModelAccess
from sidecar.session.turn.prefix_gate import ColdGate
from sidecar.store.format.values import Stored
from sidecar.store.journal import Store


def course_of(session: str | None, *, last: bool, sized: bool = True) -> Course:
    """Reads a session by id or its beginning, by folder, or the newest.

    Removes likely keys; sizes requests by region if `sized`. Raises SidecarError.
    """
    return run_async(_read(session, last=last, sized=sized))


def stored_of(session: str | None, *, last: bool) -> tuple[Stored, Redaction]:
    """Raises as `course_of`."""
    return run_async(_stored(session, last=last))


def sent_text(session: str | None, *, last: bool) -> str:
    """Raises as `course_of`."""
    return run_async(_sent(session, last=last))


@asynccontextmanager
async def _found(
    session: str | None, *, last: bool
) -> AsyncIterator[tuple[Store, Config, SessionId]]:
    config, _ = load(workspace=None, environment=os.environ, options={})
    name, folder = meant(session, last=last)
    store = await asyncio.to_thread(look_into, config.data_dir)
    try:
        yield store, config, await find(store.sessions, name, folder)
    finally:
        await store.close()


def _access(config: Config, store: Store) -> ReadAccess:
    counter = cache(load_counter)

    def count(text: str) -> int:
        # Loaded for the first text whose count was not kept.
        return counter()(text)

    models = ModelAccess(_unasked, lookup, {}, count, ColdGate(read_clock), VOCABULARY)
    clock = Clock(read_clock, id_source(read_clock))
    return ReadAccess(store, models, CurrentSettings(config), clock)


def _unasked(model_id: str) -> NoReturn:
    raise AssertionError(f"{model_id} is asked nothing by who only looks")


def _redaction(config: Config) -> Redaction:
    return Redaction(secrets_of(config, os.environ))


async def _stored(session: str | None, *, last: bool) -> tuple[Stored, Redaction]:
    async with _found(session, last=last) as (store, config, found):
        return await store.logs.load(found), _redaction(config)


async def _sent(session: str | None, *, last: bool) -> str:
    async with _found(session, last=last) as (store, config, found):
        prompt = await sent_now(_access(config, store), found)
    return _redaction(config).text(prompt_text(prompt))


async def _read(session: str | None, *, last: bool, sized: bool) -> Course:
    async with _found(session, last=last) as (store, config, found):
        redaction = _redaction(config)
        course = await look(_access(config, store), found, redaction.text, sized=sized)
    clean = redaction.value(course)
    # Its id is the store's name for the session, and no secret however random.
    return replace(clean, about=replace(clean.about, id=found))
