"""`sidecar replay`."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from sidecar.commands.replay.recorded_prices import RECORDED, rates_recorded
from sidecar.commands.replay.replay_tables import (
    show_comparison,
    show_headline,
    show_sessions,
)
from sidecar.commands.replay.vendor_replay import show_vendors, vendor_settings
from sidecar.commands.session_names import whole_id
from sidecar.commands.terminal import put_out, say, terminal, wide_terminal
from sidecar.config import load
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.core.policies import policies
from sidecar.core.prompt.prompt_text import prompt_text
from sidecar.core.prompt.tokens import Count
from sidecar.core.text.visible import visible_json, visible_lines
from sidecar.model.vendor_caches import rules_recorded
from sidecar.model.vocabulary import load_counter
from sidecar.replay.compare import (
    ReplayedSession,
    Settings,
    Subagents,
    replay_file,
    sent_last,
)
from sidecar.replay.headline import Comparison, compared
from sidecar.replay.importers.agent_folders import EXPORT, agent_folders, storages
from sidecar.replay.importers.own_store import STORE_FILE
from sidecar.replay.importers.recognition import SUFFIXES, find_recordings
from sidecar.replay.page import page
from sidecar.replay.prices import CARDS, read_card
from sidecar.replay.summary import as_json
from sidecar.replay.vendors import VendorReplay, vendors_json, vendors_page
from sidecar.session.desk.session_named import PREFIX

WINDOW_LEAST = 16_000
WINDOW_MOST = 10_000_000
MOST_FAILED = 10
"""Files that are named as skipped."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A file that could not be replayed."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `sidecar replay`."""

    paths: tuple[Path, ...]
    policy: str
    window: int
    compare: bool
    prices: str
    as_json: bool
    html: Path | None
    jobs: int
    sent: bool
    vendors: tuple[str, ...] = ()


FileOutcome: TypeAlias = ReplayedSession | Subagents | Failed


def replay(options: Options) -> int:
    """Replays and prints; returns 1 if nothing could be replayed, 2 for bad arguments."""
    try:
        options = with_paths(options)
        settings = settings_of(options)
        files = [file for path in options.paths for file in find_recordings(path)]
    except BadRequest as error:
        return ended(error.message, 2)
    if options.sent:
        return _show_sent(files, settings)
    if options.vendors:
        return _by_vendor(options, files, settings)
    try:
        outcomes = _replayed(list(dict.fromkeys(files)), settings, options.jobs)
    except BrokenProcessPool:
        return ended("a process ended before its work was done: try again with --jobs 1", 1)
    _tell_failed(outcomes)
    sessions = _played(outcomes)
    if not sessions:
        return _nothing(options, outcomes)
    found = compared(sessions, [one for one in outcomes if isinstance(one, Subagents)])
    if options.html is not None:
        made = page(sessions, found, settings)
        if failed := _written(options.html, made):
            return failed
    put_out(lambda: _show(options, settings, sessions, found))
    return 0


def with_paths(options: Options) -> Options:
    """Takes agents' own folders where none is given, and a session of ours by its id.

    Raises BadRequest without any.
    """
    paths = tuple(map(_own, options.paths)) or tuple(agent_folders(Path.home(), os.environ))
    if not paths:
        raise BadRequest(
            "no folder of Claude Code, Codex, pi or opencode is here: give one", "path"
        )
    if not options.paths:
        say(f"looking in {', '.join(map(str, paths))}")
    for storage in dict.fromkeys(found for path in paths for found in storages(path)):
        say(EXPORT.format(path=storage))
    return replace(options, paths=paths)


def _own(path: Path) -> Path:
    if path.exists() or not path.name.startswith(PREFIX) or len(path.parts) != 1 or path.suffix:
        return path
    session = whole_id(path.name)
    config, _ = load(workspace=None, environment=os.environ, options={})
    return config.data_dir / STORE_FILE / session


def _tell_failed(outcomes: Sequence[FileOutcome]) -> None:
    failed = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
    for outcome in failed[:MOST_FAILED]:
        say(f"skipped: {outcome.why}")
    if len(failed) > MOST_FAILED:
        say(f"skipped: {len(failed) - MOST_FAILED} more that could not be replayed")


def _played(outcomes: Sequence[FileOutcome]) -> list[ReplayedSession]:
    return [outcome for outcome in outcomes if isinstance(outcome, ReplayedSession)]


def _nothing(options: Options, outcomes: Sequence[FileOutcome]) -> int:
    given, kinds = ", ".join(map(str, options.paths)), ", ".join(SUFFIXES)
    none = f"there is no recording in {given}; files that end in {kinds} are looked at"
    return ended("nothing there could be replayed" if outcomes else none, 1)


def _written(html: Path, text: str) -> int:
    try:
        html.write_text(text, "utf-8")
    except OSError as error:
        return ended(f"{html} cannot be written: {error.strerror}", 1)
    say(f"written: {html}")
    return 0


def _by_vendor(options: Options, files: Sequence[Path], settings: Settings) -> int:
    replays: list[VendorReplay] = []
    try:
        for model, own in vendor_settings(options.vendors, settings).items():
            outcomes = _replayed(list(dict.fromkeys(files)), own, options.jobs)
            if not replays:
                _tell_failed(outcomes)
            if not (sessions := _played(outcomes)):
                return _nothing(options, outcomes)
            replays.append(VendorReplay(model, own, tuple(sessions)))
    except BadRequest as error:
        return ended(error.message, 2)
    except BrokenProcessPool:
        return ended("a process ended before its work was done: try again with --jobs 1", 1)
    window = settings.window
    html = options.html
    if html is not None and (failed := _written(html, vendors_page(replays, window))):
        return failed
    if options.as_json:
        made = vendors_json(replays, window)
        put_out(lambda: print(visible_json(made, indent=1)))
    else:
        put_out(lambda: show_vendors(wide_terminal(), replays, window))
    return 0


def _show_sent(files: Sequence[Path], settings: Settings) -> int:
    if len(files) != 1:
        return ended(f"--sent shows one recording, and there are {len(files)}", 2)
    try:
        prompt = sent_last(files[0], load_counter(), settings)
    except BadRequest as error:
        return ended(error.message, 1)
    put_out(lambda: print(visible_lines(prompt_text(prompt))))
    return 0


def ended(why: str, code: int) -> int:
    say(f"sidecar replay: {why}")
    return code


def settings_of(options: Options) -> Settings:
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
    if options.jobs < 0:
        raise BadRequest(f"{options.jobs} processes are too few: give 0 for one a core", "jobs")
    missing = [str(path) for path in options.paths if not _is_there(path)]
    if missing:
        raise BadRequest(f"there is no {', '.join(missing)}", "path")
    html = options.html
    if html is not None and (html.is_dir() or not html.absolute().parent.is_dir()):
        raise BadRequest(f"{html} cannot be written: give a file in a folder that exists", "html")
    names = (options.policy, *(name for name in known if name != options.policy))
    return Settings(
        names if options.compare else (options.policy,),
        options.window,
        CARDS["classic"] if options.prices == RECORDED else read_card(options.prices),
        recorded=rules_recorded,
        priced=rates_recorded if options.prices == RECORDED else None,
    )


def _is_there(path: Path) -> bool:
    return path.exists() or any(parent.is_file() for parent in path.parents)


def _show(
    options: Options,
    settings: Settings,
    sessions: Sequence[ReplayedSession],
    found: Comparison,
) -> None:
    if options.as_json:
        made = as_json(sessions, found, settings, options.prices)
        sys.stdout.write(visible_json(made, indent=1) + "\n")
    else:
        console = wide_terminal()
        show_headline(console, sessions, found, settings)
        if len(settings.policies) == 1:
            show_sessions(console, sessions, found, settings)
        show_comparison(console, sessions, settings)


def _replayed(files: Sequence[Path], settings: Settings, jobs: int) -> list[FileOutcome]:
    found: dict[int, FileOutcome] = {}
    with _progress() as progress:
        task = progress.add_task("replaying", total=len(files))
        for number, outcome in _outcomes(files, settings, jobs):
            found[number] = outcome
            progress.advance(task)
    return [found[number] for number in range(len(files))]


def _outcomes(
    files: Sequence[Path], settings: Settings, jobs: int
) -> Iterator[tuple[int, FileOutcome]]:
    workers = min(len(files), jobs or os.cpu_count() or 1)
    if workers <= 1:
        count = load_counter()
        for number, file in enumerate(files):
            yield number, _outcome(file, count, settings)
        return
    # Fork would copy the caller's threads; spawn costs a second and is safe.
    context = multiprocessing.get_context("spawn")
    with _no_modules_of_the_folder():
        pool = ProcessPoolExecutor(workers, context, initializer=_prepare)
        try:
            order = sorted(range(len(files)), key=lambda number: -_size(files[number]))
            with _interrupts_wait():
                waiting = {pool.submit(_work, files[number], settings): number for number in order}
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        finally:
            # An interrupt also cancels waiting work.
            pool.shutdown(cancel_futures=True)


@contextmanager
def _no_modules_of_the_folder() -> Iterator[None]:
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        del os.environ["PYTHONSAFEPATH"]
        if before is not None:
            os.environ["PYTHONSAFEPATH"] = before


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Blocks interrupts in new processes until `_prepare`: imports would print tracebacks."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


_counter: list[Count] = []


def _prepare() -> None:
    # An interrupt ends a worker at once and silently; the parent reports.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    _counter.append(load_counter())


def _work(file: Path, settings: Settings) -> FileOutcome:
    return _outcome(file, _counter[0], settings)


def _outcome(file: Path, count: Count, settings: Settings) -> FileOutcome:
    try:
        return replay_file(file, count, settings)
    except BadRequest as error:
        return Failed(str(file), error.message)


def _progress() -> Progress:
    console = terminal(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
