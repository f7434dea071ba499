"""Counts of a view's texts, kept so that who only looks at a session loads no tokenizer.

Found by a hash of the text alone: a count for another text is never taken.
"""

from collections.abc import Sequence

from sidecar.core.prompt.prompt import Static
from sidecar.core.prompt.tokens import Count, counted_in, texts_of_tool
from sidecar.core.text.digest import digest
from sidecar.session.view.message_view import RenderedMessage

KEY, SIZE = 12, 4
"""Bytes of a text's hash and of its count."""
MOST = 20_000
"""Texts kept, the last of a longer view: 320 kB."""


class KeptCounts:
    """Counts as `encode` has packed them."""

    def __init__(self, body: bytes) -> None:
        places = range(0, len(body), KEY + SIZE)
        self._counts = {body[at : at + KEY]: body[at + KEY : at + KEY + SIZE] for at in places}

    def of(self, text: str) -> int | None:
        found = self._counts.get(_key(text))
        return None if found is None else int.from_bytes(found, "big")


def encode(static: Static, seen: Sequence[RenderedMessage], count: Count) -> bytes:
    """Packs raw counts of all texts in a prompt; `count` is asked for static and short ones."""
    kept: dict[bytes, int] = {}
    for one in seen:
        if one.message.status == "open":
            # What still grows is only estimated.
            continue
        raws = iter(one.raw)
        for rendered in one.rendered:
            for block in rendered.blocks:
                texts, rest = counted_in(block)
                # The last is the long one: a call has its tool's name before its input.
                for text in texts[:-1]:
                    rest += kept.setdefault(_key(text), count(text))
                raw = next(raws)
                if texts:
                    kept[_key(texts[-1])] = raw - rest
    for block in static.system:
        for text in counted_in(block)[0]:
            kept[_key(text)] = count(text)
    for tool in static.tools:
        for text in texts_of_tool(tool):
            kept[_key(text)] = count(text)
    packed = bytearray()
    for key, tokens in [*kept.items()][-MOST:]:
        packed += key + tokens.to_bytes(SIZE, "big")
    return bytes(packed)


def _key(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return bytes.fromhex(digest(data).rpartition(":")[2])[:KEY]
