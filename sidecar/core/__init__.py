"""Pure: no I/O, no clock, no randomness, no third-party imports. All that is clever is here."""
