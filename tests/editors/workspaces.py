"""The folder that a user's day in an editor is played in."""

from pathlib import Path


def lay_out(parent: Path, *, lines: int) -> Path:
    """Make a folder to work in; `long.txt` has so many lines, to fill a good part of a window."""
    folder = parent / "workspace"
    folder.mkdir()
    (folder / "notes.txt").write_text("alpha\nbeta\ngamma\n")
    (folder / "main.py").write_text('def greet(name):\n    return "Hello, " + name\n')
    (folder / "long.txt").write_text("a line of many words, all of them alike\n" * lines)
    return folder


def lay_trap(folder: Path) -> None:
    """Lay programs called `sidecar` into a folder, which tell of their start."""
    for place in (folder, folder / "bin"):
        place.mkdir(exist_ok=True)
        program = place / "sidecar"
        program.write_text(f"#!/bin/sh\ntouch '{folder / 'ran'}'\n")
        program.chmod(0o755)
