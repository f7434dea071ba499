"""What sessions stand on, joined: under a daemon, or to be read alone."""

import asyncio
import os
import secrets
from datetime import datetime
from functools import partial
from pathlib import Path

from sidecar.config import Config
from sidecar.config.reload import CurrentSettings
from sidecar.core.parts import JsonObject
from sidecar.ground import id_source, read_clock
from sidecar.model.catalogue import KNOWN, lookup
from sidecar.model.models import Models
from sidecar.session.environment import Environment
from sidecar.session.turn.clock import Clock
from sidecar.session.turn.model_access import ModelAccess
from sidecar.session.turn.prefix_gate import ColdGate
from sidecar.store.journal import Store
from sidecar.workspace.buffers import Buffers
from sidecar.workspace.instructions import Instruction, read_instructions, user_folder
from sidecar.workspace.instructions_watch import InstructionsWatch
from sidecar.workspace.shared_snapshots import SharedSnapshots
from sidecar.workspace.volatile_facts import (
    GitEnvironment,
    git_environment,
    read_git,
    volatile_context,
)
from sidecar.workspace.workspaces import Workspaces


async def looking(config: Config, store: Store) -> Environment:
    """For reading sessions: no writes, model requests or watches."""
    models = Models(read_clock, secrets.SystemRandom().random, 0.0)
    settings = CurrentSettings(config)
    return Environment(
        store=store,
        settings=settings,
        clock=Clock(read_clock, id_source(read_clock)),
        models=await access(models),
        workspaces=workspaces(settings, Buffers()),
    )


async def access(models: Models) -> ModelAccess:
    count = await models.counter()
    return ModelAccess(models.model_for, lookup, KNOWN, count, ColdGate(read_clock))


def workspaces(
    settings: CurrentSettings, buffers: Buffers, snapshots: SharedSnapshots | None = None
) -> Workspaces:
    instructions = InstructionsWatch(partial(_instructions, settings))
    facts = partial(_facts, git_environment(os.environ))
    return Workspaces(buffers, facts, os.environ, instructions, snapshots)


async def _facts(environment: GitEnvironment, cwd: str, trusted: bool, shown: JsonObject) -> str:
    git = await read_git(Path(cwd), trusted, environment)
    day = datetime.fromtimestamp(read_clock() / 1000).astimezone().date()
    return volatile_context(day, git, shown, Path(cwd))


async def _instructions(
    settings: CurrentSettings, cwd: str, trusted: bool
) -> tuple[Instruction, ...]:
    if not settings.config.instructions:
        return ()
    return await asyncio.to_thread(read_instructions, Path(cwd), trusted, user_folder())
