"""Says which command adds an extra to this installation: that of whoever installed it."""

import json
import re
import shlex
import sys
import tomllib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

NAME = "sidecard"
"""As registries know us: `sidecar` is somebody else's there."""
_SPEC = re.compile(r"(.+?)(?:\[([^]]*)\])?")


def adding(extra: str, prefix: str = sys.prefix) -> str:
    """Gives a line for a shell, with the extras that are there already."""
    root = Path(prefix)
    try:
        if (receipt := root / "uv-receipt.toml").is_file():
            return _by_uv(tomllib.loads(receipt.read_text("utf-8"))["tool"]["requirements"], extra)
        if (record := root / "pipx_metadata.json").is_file():
            spec = json.loads(record.read_text("utf-8"))["main_package"]["package_or_url"]
            found = _SPEC.fullmatch(spec)
            where, extras = (found[1], found[2] or "") if found else (NAME, "")
            spec = _with(where, extras.split(","), extra)
            return shlex.join(["pipx", "install", "--force", spec])
    except (OSError, ValueError, LookupError, TypeError):
        pass  # Not as we know these files; pip works in any environment.
    installer = [sys.executable, "-m", "pip", "install"]
    if find_spec("pip") is None:
        installer = ["uv", "pip", "install", "--python", sys.executable]
    return shlex.join([*installer, *_source(extra)])


def _by_uv(requirements: list[Mapping[str, Any]], extra: str) -> str:
    command, ours = ["uv", "tool", "install", "--force"], [NAME]
    for one in requirements:
        where = one.get("directory") or one.get("editable") or one.get("path")
        if one["name"] == NAME:
            flag = ["--editable"] if "editable" in one else []
            ours = [*flag, _with(where or NAME, one.get("extras", []), extra)]
        else:
            with_extras = _with(one["name"], one.get("extras", []))
            command += ["--with", where or with_extras + one.get("specifier", "")]
    return shlex.join([*command, *ours])


def _source(extra: str) -> list[str]:
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415

    try:
        told = json.loads(distribution(NAME).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        told = {}
    if not told.get("dir_info", {}).get("editable"):
        return [_with(NAME, [], extra)]
    return ["--editable", _with(unquote(urlsplit(told["url"]).path), [], extra)]


def _with(where: str, extras: list[str], *more: str) -> str:
    named = sorted({one.strip() for one in (*extras, *more)} - {""})
    return f"{where}[{','.join(named)}]" if named else where
