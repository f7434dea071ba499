"""`sidecar report`: a session as a private page."""

import os
from pathlib import Path

from sidecar.commands.inspect.session_look import course_of
from sidecar.commands.terminal import refused, shown, terminal, when
from sidecar.config import load
from sidecar.core.errors import SidecarError
from sidecar.daemon.clock_and_ids import read_clock
from sidecar.observe.report.report import report
from sidecar.store.connection.store_files import FILE_MODE, REPORTS, make_folder


def write_report(session: str | None, path: Path | None, *, last: bool, overwrite: bool) -> int:
    console = terminal()
    if last and path is None and session is not None:
        path, session = Path(session), None
    try:
        course = course_of(session, last=last)
        text = report(course, when, read_clock())
        target = _place(path, course.about.id)
        _write(target, text.encode("utf-8", "replace"), overwrite=overwrite or path is None)
    except SidecarError as error:
        return refused(console, error.message)
    except FileExistsError as error:
        return refused(
            console, f"{error.filename} is there already: add --overwrite to replace it."
        )
    except OSError as error:
        return refused(console, f"{error.filename} cannot be written: {error.strerror}.")
    console.print(shown(f"{target}  ({len(text) / 1000:,.0f} kB)"), soft_wrap=True)
    return 0


def _place(path: Path | None, name: str) -> Path:
    if path is None:
        config, _ = load(workspace=None, environment=os.environ, options={})
        path = config.data_dir / REPORTS
        make_folder(path)
    path = path.absolute()
    return path / f"{name}.html" if path.is_dir() else path


def _write(path: Path, data: bytes, *, overwrite: bool) -> None:
    if overwrite:
        path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
