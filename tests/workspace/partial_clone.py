"""A partial clone whose remote says when it is asked."""

import subprocess
from pathlib import Path

NOWHERE = "0123456789abcdef0123456789abcdef01234567"
"""An object that nobody has."""
_ME = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")


def partial_clone(beside: Path, root: Path) -> Path:
    """Clone into `root` without blobs; give the file that lies there once the remote is asked.

    The blob of `a` is missing, and `b`, which is staged, may be `a` renamed.
    """
    origin, asked = beside / "origin", beside / "asked"
    origin.mkdir()
    text = "".join(f"line {n}\n" for n in range(50))
    _git(origin, "init", "-q", "-b", "main")
    (origin / "a").write_text(text)
    _git(origin, "add", ".")
    _git(origin, "commit", "-qm", "one")
    for setting in ("allowFilter", "allowAnySHA1InWant"):
        _git(origin, "config", f"uploadpack.{setting}", "true")
    _git(beside, "clone", "-qn", "--filter=blob:none", f"file://{origin}", str(root))
    said = beside / "upload-pack"
    said.write_text(f'#!/bin/sh\n>{asked}\nexec git-upload-pack "$@"\n')
    said.chmod(0o755)
    _git(root, "config", "remote.origin.uploadpack", str(said))
    (root / "b").write_text(text + "more\n")
    _git(root, "add", "b")
    return asked


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *_ME, *arguments], cwd=folder, check=True, capture_output=True)
