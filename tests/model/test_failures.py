"""What a provider says of waiting, in every form that it comes in."""

import math

import pytest

from sidecar.model.failures import retry_after

NOW = 1_445_412_480_000
"""Wed, 21 Oct 2015 07:28:00 GMT."""


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "7"}, 7.0),
        ({"retry-after": "-7"}, 0.0),
        ({"retry-after": "nan"}, 0.0),
        ({"retry-after": "1e999"}, math.inf),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:09 GMT"}, 9.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:27:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 +99999999999999"}, None),
    ],
)
def test_headers_say_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds
