"""Puts tags around texts in prompts; no text can close its tag."""

import re

_FRAME = re.compile(
    r"<(?=\s*/\s*(?:context|selection|(?i:file))\b|\s*/?\s*(?i:instructions)\b|context>)"
)
_BEGIN, _END = "<context>", "</context>"


def in_context(*texts: str, before: str = "") -> str:
    return "\n".join((before.removesuffix(f"\n{_END}") or _BEGIN, *texts, _END))


def within_frame(text: str) -> str:
    r"""Escapes our tags in `text`, which then closes (`<\/file`) and opens none."""
    return _FRAME.sub(r"<\\", text)
