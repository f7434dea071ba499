"""The tags that our prompts set around a text, and how it is kept within."""

import re

_FRAME = re.compile(
    r"<(?=\s*/\s*(?:context|selection|(?i:file))\b|\s*/?\s*(?i:instructions-changed)\b|context>)"
)
_BEGIN, _END = "<context>", "</context>"


def in_context(*texts: str, before: str = "") -> str:
    """A context block; `before`: one that they are added to, or empty."""
    return "\n".join((before.removesuffix(f"\n{_END}") or _BEGIN, *texts, _END))


def within_frame(text: str) -> str:
    r"""A quote that ends no frame (`<\/file`) and begins none of the daemon's own."""
    return _FRAME.sub(r"<\\", text)
