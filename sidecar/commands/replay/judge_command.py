"""`sidecar replay --judge`."""

import asyncio
import os
import secrets
import threading
from collections.abc import Iterable, Sequence
from contextlib import aclosing
from decimal import Decimal
from pathlib import Path

from sidecar.commands.replay.asker import Asker, UnreadAnswer
from sidecar.commands.replay.judge_tables import show_json, show_tables
from sidecar.commands.replay.replay_command import Options, ended, settings_of, with_paths
from sidecar.commands.terminal import INTERRUPTED, put_out, say
from sidecar.config import OFFLINE_MODEL, Config, load, user_file
from sidecar.core.errors import BadRequest, ModelFailed, innermost
from sidecar.core.parts import Usage
from sidecar.core.prompt.pricing import ModelInfo, money, price
from sidecar.core.text.visible import many
from sidecar.daemon.clock_and_ids import read_clock
from sidecar.model.catalogue import lookup
from sidecar.model.models import Models
from sidecar.model.vocabulary import load_counter
from sidecar.replay.compare import Settings
from sidecar.replay.importers.recognition import find_recordings
from sidecar.replay.judge.cases import FRAMING, NEVER_COMPACTED, Case, read_case
from sidecar.replay.judge.judge_questions import (
    ANSWERING,
    JUDGING,
    Judged,
    asked_of,
    compared,
    read_answers,
    read_verdicts,
    score,
)
from sidecar.replay.judge.judgement import JudgedSession, Judgement, Unjudged
from sidecar.replay.judge.questions import Question

MOST_OUTPUT = 16_000
"""Tokens of one answer, thinking included."""
LIMIT_MOST = 1_000


def judge(options: Options, model_id: str = "", limit: int = 3) -> int:
    """Judges at most `limit` sessions and prints the verdicts.

    Exit codes: 0 passed, 1 failed or not judged, 2 bad settings, 130 interrupted.
    """
    try:
        options = with_paths(options)
        settings = settings_of(options)
        _check(options, limit)
        config, _ = load(workspace=None, environment=os.environ, options={})
        info = lookup(model_id or config.model)
        _require_a_model(config, info.id, given=bool(model_id))
    except BadRequest as error:
        return ended(error.message, 2)
    models = Models(read_clock, secrets.SystemRandom().random)
    models.configure(config)
    most = min(MOST_OUTPUT, info.max_output)
    asker = Asker(models.model_for(info.id), info, most)
    try:
        cases = _cases(options.paths, settings, info, most, limit)
        if not cases:
            return ended("no session there can be judged", 1)
        _say_estimate(cases, info)
        judgement = asyncio.run(_asked(cases, asker, settings, models))
    except BadRequest as error:
        return ended(error.message, 2)
    except ModelFailed as error:
        _say_spent(asker)
        return ended(error.message, 2)
    except KeyboardInterrupt:
        _say_spent(asker)
        return ended("interrupted", INTERRUPTED)
    _say_spent(asker)
    put_out(lambda: (show_json if options.as_json else show_tables)(judgement))
    return 0 if judgement.passed else 1


def _check(options: Options, limit: int) -> None:
    if options.compare or options.html is not None:
        raise BadRequest("--judge judges one policy and draws no page: leave out --compare, --html")
    if not 1 <= limit <= LIMIT_MOST:
        raise BadRequest(f"{limit} sessions cannot be judged: give --limit 1 to {LIMIT_MOST}")


def _require_a_model(config: Config, model_id: str, *, given: bool) -> None:
    provider = config.provider
    reachable = bool(provider.api_key or provider.base_url) or provider.name != "anthropic"
    if not reachable:
        raise BadRequest(
            "a judge is a model, and there is no key to ask one: set ANTHROPIC_API_KEY, or in "
            f"{user_file()} the provider's api_key, or a base_url for a server that needs none"
        )
    if model_id == OFFLINE_MODEL:
        why = "cannot judge" if given else "is configured and cannot judge"
        raise BadRequest(f"the offline model {why}: name another with --judge-model")


def _cases(
    paths: Iterable[Path], settings: Settings, info: ModelInfo, most: int, limit: int
) -> list[Case]:
    count = load_counter()
    found: list[Case] = []
    whole: list[str] = []
    files = dict.fromkeys(file for path in paths for file in find_recordings(path))
    for file in files:
        try:
            found.append(read_case(file, count, settings, info, most))
        except BadRequest as error:
            if error.data["path"] == NEVER_COMPACTED:
                whole.append(error.message)
            else:
                say(f"skipped: {error.message}")
        if len(found) == limit:
            break
    if whole:
        more = f" (and {len(whole) - 1} more are not)" if len(whole) > 1 else ""
        say(f"skipped: {whole[0]}{more}")
    return found


async def _asked(
    cases: Sequence[Case], asker: Asker, settings: Settings, models: Models
) -> Judgement:
    async with aclosing(models):
        return await _judged(cases, asker, settings)


async def _judged(cases: Sequence[Case], asker: Asker, settings: Settings) -> Judgement:
    """Judges all cases; a failure stays with its session.

    Raises ModelFailed for a refused key.
    """
    try:
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(_outcome(case, asker)) for case in cases]
    except ExceptionGroup as error:
        raise innermost(error) from None
    outcomes = [task.result() for task in running]
    return Judgement(
        asker.info.id,
        settings.policies[0],
        settings.window,
        tuple(one for one in outcomes if isinstance(one, JudgedSession)),
        tuple(one for one in outcomes if isinstance(one, Unjudged)),
        asker.usage,
        asker.cost,
    )


async def _outcome(case: Case, asker: Asker) -> JudgedSession | Unjudged:
    try:
        judged = await _ask_about(case, asker)
    except (ModelFailed, UnreadAnswer, ExceptionGroup) as raised:
        error = innermost(raised)
        if isinstance(error, ModelFailed) and error.failure == "authentication":
            raise error from None
        if not isinstance(error, ModelFailed | UnreadAnswer):
            raise
        say(f"not judged: {case.name}: {error}")
        return Unjudged(case.name, str(error))
    say(f"judged: {case.name}: {score(judged):.2f}")
    return JudgedSession(case.name, case.requests, case.rewrites, judged)


async def _ask_about(case: Case, asker: Asker) -> tuple[Judged, ...]:
    questions = case.questions

    async def answers(context: str, reader: str) -> dict[str, str]:
        def request(missing: Sequence[Question]) -> str:
            return asked_of(context, missing)

        return await asker.complete(
            f"{reader} answers", ANSWERING, questions, request, read_answers
        )

    async def from_what_is_left() -> dict[str, str]:
        context = case.compacted
        if case.summaries:
            room = asker.info.window - asker.most - FRAMING
            stopped = threading.Event()
            write = asker.writer(asyncio.get_running_loop(), stopped)
            try:
                context, failed = await asyncio.to_thread(case.with_summaries, write, room)
            finally:
                stopped.set()
            if failed:
                many = f"{len(failed)} of {len(case.summaries)} summaries are"
                say(f"{case.name}: {many} made of the log's own words: {failed[0]}")
        return await answers(context, "the second")

    async with asyncio.TaskGroup() as group:
        whole = group.create_task(answers(case.full, "the first"))
        left = group.create_task(from_what_is_left())
    full, compacted = whole.result(), left.result()

    def request(missing: Sequence[Question]) -> str:
        return compared(missing, full, compacted)

    found = await asker.complete("the verdicts", JUDGING, questions, request, read_verdicts)
    return tuple(Judged(q, full[q.id], compacted[q.id], found[q.id]) for q in questions)


def _say_estimate(cases: Sequence[Case], info: ModelInfo) -> None:
    expected = [usage for case in cases for usage in (*case.summaries, *case.asking)]
    costs = [price(info, usage) for usage in expected]
    total = sum(expected, Usage())
    known = [cost for cost in costs if cost is not None]
    usd = _usd(sum(known, Decimal(0)) if len(known) == len(costs) else None)
    say(
        f"asking {info.id} about {many(len(cases), 'session')} in {len(expected)} requests: about "
        f"{total.prompt:,} tokens in, {total.output:,} out, {usd} (an estimate)"
    )


def _say_spent(asker: Asker) -> None:
    usage = asker.usage
    say(
        f"spent: {usage.requests} requests, {usage.prompt:,} tokens in, {usage.output:,} out, "
        f"{_usd(asker.cost)}"
    )


def _usd(amount: Decimal | None) -> str:
    if amount is None:
        return "at a price that is not known"
    return f"{money(round(amount, 4))} USD"
