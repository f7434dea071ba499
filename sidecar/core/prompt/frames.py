"""Our prompts' tags around a text; no text can close them."""

import re

_FRAME = re.compile(
    r"<(?=\s*/\s*(?:context|selection|(?i:file))\b|\s*/?\s*(?i:instructions-changed)\b|context>)"
)
_BEGIN, _END = "<context>", "</context>"


def in_context(*texts: str, before: str = "") -> str:
    """A context block; `before`: one to add to, or empty."""
    return "\n".join((before.removesuffix(f"\n{_END}") or _BEGIN, *texts, _END))


def within_frame(text: str) -> str:
    r"""A quote that closes no frame (`<\/file`) and opens none of ours."""
    return _FRAME.sub(r"<\\", text)
