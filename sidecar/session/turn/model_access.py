"""Models and prices."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from math import ceil

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Usage
from sidecar.core.prompt.pricing import ModelInfo, money, price
from sidecar.core.prompt.prompt import ModelRequest
from sidecar.core.prompt.tokens import Count
from sidecar.model.contract import Model
from sidecar.session.turn.prefix_gate import ColdGate, static_key
from sidecar.session.view.model_view import ModelView


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """A daemon's models and catalogue entries by id; `known` tells what each id lacks.

    `count` estimates tokens, to be multiplied by `token_factor`. `cold` holds back requests with
    the same cold prefix. `vocabulary` names how `count` counts; without a name no count is kept.
    """

    find: Callable[[str], Model]
    info: Callable[[str], ModelInfo]
    known: Mapping[str, str]
    count: Count
    cold: ColdGate
    vocabulary: str = ""

    def tokens(self, model: str, text: str) -> int:
        return ceil(self.count(text) * self.info(model).token_factor)

    def cost(self, model: str, usage: Usage) -> str | None:
        """USD; `None` if the price is unknown."""
        spent = price(self.info(model), usage)
        return None if spent is None else money(spent)

    def wait_if_cold(
        self, view: ModelView, request: ModelRequest
    ) -> AbstractAsyncContextManager[Callable[[], None]]:
        """Encloses a request as `ColdGate.request`, if writing its prefix costs."""
        mark = next((mark for mark in request.prompt.breakpoints if mark.message is None), None)
        rules = self.info(request.model).cache
        if mark is None or not rules.writes_cost or view.static_tokens < rules.minimum:
            return nullcontext(lambda: None)
        return self.cold.request(static_key(view.static), rules.lives(mark.ttl))
