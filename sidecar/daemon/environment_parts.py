"""Parts of an environment that need clock, variables or disk."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache, partial
from pathlib import Path

from sidecar.config import Config, load
from sidecar.config.layers import Resolved
from sidecar.config.loading import resolve_all
from sidecar.config.reload import CurrentSettings
from sidecar.core.errors import BadRequest
from sidecar.core.parts import JsonObject
from sidecar.daemon.clock_and_ids import read_clock, seconds
from sidecar.model.models import Models
from sidecar.model.stalls import STALL
from sidecar.session.changes.permissions import keeps_in
from sidecar.session.turn.model_access import ModelAccess
from sidecar.session.turn.prefix_gate import ColdGate
from sidecar.workspace.buffers import Buffers
from sidecar.workspace.instructions import Instruction, read_instructions, user_folder
from sidecar.workspace.instructions_watch import InstructionsWatch
from sidecar.workspace.shared_snapshots import SharedSnapshots
from sidecar.workspace.trust import is_trusted
from sidecar.workspace.volatile_facts import (
    GitEnvironment,
    git_environment,
    read_git,
    volatile_context,
)
from sidecar.workspace.workspaces import Workspaces

COUNTED, COUNTED_CHARS = 64, 100_000
"""Newest texts whose tokens are known: a result is counted for its record, then for the view."""


def read_settings(
    options: JsonObject, root: Path | None, variables: Mapping[str, str], trusted: set[Path]
) -> Resolved:
    """With a trusted workspace's, added to `trusted`: that stays so until a restart.

    `root` is resolved. Blocks.
    """

    def trusts(config: Config) -> bool:
        if root and is_trusted(config.data_dir, root, config.workspace_trusted):
            trusted.add(root)
        return root in trusted

    return resolve_all(workspace=root, environment=variables, options=options, trusted=trusts)


def check_options(variables: Mapping[str, str], options: JsonObject) -> str:
    try:
        load(workspace=None, environment=variables, options=options)
    except BadRequest as error:
        return error.message
    return ""


async def access_to(models: Models) -> ModelAccess:
    count = await models.counter()
    known = lru_cache(COUNTED)(count)

    def counted(text: str) -> int:
        return known(text) if len(text) <= COUNTED_CHARS else count(text)

    cold = ColdGate(read_clock)
    return ModelAccess(
        models.model_for, models.info, models.known, counted, cold, models.vocabulary
    )


def workspaces_of(
    settings: CurrentSettings,
    buffers: Buffers,
    variables: Mapping[str, str],
    root: Path | None,
    snapshots: SharedSnapshots | None = None,
) -> Workspaces:
    """`root`: the window's folder."""
    instructions = InstructionsWatch(partial(_instructions, settings, root))
    facts = partial(_facts, git_environment(variables))
    return Workspaces(buffers, facts, variables, instructions, snapshots)


async def _facts(environment: GitEnvironment, cwd: str, trusted: bool, shown: JsonObject) -> str:
    git = await read_git(Path(cwd), trusted, environment)
    day = datetime.fromtimestamp(read_clock() / 1000).astimezone().date()
    return volatile_context(day, git, shown, Path(cwd))


async def _instructions(
    settings: CurrentSettings, root: Path | None, cwd: str, trusted: bool
) -> tuple[Instruction, ...]:
    if not settings.config.instructions:
        return ()
    reject = settings.config.permissions.reject

    def read() -> tuple[Instruction, ...]:
        keeps = keeps_in(cwd, root, reject)
        return read_instructions(Path(cwd), trusted, user_folder(), keeps)

    return await asyncio.to_thread(read)


def paces() -> tuple[float, float]:
    """Seconds between the offline model's pieces, and of a hosted one's silence that fails."""
    return seconds("SIDECAR_OFFLINE_PACE", 0.0), seconds("SIDECAR_MODEL_STALL", STALL)
