"""The command line: reads arguments and calls what does the work."""


def main() -> None:
    """Run the command that the arguments name."""
