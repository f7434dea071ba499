"""`todo`: the model's own todo list."""

from sidecar.core.errors import BadRequest
from sidecar.core.parts import Json, JsonObject
from sidecar.core.text.json_text import kind
from sidecar.tools.inputs import as_object, text
from sidecar.tools.tool_contract import ToolAnswer, ToolContext

MAX_ITEMS = 200
STATUSES = ("pending", "in_progress", "completed")
_MARKS = {"pending": "[ ]", "in_progress": "[~]", "completed": "[x]"}


async def todo(given: JsonObject, context: ToolContext) -> ToolAnswer:  # noqa: ARG001 - every tool takes both
    """`metadata.items`: each `{content, status}`."""
    items = read_items(given)
    done = sum(status == "completed" for _, status in items)
    listed: list[Json] = [{"content": content, "status": status} for content, status in items]
    return ToolAnswer(
        "\n".join(f"{_MARKS[status]} {content}" for content, status in items) or "[empty list]",
        title=f"{done} of {len(items)} done",
        metadata={"items": listed},
    )


def read_items(given: JsonObject) -> tuple[tuple[str, str], ...]:
    """`(content, status)`; raises BadRequest."""
    items = given.get("items")
    if not isinstance(items, list):
        raise BadRequest(f"`items` must be an array, not {kind(items)}.", "input.items")
    if len(items) > MAX_ITEMS:
        raise BadRequest(f"`items` has more than {MAX_ITEMS} items.", "input.items")
    return tuple(_item(item, index) for index, item in enumerate(items))


def shown_items(given: Json) -> tuple[tuple[str, str], ...]:
    items = given.get("items") if isinstance(given, dict) else None
    return tuple(
        (str(item.get("content", "")), str(item.get("status", "pending")))
        for item in (items if isinstance(items, list) else [])
        if isinstance(item, dict)
    )


def _item(item: Json, index: int) -> tuple[str, str]:
    where = f"input.items[{index}]"
    try:
        given = as_object(item)
        content, status = text(given, "content"), text(given, "status")
    except BadRequest as error:
        raise BadRequest(f"Item {index}: {error.message}", where) from error
    if status not in STATUSES:
        raise BadRequest(
            f"Item {index}: `status` must be one of {', '.join(STATUSES)}, not {status!r}.", where
        )
    return content, status
