"""What holds for all tests."""

import signal


def pytest_configure() -> None:
    """Let processes that tests start be interrupted.

    A shell that starts this in the background has it ignore SIGINT, and children inherit that.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
