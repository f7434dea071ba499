"""Sessions' courses that never happened, to draw: of any length, with any words in every text."""

from collections.abc import Iterable
from decimal import Decimal

from sidecar.core.parts import Usage
from sidecar.core.prompt.budget import REGIONS, budget
from sidecar.core.prompt.meter import CacheState, Costs, Size, measure
from sidecar.observe.report.course import (
    About,
    Aside,
    ContextPiece,
    Course,
    CourseChange,
    CourseCheckpoint,
    CourseFile,
    CourseNote,
    CourseRequest,
    CourseTurn,
    CutResult,
    Spent,
    ToolUse,
)

NOW = 1_700_000_000_000
MINUTE = 60_000
WINDOW, ANSWER = 200_000, 8_000
LIMIT = WINDOW - ANSWER
NASTY = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp;</title></style>]]>--> ünï ✓"
STATIC = {"system": 2_000, "tools": 3_000, "instructions": 500, "learned": 500}


def regions_at(number: int, period: int) -> tuple[int, ...]:
    """What a request held, some time after the last rewrite."""
    since = number % period
    grown = {"user": 90, "assistant": 300, "reasoning": 120, "toolResults": 1_100, "context": 25}
    noted = {"summary": 800, "ledger": 600} if number >= period else {}
    held = {**STATIC, **noted, **{name: each * (since + 1) for name, each in grown.items()}}
    return tuple(held.get(region, 0) for region in REGIONS)


def by_region(tokens: Iterable[int]) -> dict[str, int]:
    """Tokens by what they are spent on; a course has them in one order for all requests."""
    return dict(zip(REGIONS, tokens, strict=True))


def request(number: int, turn: int, period: int, words: str) -> CourseRequest:
    """A request that reads what the last one wrote, unless there was a rewrite before it."""
    regions = regions_at(number, period)
    prompt = sum(regions)
    read = 0 if number % period == 0 else prompt - 1_600
    usage = Usage(20, read, prompt - read - 20, 0, 300, 100, 1)
    spent = Spent(usage, Decimal("0.0125"), Decimal("0.0875"))
    miss = ("tool results", words) if number % period == 5 else None
    at, held = NOW + number * MINUTE, sum(regions)
    return CourseRequest(number + 1, turn, at, words, regions, spent, miss, True, held)


def change(number: int, after: int, turn: int, words: str) -> CourseChange:
    """A rewrite."""
    return CourseChange(
        *(f"cmp_{number}", number, after, turn, NOW + after * MINUTE, "rewrite", "budget", words),
        *(words, 150_000, 9_000, "0.01", (("dropped", 40), ("truncated", 3)), 2),
        *(f"model, 0.02 USD {words}", True, False),
    )


def course(
    turns: int = 6, steps: int = 3, period: int = 10, words: str = "Look at the next files."
) -> Course:
    """A session of so many turns, each of so many requests, with a rewrite now and then."""
    count = turns * steps
    requests = tuple(request(n, n // steps + 1, period, words) for n in range(count))
    rewritten = range(period, count, period)
    changes = tuple(change(n, at, at // steps + 1, words) for n, at in enumerate(rewritten, 1))
    now = regions_at(count, period)
    size = Size(sum(now), dict(zip(REGIONS, now, strict=True)), "exact", words)
    meter = measure(
        session_id="ses_1",
        revision=9,
        room=budget(WINDOW, ANSWER),
        compact_at=160_000,
        size=size,
        turn_sizes=[one.held for one in requests],
        burn_rate=None,
        cache=CacheState(True, None, 0.9),
        cost=Costs(str(Decimal("0.0125") * count + Decimal("0.02")), None, None, None),
    )
    aside = Spent(Usage(10, 5_000, 100, 0, 700, 0, 1), Decimal("0.02"), Decimal("0.05"))
    lines = tuple(
        CourseTurn(
            *(n + 1, f"turn_{n}", NOW + n * steps * MINUTE, words, steps, 2, 1, 40_000),
            *(requests[n * steps].spent.usage, Decimal("0.03"), words, 0, n != 1),  # type: ignore[union-attr]
        )
        for n in range(turns)
    )
    files = tuple(
        CourseFile(f"{words}/{n}.py", "modified", "user" if n % 2 else "tool") for n in range(15)
    )
    points = tuple(
        CourseCheckpoint(
            n + 1,
            f"cp_{n}",
            ("turn", "step", "restore")[n % 3],
            n // 3 + 1,
            NOW + n * MINUTE,
            words,
            files if n % 3 and n < 12 else (),
            n != 4,
        )
        for n in range(turns * 2)
    )
    return Course(
        About("ses_1", words, words, words, words, NOW, NOW + 9, 9, words, "", ""),
        meter,
        LIMIT,
        requests,
        (Aside(min(period, count), NOW, words, words, aside),),
        changes,
        lines,
        tuple(
            ToolUse(f"{words} {n}", 40 - n, n, 90_000 // (n + 1), 900, n, 10 * n) for n in range(15)
        ),
        points,
        tuple(
            ContextPiece(f"part_{n}", "toolResults", words, n, "verbatim", True, 1, f"part_{n}")
            for n in range(min(300, count))
        ),
        (CutResult("part_1", words, words, 100, 90_000),),
        (CourseNote("part_2", "ledger", 600, f"{words}\n{words}"),),
        (("user complete", turns),),
        (("Text", count),),
        (words,) if words == NASTY else (),
    )
