"""Tools provided by the client."""

from dataclasses import field, replace

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import Cancelled, SidecarError
from sidecar.core.parts import MEDIA_TYPES, MOST_MEDIA, Json, JsonObject, Media, base64_of
from sidecar.core.text.visible import clipped
from sidecar.tools.tool_contract import ToolAnswer, ToolContext

MOST_SHOWN = 200
"""Characters shown of a wrong answer."""


async def call_client_tool(name: str, given: Json, context: ToolContext) -> ToolAnswer:
    """Failures become error answers. Raises Cancelled."""
    if context.client is None:
        return ToolAnswer(f"The client that provides {name} is not connected.", is_error=True)
    try:
        result = await context.client.call_tool(context.session_id, context.call_id, name, given)
    except Cancelled:
        raise
    except SidecarError as error:
        return ToolAnswer(f"The client could not run {name}: {error.message}", is_error=True)
    return read_answer(name, result)


def read_answer(name: str, result: Json) -> ToolAnswer:
    """Reads `{content, isError?, title?, metadata?, attachments?}`.

    A malformed result becomes an error answer.
    """
    if not isinstance(result, dict):
        return _malformed(name, "an object with `content`", result)
    content = result.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return _malformed(name, "`content` as an array of blocks", content)
    attachments = result.get("attachments")
    read = _Read()
    for block in (*content, *(attachments if isinstance(attachments, list) else ())):
        if not _take(block, read):
            return _malformed(name, "content blocks (text, image, resource, resource_link)", block)
    text = "\n".join(read.texts) or ("" if read.media else "[no output]")
    title, metadata = result.get("title"), result.get("metadata")
    if isinstance(metadata, dict):
        # Marks recorded failures, in which the user may have spoken.
        metadata = {name: value for name, value in metadata.items() if name != "isError"}
    return ToolAnswer(
        # Half of a surrogate pair can stand in JSON, but in no request to a model.
        text.encode("utf-8", "replace").decode("utf-8"),
        is_error=result.get("isError") is True,
        title=title if isinstance(title, str) else "",
        metadata=metadata if isinstance(metadata, dict) else {},
        media=tuple(read.media),
    )


@dataclass(slots=True)
class _Read:
    texts: list[str] = field(default_factory=list)
    media: list[Media] = field(default_factory=list)


def _take(block: Json, read: _Read) -> bool:
    match block:
        case {"type": "text", "text": str(text)}:
            read.texts.append(text)
        case {"type": "image", "data": str(data), "mimeType": str(media_type)}:
            _take_media(Media(media_type, data), read)
        case {"type": "resource", "resource": {"text": str(text)}}:
            read.texts.append(text)
        case {"type": "resource", "resource": dict(resource)}:
            return _take_blob(resource, read)
        case {"type": "resource_link", "uri": str(uri)}:
            read.texts.append(uri)
        case {"type": str(unknown)} if unknown not in ("text", "image", "resource"):
            read.texts.append(f"[a block of type {unknown}, which cannot be shown]")
        case _:
            return False
    return True


def _take_blob(resource: JsonObject, read: _Read) -> bool:
    data, media_type, uri = (resource.get(key) for key in ("blob", "mimeType", "uri"))
    if not isinstance(data, str):
        return False
    name = uri if isinstance(uri, str) else ""
    if isinstance(media_type, str) and media_type.startswith(("image/", "application/pdf")):
        _take_media(Media(media_type, data, name), read)
    else:
        read.texts.append(f"[binary resource {name}, which cannot be shown]")
    return True


def _take_media(media: Media, read: _Read) -> None:
    encoded = base64_of(media.data)
    # For any of these every later request would be refused.
    if media.media_type not in MEDIA_TYPES:
        can = ", ".join(MEDIA_TYPES)
        read.texts.append(f"[{media.media_type[:100]}, which cannot be shown; these can: {can}]")
    elif media.media_type.startswith("image/") and len(media.data) > MOST_MEDIA:
        size = f"{MOST_MEDIA // 1024 // 1024} MiB"
        read.texts.append(f"[{media.media_type} of more than {size}, which cannot be shown]")
    elif encoded is None:
        read.texts.append(f"[{media.media_type} whose data is no base64, which cannot be shown]")
    else:
        read.media.append(replace(media, data=encoded))


def _malformed(name: str, wanted: str, got: Json) -> ToolAnswer:
    shown = clipped(repr(got), MOST_SHOWN)
    return ToolAnswer(
        f"{name} ran, but its client answered wrongly: {wanted} was expected, not {shown}.",
        is_error=True,
    )
