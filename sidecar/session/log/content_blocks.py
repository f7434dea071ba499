"""ACP content blocks as parts, and back."""

from collections.abc import Callable

from sidecar.core.errors import BadRequest
from sidecar.core.parts import (
    MEDIA_TYPES,
    FilePart,
    JsonObject,
    Media,
    Part,
    PartId,
    TextPart,
    TextSource,
    base64_of,
)

NewPartId = Callable[[], PartId]


def parts_of(
    blocks: tuple[JsonObject, ...], new_part_id: NewPartId, source: TextSource
) -> tuple[Part, ...]:
    """Converts blocks. Raises BadRequest, naming a block that cannot be sent."""
    parts = tuple(
        _part(block, new_part_id(), source, f"params.prompt[{index}]")
        for index, block in enumerate(blocks)
    )
    blank = all(isinstance(part, TextPart) and not part.text.strip() for part in parts)
    if blank:
        raise BadRequest(
            "the prompt is empty: send at least one block with content", "params.prompt"
        )
    return parts


def _part(block: JsonObject, part_id: PartId, source: TextSource, path: str) -> Part:
    match block:
        case {"type": "text", "text": str(text)}:
            return TextPart(part_id, text, source)
        case {"type": "image", "data": str(data), "mimeType": str(mime)}:
            media = _media(mime, data, path)
            return FilePart(part_id, str(block.get("uri") or ""), media=media)
        case {"type": "resource", "resource": {"uri": str(uri), "text": str(text)}}:
            return FilePart(part_id, uri, text=text)
        case {"type": "resource", "resource": {"uri": str(uri), "blob": str(data), **rest}}:
            kind = str(rest.get("mimeType") or "application/octet-stream")
            return FilePart(part_id, uri, media=_media(kind, data, path))
        case {"type": "resource_link", "uri": str(uri)}:
            return FilePart(part_id, uri, name=str(block.get("name") or ""))
        case _:
            given = block.get("type")
            raise BadRequest(
                f"a content block of type {given!r} with these fields cannot be sent; "
                "use text, image, resource or resource_link",
                path,
            )


def _media(media_type: str, data: str, path: str) -> Media:
    if media_type not in MEDIA_TYPES:
        raise BadRequest(
            f"{media_type} cannot be sent to a model; these can: {', '.join(MEDIA_TYPES)}", path
        )
    encoded = base64_of(data)
    if encoded is None:
        raise BadRequest("the data of this block is no base64, so no model can read it", path)
    return Media(media_type, encoded)


def content_of(part: FilePart) -> JsonObject:
    if part.media is not None and part.media.media_type.startswith("image/"):
        return {"type": "image", "mimeType": part.media.media_type, "data": part.media.data}
    if part.media is not None:
        blob: JsonObject = {
            "uri": part.uri,
            "blob": part.media.data,
            "mimeType": part.media.media_type,
        }
        return {"type": "resource", "resource": blob}
    if part.text is not None:
        return {"type": "resource", "resource": {"uri": part.uri, "text": part.text}}
    return {"type": "resource_link", "uri": part.uri, "name": part.name or part.uri}
