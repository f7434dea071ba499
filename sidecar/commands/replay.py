"""`sidecar replay`: what recorded sessions cost, and what they would have cost here."""

import json
import multiprocessing
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from sidecar.commands.replay_tables import show_comparison, show_sessions
from sidecar.core.errors import BadRequest
from sidecar.core.policies import DEFAULT, policies
from sidecar.core.tokens import Count
from sidecar.model.vocabulary import load_counter
from sidecar.replay.compare import Session, Settings, replay_file
from sidecar.replay.importers import find_recordings
from sidecar.replay.page import page
from sidecar.replay.prices import read_card
from sidecar.replay.summary import as_json

WINDOW = 200_000
WINDOW_LEAST = 16_000
WINDOW_MOST = 10_000_000


@dataclass(frozen=True, slots=True)
class Failed:
    """A file that could not be replayed."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for on the command line."""

    paths: tuple[Path, ...]
    policy: str = DEFAULT
    window: int = WINDOW
    compare: bool = False
    prices: str = "classic"
    as_json: bool = False
    html: Path | None = None
    jobs: int = 0


def replay(options: Options) -> int:
    """Replay and print; the exit code is 1 if nothing could be replayed, 2 for bad arguments."""
    errors = Console(stderr=True, highlight=False)
    try:
        settings = _settings(options)
        files = [file for path in options.paths for file in find_recordings(path)]
    except BadRequest as error:
        errors.print(f"sidecar replay: {error.message}", markup=False)
        return 2
    sessions: list[Session] = []
    failed: list[Failed] = []
    with _progress(errors) as progress:
        task = progress.add_task("replaying", total=len(files))
        for outcome in _outcomes(files, settings, options.jobs):
            if isinstance(outcome, Session):
                sessions.append(outcome)
            else:
                failed.append(outcome)
            progress.advance(task)
    sessions.sort(key=lambda session: session.name)
    for failure in sorted(failed, key=lambda failure: failure.path):
        errors.print(f"skipped: {failure.why}", markup=False)
    if not sessions:
        errors.print("sidecar replay: nothing there could be replayed", markup=False)
        return 1
    _show(options, settings, sessions)
    return 0


def _settings(options: Options) -> Settings:
    known = policies()
    if options.policy not in known:
        raise BadRequest(
            f"there is no policy {options.policy!r}; there are {', '.join(known)}", "policy"
        )
    if not WINDOW_LEAST <= options.window <= WINDOW_MOST:
        raise BadRequest(
            f"a window of {options.window} tokens cannot be played: "
            f"give {WINDOW_LEAST} to {WINDOW_MOST}",
            "window",
        )
    missing = [str(path) for path in options.paths if not (path.exists() or path.parent.is_file())]
    if missing:
        raise BadRequest(f"there is no {', '.join(missing)}", "path")
    names = (options.policy, *(name for name in known if name != options.policy))
    return Settings(
        names if options.compare else (options.policy,), options.window, read_card(options.prices)
    )


def _show(options: Options, settings: Settings, sessions: Sequence[Session]) -> None:
    if options.html is not None:
        options.html.write_text(page(sessions, settings, options.prices), "utf-8")
        sys.stderr.write(f"written: {options.html}\n")
    if options.as_json:
        sys.stdout.write(json.dumps(as_json(sessions, settings, options.prices), indent=1) + "\n")
        return
    console = Console(highlight=False)
    if len(settings.policies) == 1:
        show_sessions(console, sessions, settings)
    show_comparison(console, sessions, settings)


def _outcomes(files: Sequence[Path], settings: Settings, jobs: int) -> Iterator[Session | Failed]:
    """Replay files one by one, or side by side where there are several of each."""
    workers = min(len(files), jobs or os.cpu_count() or 1)
    if workers <= 1:
        count = load_counter()
        for file in files:
            yield _outcome(file, count, settings)
        return
    # Fork would copy whatever threads the caller has; spawn costs a second and is safe.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, initializer=_prepare) as pool:
        waiting = [pool.submit(_work, file, settings) for file in _largest_first(files)]
        for done in as_completed(waiting):
            yield done.result()


def _largest_first(files: Iterable[Path]) -> list[Path]:
    # A session in a store has a path below the store's file, which is no file itself.
    return sorted(files, key=lambda file: -file.stat().st_size if file.is_file() else 0)


_counter: list[Count] = []


def _prepare() -> None:
    _counter.append(load_counter())


def _work(file: Path, settings: Settings) -> Session | Failed:
    return _outcome(file, _counter[0], settings)


def _outcome(file: Path, count: Count, settings: Settings) -> Session | Failed:
    try:
        return replay_file(file, count, settings)
    except BadRequest as error:
        return Failed(str(file), error.message)


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
