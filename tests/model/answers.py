"""What a model answers, as a whole."""

from sidecar.core.conversation.fold import Draft, fold
from sidecar.core.conversation.stream import BlockStarted
from sidecar.core.parts import PartId
from sidecar.core.prompt.prompt import ModelRequest
from sidecar.model.offline.offline_model import OfflineModel


async def answer(model: OfflineModel, request: ModelRequest) -> Draft:
    draft, number = Draft(), 0
    async for event in model.stream(request):
        number += isinstance(event, BlockStarted)
        draft = fold(draft, event, PartId(f"p{number}"))
    return draft
