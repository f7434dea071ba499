"""A prompt's static part: agent prompt, guidance, instructions, learned facts.

Stored, so a restart sends the same bytes.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from msgspec import structs

from sidecar.core.errors import StorageFailed
from sidecar.core.parts import Millis
from sidecar.core.prompt.prompt import Static, ToolSpec
from sidecar.core.prompt.render import RENDERER, Block, Region, TextBlock
from sidecar.session.log.session_log import SessionLog
from sidecar.store.format.view_records import EpochRecord, SystemShape, ToolShape
from sidecar.workspace.instructions import Instruction

AGENT = """\
You are Sidecar, a coding agent that works in the user's workspace through tools.

Do what the user asks, completely, and nothing else. Look before you change: read the code you \
are about to edit and follow its style. Make the smallest change that solves the problem at its \
root. After changing code, run what checks it where you can. When something fails, find out why \
before you try again; never repeat a call that gave the same result.

Say what you did and what you found in a few plain sentences. Name files as path:line. When you \
could not do something, say so and why."""

GUIDANCE = """\
Paths may be absolute or relative to the workspace folder. Call tools that do not depend on each \
other in one step: they run together. Long outputs are cut; the note in them names the id with \
which `recall` gives the rest. Everything that was ever logged can be read again by its id. \
The block in <context> at the end of a user message says how things stand at that moment; it was \
put there by the editor, not typed by the user. A block <instructions-changed> in it is what that \
file of instructions says from now on."""
_INSTRUCTION = re.compile(
    r'<instructions path="([^\n]*)">\n(.*?)\n</instructions>(?=\n\n<instructions path="|\Z)', re.S
)


def build_static(
    model: str,
    tools: Sequence[ToolSpec],
    system: str | None,
    instructions: Sequence[Instruction],
    learned: str = "",
) -> Static:
    """`system` replaces the built-in agent prompt."""
    agent = AGENT if system is None else system
    if any(tool.origin == "builtin" for tool in tools):
        agent = f"{agent}\n\n{GUIDANCE}" if agent.strip() else GUIDANCE
    blocks = [_block(agent, "system")] if agent.strip() else []
    static = Static(model, in_order(tools), tuple(blocks), RENDERER)
    return with_learned(with_instructions(static, instructions), learned)


def in_order(tools: Iterable[ToolSpec]) -> tuple[ToolSpec, ...]:
    return tuple(sorted(tools, key=lambda tool: (tool.origin != "builtin", tool.name)))


def with_instructions(static: Static, instructions: Sequence[Instruction]) -> Static:
    others = [block for block in static.system if block.region != "instructions"]
    if instructions:
        told = "\n\n".join(
            f'<instructions path="{i.path}">\n{i.text}\n</instructions>' for i in instructions
        )
        behind = sum(block.region == "system" for block in others)
        others.insert(behind, _block(told, "instructions"))
    return replace(static, system=tuple(others))


def with_learned(static: Static, told: str) -> Static:
    others = [block for block in static.system if block.region != "learned"]
    if told:
        others.append(_block(told, "learned"))
    return replace(static, system=tuple(others))


def instructions_in(static: Static) -> tuple[Instruction, ...]:
    texts = (
        block.content.text
        for block in static.system
        if block.region == "instructions" and isinstance(block.content, TextBlock)
    )
    return tuple(Instruction(*found) for text in texts for found in _INSTRUCTION.findall(text))


def epoch_record(static: Static, compaction_id: str, cause: str) -> EpochRecord:
    return EpochRecord(
        compaction_id=compaction_id,
        cause=cause,
        model=static.model,
        renderer=static.renderer,
        system=tuple(
            SystemShape(block.content.text, block.region)
            for block in static.system
            if isinstance(block.content, TextBlock)
        ),
        tools=tuple(map(tool_shape, static.tools)),
    )


def static_of(record: EpochRecord) -> Static:
    return Static(
        model=record.model,
        tools=tuple(ToolSpec(**structs.asdict(tool)) for tool in record.tools),
        system=tuple(_block(block.text, block.region) for block in record.system),
        renderer=record.renderer,
    )


def stored_static(log: SessionLog) -> tuple[Static, int]:
    """Returns the present epoch's static part and start. Raises StorageFailed if unreadable."""
    record = log.last_record(EpochRecord)
    if record is None:
        raise StorageFailed(
            "this session's log has lost its beginning; run `sidecar verify`", kind="corrupt"
        )
    return static_of(record), record.at


def bound_since(log: SessionLog) -> Millis:
    """Returns when tools and system text last changed; providers bind thinking to both."""
    since, newest = 0, None
    for record in reversed(log.records):
        if not isinstance(record, EpochRecord):
            continue
        static = (record.tools, record.system)
        if newest is not None and static != newest:
            break
        newest, since = static, record.at
    return since


def tool_shape(tool: ToolSpec) -> ToolShape:
    return ToolShape(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema,
        kind=tool.kind,
        read_only=tool.read_only,
        output_limit=tool.output_limit,
        protected_from_pruning=tool.protected_from_pruning,
        origin=tool.origin,
    )


def _block(text: str, region: Region) -> Block:
    return Block(TextBlock(text), region)
