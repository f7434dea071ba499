"""One spelling for each changed file, however calls named it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sidecar.core.ledger.deeds import TouchedFile
from sidecar.core.ledger.units import Unit
from sidecar.core.sights.taken_back import taken_back

_DRIVE = re.compile(r"([A-Za-z]):[\\/]")
_MOUNTED = re.compile(r"/([A-Za-z])/")
"""A drive as a shell on Windows has it."""
SURE = 2
"""Names of a relative path's beginning that tell which folder it is in."""


def changes_of(units: Iterable[Unit], root: str = "") -> list[tuple[Unit, Sequence[TouchedFile]]]:
    """Gives units with the files each changed, in one spelling, without what git took back."""
    units = list(units)
    back = taken_back(units)
    calls = [unit for unit in units if unit.touched]
    told = spellings((path for unit in calls for path in unit.touched), root)
    return [
        (unit, [_spelled(deed, told[deed.path]) for deed in stands])
        for unit in calls
        if (stands := [one for one in unit.changed if (unit.part_id, one.path) not in back])
    ]


def _spelled(deed: TouchedFile, path: str) -> TouchedFile:
    return deed if path == deed.path else replace(deed, path=path)


def spellings(paths: Iterable[str], root: str = "") -> Mapping[str, str]:
    """Spells paths relative to `root` if inside, else absolute, if others tell the folder."""
    once = list(dict.fromkeys(paths))
    on_drives = [path for path in once if _DRIVE.match(path)]
    drives = {path[0].upper() for path in (*on_drives, root) if _DRIVE.match(path)}
    back = 2 * sum("\\" in path for path in on_drives) > len(on_drives)
    above = f"{_plain(root, drives).rstrip('/')}/" if root else ""
    plain = {path: _plain(path, drives) for path in once}
    if not above:
        plain = _in_folders(plain)
    told = {path: whole.removeprefix(above) for path, whole in plain.items()}
    if back:
        told = {
            path: one.replace("/", "\\") if _DRIVE.match(one) else one for path, one in told.items()
        }
    return told


def _plain(path: str, drives: Iterable[str]) -> str:
    if drives:
        mounted = _MOUNTED.match(path)
        if mounted and mounted[1].upper() in drives:
            path = f"{mounted[1].upper()}:{path[2:]}"
        path = path.replace("\\", "/")
        path = path[:1].upper() + path[1:] if _DRIVE.match(path) else path
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    return path.rstrip("/") or path


def _in_folders(plain: Mapping[str, str]) -> dict[str, str]:
    """Puts relative paths below the only folder ending as they begin."""
    relative = {path for path in plain.values() if not _is_absolute(path)}
    if not relative or len(relative) == len(plain):
        return dict(plain)
    places: dict[str, set[str]] = {}
    for path in plain.values():
        place = path if _is_absolute(path) else ""
        while place:
            above, _, name = place.rpartition("/")
            places.setdefault(name, set()).add(place)
            place = above
    found = {path: _placed(path, places) for path in relative}
    return {path: found.get(whole, whole) for path, whole in plain.items()}


def _placed(path: str, places: Mapping[str, Iterable[str]]) -> str:
    names = path.split("/")
    for length in range(len(names), 0, -1):
        if length < min(SURE, len(names)):
            break
        end = f"/{'/'.join(names[:length])}"
        ends = [whole for whole in places.get(names[length - 1], ()) if whole.endswith(end)]
        if ends:
            return "/".join((ends[0], *names[length:])) if len(ends) == 1 else path
    return path


def _is_absolute(path: str) -> bool:
    return path[:1] in "/~" or path[1:2] == ":"
