"""`sidecar doctor`."""

import asyncio
import os
import platform
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit

from rich.table import Table
from rich.text import Text

from sidecar import __version__
from sidecar.commands.terminal import shown, terminal
from sidecar.commands.upkeep.doctor_sizes import Finding, in_bytes, remotes, sizes
from sidecar.config import Config, load, user_file
from sidecar.config.document import public
from sidecar.config.provider_settings import KINDS, NamedProvider
from sidecar.core.errors import ModelFailed, StorageFailed
from sidecar.core.prompt.pricing import money
from sidecar.core.text.visible import visible
from sidecar.daemon.clock_and_ids import read_clock
from sidecar.daemon.stores import open_store
from sidecar.model.catalogue import lookup
from sidecar.model.suggestions import missing
from sidecar.model.vocabulary import load_counter
from sidecar.store.content.chains import HeldSpace
from sidecar.workspace.snapshots.steady_read import USUAL, Limits

PACKAGES = ("pygls", "lsprotocol", "anthropic", "msgpack", "tiktoken", "zstandard", "platformdirs")
WATCHES = Path("/proc/sys/fs/inotify/max_user_watches")
FEW_WATCHES = 65_536
MOST_FOLDERS = 5
"""Folders whose snapshots are told one by one."""
NEARLY = 0.9
"""Share of the limit, for advice."""

ANSWER = 64
"""Most tokens of an answer that is asked for."""
MARKS = {"ok": ("✓", "green"), "note": ("!", "yellow"), "bad": ("✗", "red")}


def check(ask: str | None = None) -> int:
    """Returns 1 if the daemon cannot work, or the model `ask` does not answer."""
    findings = asyncio.run(_findings(ask))
    table = Table(box=None, show_header=False, pad_edge=False)
    for finding in findings:
        said = map(shown, (finding.subject, finding.found, finding.advice))
        table.add_row(Text(*MARKS[finding.state]), *said)
    terminal().print(table)
    return 1 if any(finding.state == "bad" for finding in findings) else 0


async def _findings(ask: str | None) -> list[Finding]:
    config, problems = load(workspace=None, environment=os.environ, options={})
    wrong = [Finding("note", "configuration", str(problem)) for problem in problems]
    return [
        Finding("ok", "sidecar", f"{__version__}, Python {platform.python_version()}"),
        Finding("ok", "packages", ", ".join(f"{name} {version(name)}" for name in PACKAGES)),
        Finding("ok", "configuration", f"{user_file()}{'' if user_file().exists() else ' (none)'}"),
        *wrong,
        _key(config),
        *_others(config),
        *([await _answer(config, ask)] if ask else ()),
        *await _store(config),
        *remotes(config.data_dir),
        _vocabulary(),
        _tool("ripgrep", "rg", "search works without it, more slowly; install ripgrep"),
        _tool("git", "git", "the model is not told branch and changes; install git"),
        _watches(),
    ]


def _key(config: Config) -> Finding:
    provider = config.provider
    if provider.base_url:
        where = f"{config.model} at {public(provider.base_url)}"
        if provider.api_key and travels_in_the_open(provider.base_url):
            advice = "the key goes over the network for everybody to read: use https"
            return Finding("note", "model", where, advice)
        return Finding("ok", "model", where)
    named = next((p for p in config.providers if config.model.startswith(f"{p.name}/")), None)
    own = (kind for kind in KINDS if kind == provider.name != "anthropic")
    key = provider.api_key
    named = named or next((NamedProvider(kind, kind, api_key=key) for kind in own), None)
    if named is not None:
        lacks = missing(named, how=True)
        return Finding("note" if lacks else "ok", "model", config.model, lacks)
    if provider.api_key:
        info = lookup(config.model)
        cost = "" if info.price is not None else "; its price is unknown, so costs are too"
        return Finding("ok", "model", f"{config.model}, with a key{cost}")
    advice = "set ANTHROPIC_API_KEY for a hosted model; without it, all but the model works"
    return Finding("note", "model", "no API key: the offline model answers", advice)


def _others(config: Config) -> Iterator[Finding]:
    """Finds named providers, and others whose variable has a key."""
    for one in config.providers:
        if one.name == one.kind and not one.api_key:
            continue
        where = f"{one.name}/… by {one.kind}"
        where = f"{where} at {public(one.base_url)}" if one.base_url else where
        lacks = missing(one, how=True)
        open_key = one.api_key and travels_in_the_open(one.base_url)
        if lacks or open_key:
            advice = lacks or "the key goes over the network for everybody to read: use https"
            yield Finding("note", "model", where, advice)
        else:
            yield Finding("ok", "model", where)


async def _answer(config: Config, model_id: str) -> Finding:
    from sidecar.commands.replay.asker import Asker  # noqa: PLC0415 - as few are asked
    from sidecar.model.models import Models  # noqa: PLC0415 - as above

    models = Models(read_clock, lambda: 0.0)
    models.configure(replace(config, retry=replace(config.retry, attempts=1)))
    began = time.monotonic()
    try:
        asker = Asker(models.model_for(model_id), models.info(model_id), ANSWER)
        await asker.ask("Say “ready”.")
    except ModelFailed as error:
        return Finding("bad", "answer", f"{model_id}: {error.message}")
    finally:
        await models.aclose()
    cost = "unknown" if asker.cost is None else f"${money(asker.cost)}"
    took = f"{time.monotonic() - began:.1f} s"
    return Finding("ok", "answer", f"{model_id} answered within {took}; cost: {cost}")


def travels_in_the_open(address: str) -> bool:
    split = urlsplit(address)
    host = split.hostname or ""
    return split.scheme == "http" and host not in ("localhost", "::1") and host[:4] != "127."


async def _store(config: Config) -> list[Finding]:
    try:
        store = await asyncio.to_thread(open_store, config.data_dir)
    except StorageFailed as error:
        return [Finding("bad", "store", str(config.data_dir), error.message)]
    size = f"{config.data_dir}, {in_bytes(store.size())}"
    read_only = store.read_only
    weights = None
    try:
        held = await store.snapshots.held()
        weights = await store.keeping.weigh()
    except StorageFailed as error:
        held, read_only = (), True
        size = f"{size}; {error.message}"
    await store.close()
    told = [
        *(() if weights is None else sizes(weights, config)),
        *snapshots(held, Limits.of(config.snapshots).workspace),
    ]
    if read_only:
        advice = "it can be read but not written: check its owner, or update sidecar"
        return [Finding("bad", "store", size, advice), *told]
    return [Finding("ok", "store", size), *told]


def snapshots(held: Sequence[HeldSpace], limit: int = USUAL.workspace) -> list[Finding]:
    if not held:
        return [Finding("ok", "snapshots", "none yet")]
    folders = "1 folder" if len(held) == 1 else f"{len(held)} folders"
    found = [Finding("ok", "snapshots", f"{in_bytes(sum(h.held for h in held))} of {folders}")]
    for one in sorted(held, key=lambda h: h.held, reverse=True)[:MOST_FOLDERS]:
        since = datetime.fromtimestamp(one.oldest / 1000, UTC).astimezone()
        size = f"{in_bytes(one.held)} in {one.snapshots} snapshots"
        about = f"{visible(os.fsdecode(one.root))}, {size} since {since:%Y-%m-%d}"
        full = one.held > limit * NEARLY
        advice = (
            f"at most {in_bytes(limit)} are kept, the oldest go first: set snapshots.workspace_mib"
            if full
            else ""
        )
        found.append(Finding("note" if full else "ok", "", about, advice))
    return found


def _vocabulary() -> Finding:
    tokens = load_counter()("Hello, world")
    return Finding("ok", "tokenizer", f"packed in; “Hello, world” is {tokens} tokens")


def _tool(name: str, command: str, advice: str) -> Finding:
    path = shutil.which(command)
    return Finding("ok", name, path) if path else Finding("note", name, "not found", advice)


def _watches() -> Finding:
    if not WATCHES.exists():
        return Finding("note", "file watches", "no limit is known on this system")
    limit = int(WATCHES.read_text(encoding="ascii"))
    if limit >= FEW_WATCHES:
        return Finding("ok", "file watches", f"{limit} allowed")
    advice = f"large workspaces need more: sysctl fs.inotify.max_user_watches={FEW_WATCHES * 8}"
    return Finding("note", "file watches", f"{limit} allowed", advice)
