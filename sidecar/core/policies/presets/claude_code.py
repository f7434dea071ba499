"""`claude-code`: a full summary near the limit, on the warm prefix.

The last five files read stay; the original reads them anew.
"""

from collections.abc import Set

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import PartId
from sidecar.core.plans.draft import Edits, below, cut_to, draft, full, leave_out
from sidecar.core.plans.guard import untouchable
from sidecar.core.plans.plan import Change, Plan, Situation, Standing, Summary
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.visibility import Cause, Truncated

# Claude Code, third-party readings of services/compact/{autoCompact,compact,microCompact}.ts;
# recorded compactions lie at 155,000 to 167,000 of 200,000 tokens.
OUTPUT_RESERVE = 20_000
BUFFER = 13_000
RESERVE = OUTPUT_RESERVE + BUFFER
PROMPT = """\
Summarise the conversation so far in such detail that the work can go on from the summary alone.
Go through it in order first: what was asked, what you did about it, what was decided, what failed.
Then write these nine sections, and "None" where there is nothing to say:
1. Primary request and intent: all that the user asked for.
2. Key technical concepts: technologies, patterns, frameworks.
3. Files and code sections: files read, changed or created, why each matters, code word for word
where it is needed.
4. Errors and fixes: each error, how it was fixed, and what the user said about it.
5. Problem solving: what is solved, and what is still being looked into.
6. All user messages: every one that is not a tool's result; they tell what the user wants.
7. Pending tasks: what was asked for and is not done.
8. Current work: exactly what was being done just now, with files and code.
9. Optional next step: what follows directly from the newest request, with the words that show it.
Keep what the user ruled out or forbade word for word."""
"""The nine sections of services/compact/prompt.ts, as third parties read them."""
FILES = 5
"""POST_COMPACT_MAX_FILES_TO_RESTORE."""
FILE_TOKENS = 5_000
"""POST_COMPACT_MAX_TOKENS_PER_FILE."""
FILES_SHARE = 4
"""All five take a quarter of the history at most, which matters in small windows only."""
READERS = frozenset({"read", "read_file", "view", "view_file", "open_file"})


@dataclass(frozen=True, slots=True)
class ClaudeCode:
    """Due at the window less 33,000 tokens."""

    name: str = "claude-code"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        return full(standing, below(standing, RESERVE))

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        standing = situation.standing
        at = below(standing, RESERVE)
        spared = untouchable(situation)
        restored = restored_files(situation, spared)
        gone = leave_out(situation.items, spared | restored.keys(), "summarised")
        cut = tuple(change for change in restored.values() if change is not None)
        edits = Edits(gone.changes + cut, gone.retired)
        why = f"all summarised but the newest calls and {len(restored)} files, the trigger is {at}"
        summary = Summary("extension", standing.used, prompt=PROMPT)
        return draft(situation, self.name, cause, edits, why, summary=summary)


def restored_files(situation: Situation, spared: Set[PartId]) -> dict[PartId, Change | None]:
    """Gives reads of the newest five files out of view, with a change if cut."""
    standing = situation.standing
    history = below(standing, RESERVE) - standing.static
    most = min(FILE_TOKENS, history // FILES_SHARE // FILES)
    known: set[str] = set()
    chosen: dict[PartId, Change | None] = {}
    for item in reversed(situation.items):
        unit = item.unit
        if len(chosen) == FILES:
            break
        if unit.tool.lower() not in READERS or unit.failed or unit.argument in known:
            continue
        if not isinstance(item.shown, Truncated | None):
            continue
        known.add(unit.argument)
        if unit.part_id in spared:
            continue
        if item.result <= most:
            chosen[unit.part_id] = None
        elif (
            change := cut_to(item, most, "head", "the file read last, its beginning")
        ) is not None:
            chosen[unit.part_id] = change
    return chosen


POLICY = ClaudeCode()
