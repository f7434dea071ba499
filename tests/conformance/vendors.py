"""Every vendor that can be asked, with its fake API and the answers that this gives."""

import json
import re
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from tests.fakes import gemini_api, messages_api
from tests.fakes import streaming_server as streaming
from tests.fakes.cache_simulator import CacheSimulator
from tests.fakes.chat_api import MANNERS, FakeChatApi
from tests.fakes.cloud_apis import AWS, FakeBedrockApi, FakeVertexApi
from tests.fakes.gemini_api import FakeGeminiApi
from tests.fakes.messages_api import FakeMessagesApi
from tests.fakes.prefix_simulator import PrefixSimulator
from tests.fakes.responses_api import FakeResponsesApi
from tests.fakes.scripted_model import SUMMARY

KEY = gemini_api.KEY
_MARK = re.compile(rb',\s*"(?:cache_control|prompt_cache_breakpoint)":\s*\{[^}]*\}')
Call = tuple[str, str, dict[str, Any]]


@dataclass(frozen=True)
class Vendor(ABC):
    """One kind of provider; its models are called `KIND-of-it/model`."""

    kind: str
    model: str
    turns: str
    """The field of a body in which the conversation stands."""
    images: bool = True
    secret: str = ""
    """What of its thinking no other vendor is sent."""

    @property
    def id(self) -> str:
        return f"my-{self.kind}/{self.model}"

    def provider(self, api: Any) -> dict[str, Any]:
        told = {"kind": self.kind, "baseUrl": self.address(api), "apiKey": KEY}
        return {f"my-{self.kind}": told}

    def address(self, api: Any) -> str:
        return str(api.url)

    def account(self, api: Any, folder: Path) -> dict[str, str]:
        """Give the variables that a cloud needs."""
        return {}

    @abstractmethod
    def api(self) -> AbstractContextManager[Any]: ...

    @abstractmethod
    def says(self, words: str, pace: float = 0) -> Any: ...

    @abstractmethod
    def calls(self, *calls: Call, thought: str = "", words: str = "") -> Any:
        """Think and speak, if so told, and call tools."""

    @abstractmethod
    def passing(self) -> Sequence[Any]:
        """Failures that can pass: too many requests, a fault, an answer that breaks off."""

    @abstractmethod
    def too_long(self) -> Any: ...

    @abstractmethod
    def unauthorised(self) -> Any: ...

    @abstractmethod
    def unknown_model(self) -> Any: ...

    def summarises(self, api: Any) -> None:
        """Answer the next request for a summary."""
        api.script(self.says(SUMMARY))

    def conversation(self, asked: Any) -> bytes:
        """The conversation's bytes as they came, without the list's end and cache marks."""
        whole = asked.content.decode()
        begin = re.search(rf'"{self.turns}":\s*', whole)
        assert begin
        _, end = json.JSONDecoder().raw_decode(whole, begin.end())
        return _MARK.sub(b"", whole[begin.end() : end - 1].encode())

    def before_it(self, asked: Any) -> Any:
        """What stands beside the conversation, without cache marks."""
        body = json.loads(_MARK.sub(b"", asked.content))
        return {name: value for name, value in body.items() if name != self.turns}


class MessagesVendor(Vendor):
    """Claude, wherever."""

    def api(self) -> AbstractContextManager[Any]:
        clouds = {"bedrock": FakeBedrockApi, "vertex": FakeVertexApi}
        return clouds.get(self.kind, FakeMessagesApi)()

    def account(self, api: Any, folder: Path) -> dict[str, str]:
        if isinstance(api, FakeVertexApi):
            return api.account(folder)
        return AWS if self.kind == "bedrock" else {}

    def provider(self, api: Any) -> dict[str, Any]:
        told = super().provider(api)
        if self.kind in ("bedrock", "vertex"):
            # Its account is the environment's.
            del told[f"my-{self.kind}"]["apiKey"]
        return told

    def says(self, words: str, pace: float = 0) -> Any:
        return messages_api.text(words, pace=pace)

    def calls(self, *calls: Call, thought: str = "", words: str = "") -> Any:
        made = messages_api.tools(*calls, words=words)
        signature = f"{self.secret}-{calls[0][0]}"
        return messages_api.thinking(thought, signature, made) if thought else made

    def passing(self) -> Sequence[Any]:
        broken, status = messages_api.broken, messages_api.status
        limited = status(429, "rate_limit_error", retry_after="0")
        kind = "overloaded_error"
        return limited, status(503, kind), broken("error_event", after=5), broken("drop", after=5)

    def too_long(self) -> Any:
        words = "prompt is too long: 210000 tokens > 200000 maximum"
        words = "Input is too long for requested model." if self.kind == "bedrock" else words
        return messages_api.status(400, "invalid_request_error", words)

    def unauthorised(self) -> Any:
        code = 403 if self.kind == "bedrock" else 401
        return messages_api.status(code, "authentication_error", "the token is invalid")

    def unknown_model(self) -> Any:
        if self.kind == "bedrock":
            words = "The provided model identifier is invalid."
            return messages_api.status(400, message=words)
        return messages_api.status(404, "not_found_error", f"model: {self.model}")

    def summarises(self, api: Any) -> None:
        """It does by itself."""


class StreamingVendor(Vendor):
    """OpenAI's APIs, and those of servers like them."""

    def api(self) -> AbstractContextManager[Any]:
        made = FakeResponsesApi() if self.kind == "openai" else FakeChatApi(self.kind)
        steps = {"azure": 128, "deepseek": 64, "vllm": 16}
        least = {"azure": 1_024, "deepseek": 64}.get(self.kind, 0)
        made.cache = PrefixSimulator(monotonic, least, step=steps.get(self.kind, 1))
        if self.kind in ("openai", "openrouter"):
            lookback = 20 if self.kind == "openrouter" else 999
            made.cache = CacheSimulator(monotonic, 1_024, lookback=lookback)
        return made

    def address(self, api: Any) -> str:
        return str(api.origin if self.kind == "azure" else api.url)

    def says(self, words: str, pace: float = 0) -> Any:
        return streaming.said(words, pace=pace)

    def calls(self, *calls: Call, thought: str = "", words: str = "") -> Any:
        made = streaming.called(*calls, words=words)
        thinks = self.kind == "openai" or MANNERS[self.kind].thought
        return streaming.thought(thought, made) if thought and thinks else made

    def passing(self) -> Sequence[Any]:
        failing, broken = streaming.failing, streaming.broken
        limited = failing(429, headers={"retry-after": "0"}, code="rate_limit_exceeded")
        return limited, failing(503), broken("told", after=6), broken("drop", after=6)

    def too_long(self) -> Any:
        least = (
            "This model's maximum context length is 131072 tokens. However, you requested 140000"
        )
        words, code = {
            "openai": ("Your input exceeds the context window", "context_length_exceeded"),
            "azure": (least, "context_length_exceeded"),
            "openrouter": (least.replace("model", "endpoint"), 400),
            "ollama": ("prompt too long; exceeded max context length by 45 tokens", None),
            "llama.cpp": ("the request exceeds the available context size, try increasing it", 400),
        }.get(self.kind, (least, None))
        return streaming.failing(400, message=words, code=code)

    def unauthorised(self) -> Any:
        return streaming.failing(401, message="Incorrect API key", code="invalid_api_key")

    def unknown_model(self) -> Any:
        status, words, code = {
            "openrouter": (400, f"{self.model} is not a valid model ID", 400),
            "deepseek": (400, "Model Not Exist", "invalid_request_error"),
            "azure": (404, "The API deployment does not exist.", "DeploymentNotFound"),
            "openai": (404, f"The model `{self.model}` does not exist", "model_not_found"),
        }.get(self.kind, (404, f"model '{self.model}' not found", None))
        return streaming.failing(status, message=words, code=code)

    def conversation(self, asked: Any) -> bytes:
        if self.kind != "openrouter":
            return super().conversation(asked)
        # A marked text is a list of one part, which is the same to it.
        messages = json.loads(super().conversation(asked) + b"]")
        for message in messages:
            match message["content"]:
                case [{"type": "text", "text": text}]:
                    message["content"] = text
        return json.dumps(messages).encode()[:-1]


class GeminiVendor(Vendor):
    def api(self) -> AbstractContextManager[Any]:
        made = FakeGeminiApi()
        made.cache = PrefixSimulator(monotonic, 4_096, step=1)
        return made

    def says(self, words: str, pace: float = 0) -> Any:
        return gemini_api.says(words, pace=pace)

    def calls(self, *calls: Call, thought: str = "", words: str = "") -> Any:
        first, *others = calls
        signature = self.secret + b64encode(first[0].encode()).decode()
        parts = [gemini_api.call(first[1], first[2], first[0], signature)]
        parts += [gemini_api.call(name, given, call_id) for call_id, name, given in others]
        made = gemini_api.calls(*parts, words=words)
        return gemini_api.thinks(thought, made) if thought else made

    def passing(self) -> Sequence[Any]:
        refuses, broken = gemini_api.refuses, gemini_api.broken
        limited = refuses(429, retry_after="0")
        return limited, refuses(503), broken("error_chunk"), broken("drop")

    def too_long(self) -> Any:
        words = "The input token count (9) exceeds the maximum number of tokens allowed (8)."
        return gemini_api.refuses(400, words)

    def unauthorised(self) -> Any:
        info = {"@type": f"{gemini_api.TYPE}.ErrorInfo", "reason": "API_KEY_INVALID"}
        return gemini_api.refuses(400, "API key not valid.", info)

    def unknown_model(self) -> Any:
        words = f"models/{self.model} is not found for API version v1beta"
        return gemini_api.refuses(404, words)


ANTHROPIC = MessagesVendor("anthropic", "claude-sonnet-4-6", "messages", secret="signed-by-claude")
RESPONSES = StreamingVendor("openai", "gpt-6.1-sol", "input", secret="gAAAA0")
VENDORS: tuple[Vendor, ...] = (
    ANTHROPIC,
    MessagesVendor(
        "bedrock", "eu.anthropic.claude-sonnet-4-6-v1:0", "messages", secret="signed-at-bedrock"
    ),
    MessagesVendor("vertex", "claude-sonnet-4-5@20250929", "messages", secret="signed-at-vertex"),
    MessagesVendor("foundry", "claude-opus-4-6", "messages", secret="signed-at-foundry"),
    RESPONSES,
    StreamingVendor("openrouter", "anthropic/claude-sonnet-4.5", "messages"),
    StreamingVendor("deepseek", "deepseek-v4-pro", "messages", images=False),
    StreamingVendor("ollama", "qwen3", "messages"),
    StreamingVendor("llama.cpp", "qwen3", "messages"),
    StreamingVendor("vllm", "qwen3", "messages"),
    StreamingVendor("azure", "gpt-5.2", "messages"),
    StreamingVendor("chat", "any", "messages"),
    GeminiVendor("gemini", "gemini-3.8-flash", "contents", secret="c2lnbmVk"),
)
