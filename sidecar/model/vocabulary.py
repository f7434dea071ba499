"""Counts tokens for estimates: tiktoken with a packed vocabulary.

To pack: `python -m sidecar.model.vocabulary SOURCE.tiktoken`.
"""

import base64
import sys
import zlib
from collections.abc import Callable
from itertools import accumulate, pairwise
from pathlib import Path

VOCABULARY = "cl100k_base, 1"
"""Names this way to count, for counts that are kept: another if a text may come to another."""
PACKED = Path(__file__).parent / "data" / "cl100k_base.zz"
SLICE = 64_000
"""Characters; a run of a million blanks overflows the tokenizer's stack."""
SAMPLED = 2_000_000
SAMPLES, SAMPLE = 64, 4_000
"""Number and characters of a longer text's samples, evenly spaced."""
CHARS_PER_TOKEN = 2.5
"""Assumed where the tokenizer fails; too many tokens, the safe side."""
PATTERN = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"""
    r"""|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
)


def load_counter() -> Callable[[str], int]:
    """Takes 0.2 s."""
    import tiktoken  # noqa: PLC0415 - not before `initialize` has been answered

    encoding = tiktoken.Encoding(
        "cl100k_packed",
        pat_str=PATTERN,
        mergeable_ranks=unpack(PACKED.read_bytes()),
        special_tokens={},
    )

    # The encoder has its own copy; dropping this one, only for pickling, saves 13 MB.
    encoding._mergeable_ranks = {}  # noqa: SLF001 - see above

    def count_samples(text: str) -> int:
        between = (len(text) - SAMPLE) / (SAMPLES - 1)
        starts = (round(number * between) for number in range(SAMPLES))
        return sum(count(text[start : start + SAMPLE]) for start in starts)

    def count(text: str) -> int:
        if len(text) > SAMPLED:
            return round(count_samples(text) * len(text) / (SAMPLES * SAMPLE))
        return sum(_count(encoding.encode_ordinary, piece) for piece in slices(text))

    return count


def slices(text: str) -> list[str]:
    """Cuts into `SLICE` characters at most, at line ends if possible."""
    pieces = []
    start = 0
    while len(text) - start > SLICE:
        newline = text.rfind("\n", start + SLICE // 2, start + SLICE)
        end = newline + 1 if newline >= 0 else start + SLICE
        pieces.append(text[start:end])
        start = end
    pieces.append(text[start:])
    return pieces


def pack(ranks: dict[bytes, int]) -> bytes:
    """Puts all lengths first, up to a zero."""
    ordered = sorted(ranks, key=lambda token: ranks[token])
    assert [ranks[token] for token in ordered] == list(range(len(ordered)))
    return zlib.compress(bytes(map(len, ordered)) + b"\0" + b"".join(ordered), 9)


def unpack(packed: bytes) -> dict[bytes, int]:
    sizes, _, joined = zlib.decompress(packed).partition(b"\0")
    tokens = [joined[start:end] for start, end in pairwise(accumulate(sizes, initial=0))]
    return dict(zip(tokens, range(len(sizes)), strict=True))


def _count(encode: Callable[[str], list[int]], text: str) -> int:
    # A text that is not ASCII would keep its UTF-8, of which Rust asks, for as long as it lives.
    passing = text if text.isascii() else f"{text} "[:-1]
    try:
        return len(encode(passing))
    except Exception:  # noqa: BLE001 - an estimate must never fail a turn
        return round(len(text) / CHARS_PER_TOKEN)
    except BaseException as error:
        # tiktoken's panics are BaseExceptions; all others are not ours to catch.
        if type(error).__name__ != "PanicException":
            raise
        return round(len(text) / CHARS_PER_TOKEN)


def _read(path: Path) -> dict[bytes, int]:
    lines = path.read_bytes().splitlines()
    return {base64.b64decode(token): int(rank) for token, rank in (x.split() for x in lines)}


if __name__ == "__main__":
    PACKED.write_bytes(pack(_read(Path(sys.argv[1]))))
