"""What tests reached, as a table: `pytest tests/faults tests/load tests/fuzz --report` shows it."""

from dataclasses import dataclass, field


@dataclass
class Figures:
    """Rows of what was measured, in the order of their coming."""

    rows: list[tuple[str, str, str]] = field(default_factory=list)

    def add(self, what: str, reached: object, goal: object = "") -> None:
        """Add a row: what, how far it got, and what it had to reach."""
        self.rows.append((what, str(reached), str(goal)))

    def lines(self) -> list[str]:
        """Give the table, a line each."""
        rows = [("what", "reached", "goal"), *self.rows]
        widths = [max(len(row[at]) for row in rows) for at in range(2)]
        return [
            f"{what:<{widths[0]}}  {reached:>{widths[1]}}  {goal}".rstrip()
            for what, reached, goal in rows
        ]
