"""A result's tokens are counted once, for the record and the view."""

from typing import cast

from sidecar.core.prompt.tokens import Count
from sidecar.daemon.environment_parts import COUNTED, COUNTED_CHARS, access_to
from sidecar.model.models import Models


class Counting:
    """Models that note what is counted."""

    def __init__(self) -> None:
        self.counted: list[str] = []

    known = ()
    vocabulary = "another"

    def model_for(self, _: str) -> None: ...

    def info(self, _: str) -> None: ...

    async def counter(self) -> Count:
        return self.count

    def count(self, text: str) -> int:
        self.counted.append(text)
        return len(text)


async def test_a_new_text_is_counted_once_and_few_are_kept() -> None:
    models = Counting()
    count = (await access_to(cast("Models", models))).count
    assert [count("one result") for _ in range(3)] == [10] * 3
    assert models.counted == ["one result"]
    large = "x" * (COUNTED_CHARS + 1)
    assert count(large) == count(large) == len(large)
    assert models.counted == ["one result", large, large]
    for number in range(COUNTED):
        count(f"another {number}")
    count("one result")
    assert models.counted.count("one result") == 2
