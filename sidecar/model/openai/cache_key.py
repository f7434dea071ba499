"""Names a prompt's cache, where its requests meet."""

from sidecar.core.parts import Json
from sidecar.core.prompt.prompt import Prompt
from sidecar.core.prompt.render import TextBlock
from sidecar.core.text.digest import digest
from sidecar.model.bodies.body_json import json_bytes, sendable_json

DIGITS = 32


def static_key(prompt: Prompt) -> str:
    """Hashes what stands before the history; at most 64 characters, as OpenAI demands."""
    said: list[Json] = [b.content.text for b in prompt.system if isinstance(b.content, TextBlock)]
    tools: list[Json] = [[tool.name, tool.description, tool.input_schema] for tool in prompt.tools]
    whole = sendable_json({"system": said, "tools": tools})
    return f"sidecar-{digest(json_bytes(whole))[-DIGITS:]}"
