"""A session as JSON: names in camelCase, USD as decimal strings, and nothing left out."""

import json

from sidecar.observe.report.course import Course
from sidecar.observe.report.inspection_json import as_json
from tests.observe.courses import by_region, course


def test_everything_is_told_and_can_be_read_back() -> None:
    given = course(turns=4, steps=3, period=6)
    told = json.loads(json.dumps(as_json(given)))
    assert told.keys() == {"version", *Course.__slots__}
    assert told["version"] == 1
    first, sixth = told["requests"][0], told["requests"][5]
    assert first["regions"] == by_region(given.requests[0].regions)
    assert first["held"] == sum(first["regions"].values())
    assert first["spent"]["cost"] == "0.0125"
    assert first["spent"]["usage"]["cacheRead"] == given.requests[0].spent.usage.cache_read  # type: ignore[union-attr]
    assert first["miss"] is None
    assert sixth["miss"] == {"segment": "tool results", "reason": "Look at the next files."}
    assert told["changes"][0]["leftOut"] == {"dropped": 40, "truncated": 3}
    assert told["changes"][0]["afterwards"] == 9_000
    assert told["meter"]["compactAt"] == 160_000
    assert sum(told["meter"]["regions"].values()) == told["meter"]["used"]
    assert told["messages"] == {"user complete": 4}
    assert told["tools"][0]["inView"] == 900
    assert told["about"]["pricedAs"] == ""
