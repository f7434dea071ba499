"""Whether a window's first message allows a shared daemon."""

import asyncio
from collections.abc import Mapping

from sidecar.config.loading import resolve_all
from sidecar.core.parts import Json, JsonObject
from sidecar.model.endpoint import Endpoint
from sidecar.wire.framing import Arrived, Frame, FrameDecoder
from sidecar.wire.streams import ReadBytes


async def first_message(read: ReadBytes) -> tuple[bytes, JsonObject]:
    """Returns the bytes read, and the settings in the message."""
    decoder, data, frames = FrameDecoder(), bytearray(), list[Frame]()
    while not frames and (more := await read()):
        data += more
        frames = decoder.feed(more)
    value = frames[0].value if frames and isinstance(frames[0], Arrived) else None
    params = _table(_table(value).get("params"))
    if decoder.framing == "lines":
        return bytes(data), _table(_table(params.get("_meta")).get("sidecar"))
    return bytes(data), _table(params.get("initializationOptions"))


async def why_alone(options: JsonObject, variables: Mapping[str, str]) -> str:
    """Empty where the window can share."""
    resolved = await asyncio.to_thread(
        resolve_all, workspace=None, environment=variables, options=options
    )
    config = resolved.config
    usual = Endpoint(config.provider.name, config.provider.base_url, config.provider.api_key)
    named = (Endpoint(one.kind, one.base_url, one.api_key) for one in config.providers)
    one = next((one for one in (usual, *named) if one.ambient), None)
    if one is None:
        return ""
    return f"the provider {one.name} takes its account from a window's variables"


def _table(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}
