"""`recall`: read a logged part again."""

from sidecar.core.parts import JsonObject
from sidecar.tools import inputs
from sidecar.tools.tool_contract import ToolAnswer, ToolContext


async def recall(given: JsonObject, context: ToolContext) -> ToolAnswer:
    part_id = inputs.text(given, "id")
    offset, limit = inputs.whole(given, "offset") or 0, inputs.whole(given, "limit", least=1)
    pattern = inputs.optional_text(given, "pattern") or None
    text = await context.recall(part_id, offset, limit, pattern)
    empty = "[no line matches]" if pattern else "[nothing there]"
    return ToolAnswer(text or empty, title=part_id, metadata={"id": part_id})
