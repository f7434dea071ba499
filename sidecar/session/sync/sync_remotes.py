"""Which place a remote's name or address means; what could run a program is refused."""

import asyncio
import os
import re
import stat
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from socket import gethostname, inet_aton
from urllib.parse import urlsplit, urlunsplit

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.core.text.digest import TAG, digest
from sidecar.workspace.files import read_text
from sidecar.workspace.variables import for_git, program
from sidecar.workspace.volatile_facts import git_environment, said

USUAL = "origin"
HERE = ("localhost", "ip6-localhost", "ip6-loopback")
"""Names of this machine for ssh, beside its own."""
SCHEMES = ("https", "http", "ssh", "git", "file")
LOOKING = 5.0
"""Seconds for git to read a remote's address."""
PATH = "params.remote"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/-]{0,99}")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://.+", re.DOTALL)
_HELPER = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.-]*::")
_OF_SSH = re.compile(r"(?!-)(?:[A-Za-z0-9_.-]+@)?[A-Za-z0-9][A-Za-z0-9_.-]*:(?!:).+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Remote:
    """A remote's address for git, as people see it (no password), and the name of its files."""

    address: str
    shown: str
    key: str


async def remote_for(
    given: str | None, usual: str, folder: str, trusted: bool, variables: Mapping[str, str]
) -> Remote:
    """Finds what is `given`, else `usual` (a setting), else the project's `origin`.

    Raises BadRequest for no such remote, one that git might run, or one that only the folder's
    configuration names, where that is untrusted or leads to this disk.
    """
    name = given or usual or USUAL
    found = address_of(name, Path(folder))
    if found is not None:
        return found
    if not trusted:
        raise BadRequest(
            f"give the remote's address or path: {folder} is not trusted, so its configuration is "
            "not asked what a name means",
            PATH,
        )
    if not _NAME.fullmatch(name):
        raise _refused(name)
    url = await _configured(name, folder, variables)
    # Only ls-remote, fetch and push see it, never what else the project's configuration says.
    found = address_of(url, Path(folder)) if url else None
    if found is None:
        raise BadRequest(
            f"{folder} has no git remote {name!r:.80} with an address that can be used: give an "
            "address or the path of a repository",
            PATH,
        )
    if _is_here(found.address):
        raise BadRequest(
            f"{folder} says that {name!r} is a repository on this disk, {found.shown}, whose hooks "
            "and settings would run programs: name it by its path, here or as `sync.remote`",
            PATH,
        )
    return found


def _is_here(address: str) -> bool:
    host = address.partition(":")[0].rpartition("@")[2]
    if found := _SCHEME.fullmatch(address):
        host = (urlsplit(address).hostname or "") if found[1].lower() == "ssh" else ""
    return address.startswith(("/", "file:")) or _is_this_machine(host.lower().rstrip("."))


def _is_this_machine(host: str) -> bool:
    if host in (*HERE, gethostname().lower()) or host.endswith(".localhost"):
        return True
    try:
        # ssh takes `127.1` and `0` for addresses, too.
        found = ip_address(host if ":" in host else inet_aton(host))
    except (OSError, ValueError):
        return False
    mapped = getattr(found, "ipv4_mapped", None) or found
    return mapped.is_loopback or mapped.is_unspecified


def address_of(text: str, folder: Path) -> Remote | None:
    """Reads an address or path; `None` for what may be a name. Raises BadRequest."""
    if text.startswith("-") or not text.isprintable() or len(text) > 2000 or _HELPER.match(text):
        raise _refused(text)
    if found := _SCHEME.fullmatch(text):
        if found[1].lower() not in SCHEMES or "://-" in text:
            raise _refused(text)
        try:
            return _remote(text)
        except ValueError as error:
            raise _refused(text) from error
    if text.startswith(("/", "./", "../", "~/")) or text in (".", ".."):
        path = os.path.normpath(folder / os.path.expanduser(text))
        return _remote(path)
    return _remote(text) if _OF_SSH.fullmatch(text) else None


async def project_in(folder: str, variables: Mapping[str, str]) -> str:
    """Names the folder's project by its own `origin`; "" without one.

    Another repository's settings, to which `.git` may lead, say nothing of this folder.
    """
    settings = await asyncio.to_thread(_own_settings, Path(folder))
    if settings is None:
        return ""
    try:
        url = await _configured(USUAL, folder, variables, settings)
        found = address_of(url, Path(folder))
    except BadRequest:
        return ""
    return "" if found is None else project_of(found.address)


def project_of(address: str) -> str:
    """Names a repository by host and path, or by path: the same for ssh and https, no login."""
    if found := _SCHEME.fullmatch(address):
        parts = urlsplit(address)
        host, path = parts.netloc.rpartition("@")[2].partition(":")[0], parts.path
        if found[1].lower() == "file":
            host = ""
    elif _OF_SSH.fullmatch(address):
        login, _, path = address.partition(":")
        host = login.rpartition("@")[2]
    else:
        host, path = "", address
    short = path.rstrip("/").removesuffix(".git").rstrip("/")
    return f"{host.lower()}/{short.lstrip('/')}" if host else short


def _remote(address: str) -> Remote:
    return Remote(address, _shown(address), digest(address.encode()).removeprefix(TAG)[:32])


def _shown(address: str) -> str:
    if "://" not in address:
        return address
    parts = urlsplit(address)
    login, at, host = parts.netloc.rpartition("@")
    name = login.partition(":")[0] if parts.scheme in ("ssh", "git+ssh") else ""
    return urlunsplit(parts._replace(netloc=f"{name}{at if name else ''}{host}"))


def _refused(text: str) -> BadRequest:
    return BadRequest(
        f"{text!r:.80} is no remote that is used here: give the name of a git remote, a path, or "
        f"an address ({', '.join(SCHEMES)}, or host:path)",
        PATH,
    )


def _own_settings(root: Path) -> Path | None:
    """Finds git's settings of a root, or of the repository that knows it as a worktree."""
    git = root / ".git"
    try:
        if stat.S_ISDIR(git.lstat().st_mode):
            found = None if os.path.lexists(git / "commondir") else git / "config"
        else:
            # Each names the other by a whole path, or by one from where it stands itself.
            own = _led(root, read_text(git).removeprefix("gitdir: "))
            # What an archive brings is not known there.
            known = _led(own, read_text(own / "gitdir")) == Path(os.path.realpath(root), ".git")
            found = own.parents[1] / "config" if known and own.parent.name == "worktrees" else None
        is_own = found is not None and stat.S_ISREG(found.lstat().st_mode)
    except (OSError, IndexError, BadRequest):
        return None
    return found if is_own else None


def _led(folder: Path, text: str) -> Path:
    return Path(os.path.realpath(folder / text.strip()))


async def _configured(
    name: str, folder: str, variables: Mapping[str, str], settings: Path | None = None
) -> str:
    """Gives the address in the project's configuration, or in the file `settings`; "" without.

    Raises BadRequest.
    """
    git = program("git", variables)
    if git is None:
        raise BadRequest("git is not installed, or not in PATH", PATH)
    where = () if settings is None else ("--file", str(settings))
    command = (git, "config", *where, "--no-includes", "--get", f"remote.{name}.url")
    url = await said(command, Path(folder), for_git(git_environment(variables)), LOOKING)
    if url is None:
        raise BadRequest(f"git could not be asked for {name!r:.80} in {folder}", PATH)
    return url.decode("utf-8", "replace").strip()
