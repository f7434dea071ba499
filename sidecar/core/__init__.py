"""Pure code: no I/O, no clock, no randomness, no third-party imports."""
