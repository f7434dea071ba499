"""Claude at Bedrock and Vertex on loopback: their paths, accounts and frames around the API's body.

Bedrock's answers are event streams of AWS; its signatures are made again from what came.
Source: AWS, "InvokeModelWithResponseStream", "Signature Version 4", "Event stream encoding";
Anthropic, "Claude on Amazon Bedrock" and "Claude on Vertex AI", read 2026-11.
"""

import json
import re
import struct
from base64 import b64encode
from binascii import crc32
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from tests.fakes.loopback import Loopback
from tests.fakes.messages_api import FakeMessagesApi, Reply, status
from tests.fakes.validation import Body

REGION = "eu-west-1"
PROJECT = "project"
AWS = {
    "AWS_ACCESS_KEY_ID": "AKIDOFTHETEST",
    "AWS_SECRET_ACCESS_KEY": "the+secret/of/the/test",
    "AWS_SESSION_TOKEN": "the-token-of-the-test",
    "AWS_REGION": REGION,
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": "/nowhere",
    "AWS_SHARED_CREDENTIALS_FILE": "/nowhere",
}
"""The account's variables."""
_SIGNED = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(\w+)/(\d{8})/([\w-]+)/bedrock/aws4_request, "
    r"SignedHeaders=([\w;-]+), Signature=[0-9a-f]{64}"
)
_BEDROCK_PATH = re.compile(r"/model/([^/]+)/invoke(-with-response-stream)?")
_BEDROCK_ID = re.compile(
    r"(arn:aws:bedrock:[\w-]+:\d*:[\w-]+/)?(([a-z-]+\.)?anthropic\.claude-[\w.-]+(:\d+)?|\w+)"
)
_VERTEX_PATH = re.compile(
    r"/v1/projects/([\w-]+)/locations/([\w-]+)/publishers/anthropic/models/(claude-[\w.@-]+):"
    r"(raw|streamRaw)Predict"
)
WORDS = {
    400: "ValidationException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    429: "ThrottlingException",
    503: "ServiceUnavailableException",
}


def event_frame(headers: dict[str, str], payload: bytes) -> bytes:
    """Give a message of AWS's event stream."""
    told = b"".join(
        struct.pack(f"!B{len(name)}sBH{len(value)}s", len(name), name.encode(), 7, len(value),
                    value.encode())
        for name, value in headers.items()
    )  # fmt: skip
    prelude = struct.pack("!II", len(told) + len(payload) + 16, len(told))
    begun = prelude + struct.pack("!I", crc32(prelude)) + told + payload
    return begun + struct.pack("!I", crc32(begun))


class FakeBedrockApi(FakeMessagesApi):
    """Has all models in one region, for one account."""

    content_type = "application/vnd.amazon.eventstream"

    def opened(self, path: str, headers: dict[str, str], content: bytes) -> Body | Reply:
        found = _BEDROCK_PATH.fullmatch(path)
        if not found:
            return status(404, message=f"UnknownOperationException: {path}")
        if reason := self._unsigned(path, headers, content):
            return status(403, message=reason)
        body: Body = json.loads(content)
        model = unquote(found[1])
        if not _BEDROCK_ID.fullmatch(model):
            return status(400, message="The provided model identifier is invalid.")
        if body.pop("anthropic_version", None) != "bedrock-2023-05-31":
            return status(400, message="anthropic_version: unsupported")
        extra = {"model", "stream"} & set(body)
        if extra:
            return status(400, message=f"{sorted(extra)}: Extra inputs are not permitted")
        return {**body, "model": model, **({"stream": True} if found[2] else {})}

    def _unsigned(self, path: str, headers: dict[str, str], content: bytes) -> str:
        given = headers.get("authorization", "")
        if given == f"Bearer {AWS['AWS_SESSION_TOKEN']}":
            return ""
        found = _SIGNED.fullmatch(given)
        if not found or found[1] != AWS["AWS_ACCESS_KEY_ID"]:
            return "The security token included in the request is invalid."
        if found[3] != REGION:
            return f"Credential should be scoped to a valid region: {found[3]}"
        names = found[4].split(";")
        if not {"host", "x-amz-date", "x-amz-security-token"} <= {*names}:
            return f"not signed: {names}"
        signed = {name: headers[name] for name in names}
        made = AWSRequest("POST", f"{self.origin}{path}", headers=signed, data=content)
        made.context["timestamp"] = headers["x-amz-date"]
        key = Credentials(AWS["AWS_ACCESS_KEY_ID"], AWS["AWS_SECRET_ACCESS_KEY"])
        auth = SigV4Auth(key, "bedrock", REGION)
        signature = auth.signature(auth.string_to_sign(made, auth.canonical_request(made)), made)
        if not given.endswith(f"Signature={signature}"):
            return "The request signature we calculated does not match the signature you provided."
        return ""

    def frame(self, kind: str, data: Body) -> bytes:
        metrics = {"inputTokenCount": 1, "outputTokenCount": 1}
        more = {"amazon-bedrock-invocationMetrics": metrics} if kind == "message_stop" else {}
        event = json.dumps({"type": kind, **data, **more}).encode()
        headers = {
            ":event-type": "chunk",
            ":content-type": "application/json",
            ":message-type": "event",
        }
        chunk = {"bytes": b64encode(event).decode(), "p": "abcdefghij"}
        return event_frame(headers, json.dumps(chunk).encode())

    def frame_of_error(self, reply: Reply) -> bytes:
        kinds = {"overloaded_error": "throttlingException", "api_error": "internalServerException"}
        headers = {
            ":exception-type": kinds[reply.error],
            ":content-type": "application/json",
            ":message-type": "exception",
        }
        return event_frame(headers, b'{"message": "mid-stream"}')

    def error(self, reply: Reply) -> tuple[Any, dict[str, str]]:
        word = {"x-amzn-errortype": WORDS.get(reply.code, "InternalServerException")}
        return {"message": reply.message}, {**word, **reply.headers}


class FakeVertexApi(FakeMessagesApi):
    """Has all models in one region and project; gives tokens to one service account."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.tokens = 0
        self._giver = Loopback(_token_giver(self))

    @property
    def url(self) -> str:
        return f"{self.origin}/v1"

    def account(self, folder: Path) -> dict[str, str]:
        """Write the account's file; gives its variables."""
        key = generate_private_key(public_exponent=65537, key_size=2048)
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        told = {
            "type": "service_account", "project_id": PROJECT, "private_key_id": "1",
            "private_key": pem, "client_email": "test@project.iam.gserviceaccount.com",
            "client_id": "1", "token_uri": f"{self._giver.origin}/token",
        }  # fmt: skip
        file = folder / "service-account.json"
        file.write_text(json.dumps(told))
        return {
            "GOOGLE_APPLICATION_CREDENTIALS": str(file),
            "ANTHROPIC_VERTEX_PROJECT_ID": PROJECT,
            "CLOUD_ML_REGION": REGION,
        }

    def __enter__(self) -> "FakeVertexApi":
        self._giver.__enter__()
        return super().__enter__()

    def __exit__(self, *given: object) -> None:
        super().__exit__(*given)
        self._giver.__exit__(*given)

    def opened(self, path: str, headers: dict[str, str], content: bytes) -> Body | Reply:
        if headers.get("authorization") != "Bearer ya29.token":
            return status(401, message="Request had invalid authentication credentials.")
        found = _VERTEX_PATH.fullmatch(unquote(path))
        if not found or found[1] != PROJECT or found[2] != REGION:
            return status(404, message=f"Publisher Model `{path}` was not found")
        body: Body = json.loads(content)
        if body.pop("anthropic_version", None) not in ("2026-10-21", "vertex-2023-10-16"):
            return status(400, message="anthropic_version: unsupported")
        if "model" in body:
            return status(400, message="model: Extra inputs are not permitted")
        if (found[4] == "streamRaw") != (body.get("stream") is True):
            return status(400, message="stream: not as the path says")
        return {**body, "model": found[3]}

    def error(self, reply: Reply) -> tuple[Any, dict[str, str]]:
        if reply.code in (400, 529):
            return super().error(reply)
        return [{"error": {"code": reply.code, "message": reply.message}}], reply.headers


def _token_giver(api: FakeVertexApi) -> type[BaseHTTPRequestHandler]:
    class Connection(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
            known = asked["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
            known = known and asked["assertion"][0].count(".") == 2
            api.tokens += known
            told = {"access_token": "ya29.token", "expires_in": 3600, "token_type": "Bearer"}
            payload = json.dumps(told if known else {"error": "invalid_grant"}).encode()
            self.send_response(200 if known else 400)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_: object) -> None:
            """Say nothing on stderr."""

    return Connection
