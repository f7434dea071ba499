"""No test reaches a real model or the internet: `conftest` refuses it and fails who tries."""

import os
import socket
from contextlib import suppress

import pytest

from tests.conftest import SOUGHT


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "api.anthropic.com", b"example.org"])
async def test_whoever_would_leave_the_machine_is_refused_and_noted(host: str | bytes) -> None:
    with pytest.raises(PermissionError):
        socket.getaddrinfo(host, 443)
    named = host.decode() if isinstance(host, bytes) else host
    # A failure that is passed over is noted all the same.
    with suppress(OSError), socket.socket(family(named)) as one:
        one.connect((named, 443))
    assert str(host) in SOUGHT
    SOUGHT.clear()


def family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def test_this_machine_is_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(("localhost", server.getsockname()[1])).close()


def test_no_process_that_a_test_starts_has_a_key() -> None:
    assert not [name for name in os.environ if name.startswith("ANTHROPIC_")]
