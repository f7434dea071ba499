"""Sixty turns in a small window: rewrites all along, while everything fails that can."""

from collections.abc import Callable
from typing import Any

from tests.e2e.desk import Desk
from tests.e2e.plain import PlainClient
from tests.fakes.messages_api import Reply, tools

Start = Callable[..., PlainClient]
WINDOW = 60_000
TURNS = 60
GOAL = "Port the parser to the new grammar. Constraint: never touch generated.py."
FAILS = "make: *** [all] Error 2: undefined reference to yy_"


def answer(given: Any) -> str:
    """A long result that is different for each file."""
    path = given["path"]
    lines = (f"{path}:{n}: def handler_{n}(argument): return lookup_{n}" for n in range(160))
    return "\n".join(lines)


class Failing(Desk):
    """A desk whose tool fails now and then, as builds do."""

    def call(self, number: int) -> Reply:
        """One answer with a call; every ninth asks for what fails."""
        self.steps += 1
        name = f"broken_{number}" if number % 9 == 4 else f"file_{self.steps}"
        return tools((f"call{self.steps}", "look", {"path": f"src/{name}.py"}), piece=4_000)


def looked(given: Any) -> str:
    """Give a result, or raise for what is broken."""
    if "broken_" in given["path"]:
        raise ValueError(f"{FAILS}{given['path'][11:-3]}")
    return answer(given)
