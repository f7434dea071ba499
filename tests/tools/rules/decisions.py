"""What is decided of a call, as a session has it decided."""

import sys
from collections.abc import Callable

from sidecar.core.parts import Json
from sidecar.tools.access import access
from sidecar.tools.builtin_tools import BY_NAME
from sidecar.tools.rules.permission import PermissionDecision, Rules, decide
from sidecar.tools.rules.rules_as_called import as_called
from sidecar.tools.tool_contract import Access, ToolContext

NO_RULES = Rules()


def wanted(tool: str, given: Json, context: ToolContext) -> Access:
    """What a call would do."""
    return access(BY_NAME[tool], given, context)


def call(
    tool: str, given: Json, context: ToolContext, rules: Rules = NO_RULES
) -> PermissionDecision:
    return of(tool, wanted(tool, given, context), context, rules)


def of(tool: str, found: Access, context: ToolContext, rules: Rules) -> PermissionDecision:
    rules = as_called(rules, context.cwd)
    return decide(BY_NAME[tool], found, rules, trusted=context.trusted)


def decided(
    command: str, context: ToolContext, *allow: str, cwd: str = ".", reject: tuple[str, ...] = ()
) -> PermissionDecision:
    found = wanted("shell", {"command": command, "cwd": cwd}, context)
    assert not found.problem
    return of("shell", found, context, Rules(allow, reject))


def functions_entered(work: Callable[[], object]) -> int:
    """Count calls of Python's functions, which other programs do not slow."""
    entered = 0

    def look(_: object, event: str, __: object) -> None:
        nonlocal entered
        entered += event == "call"

    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
    return entered
