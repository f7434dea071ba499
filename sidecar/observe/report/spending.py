"""Sums a session's spending, with and without a cache."""

from decimal import Decimal

from sidecar.observe.report.course import Course


def running(course: Course) -> tuple[list[Decimal | None], list[Decimal | None]]:
    """Returns USD paid and uncached, before the first and after each request.

    Asides count with the request before. Sums after an unknown price are `None`. Omits what others
    paid, except a recorded agent's costs, at list prices.
    """
    beside: dict[int, list[tuple[Decimal | None, Decimal | None]]] = {}
    for aside in course.asides:
        one = (aside.spent.cost, aside.spent.uncached)
        beside.setdefault(aside.after, []).append(one)
    paid: list[Decimal | None] = []
    fresh: list[Decimal | None] = []
    sums: list[Decimal | None] = [Decimal(0), Decimal(0)]
    for number in range(len(course.requests) + 1):
        own = course.requests[number - 1].spent if number else None
        counted = [*beside.get(number, [])]
        if own is not None and (own.own or course.about.recorded_by):
            counted.append((own.cost, own.uncached))
        for pair in counted:
            for place, more in enumerate(pair):
                before = sums[place]
                sums[place] = None if more is None or before is None else before + more
        paid.append(sums[0])
        fresh.append(sums[1])
    return paid, fresh


def dollars(amount: float) -> str:
    if amount == 0:
        return "0"
    if amount >= 1:
        return f"{amount:,.2f}"
    return f"{amount:.4f}".rstrip("0") if amount >= 0.0001 else "under 0.0001"
