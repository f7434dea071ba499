"""Other agents' recordings: what is read of one can be stored, sent and told, or it is refused."""

import gzip
import json
import os
import tempfile
from pathlib import Path

from sidecar.core.errors import BadRequest
from sidecar.core.parts import Message, ToolCompleted, ToolError, ToolPart
from sidecar.core.prompt.prompt import ModelRequest, broken_pairs
from sidecar.model.messages.encode import encode
from sidecar.replay.importers.recognition import importers
from sidecar.session.transfer.foreign_import import read_recording
from sidecar.session.transfer.taken_recording import Recording
from sidecar.store.format import rows
from sidecar.store.format.packing import pack
from tests.core.prompts import alone
from tests.fuzz.dice import Dice
from tests.fuzz.mutations import ODD, Value, deep, mutated, scrambled, text_of
from tests.replay.importers.recordings import FORMATS

SHARE = 40

NOW = 1_800_000_000_000
MODEL = "opus"
IMAGE = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
ODD_LINES: tuple[Value, ...] = (
    *(*ODD, deep(120), {"type": "image", "source": IMAGE}, "[" * 2_000, '{"a": NaN}'),
    *(line for lines in FORMATS.values() for line in lines),
)
NAMES = ("", "", "", *FORMATS, "sidecar", "none")
# Where there is memory to write to, opening a file costs a tenth.
_shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
_folder = tempfile.TemporaryDirectory(prefix="sidecar-fuzz-", dir=_shm)
FILE = Path(_folder.name) / "recording.jsonl"


def run(data: bytes) -> None:
    """Damage a recording and read it as an import does."""
    dice = Dice(data)
    lines = list(FORMATS[dice.pick(tuple(FORMATS))])
    lines = mutated(lines, dice, odd=ODD_LINES, donors=ODD_LINES)
    raw = _written(lines, dice)
    if dice.chance(4):
        raw = scrambled(raw, dice)
    if dice.chance(12):
        raw = scrambled(gzip.compress(raw, 1), dice)
    FILE.write_bytes(raw)
    if isinstance(lines, list):
        for importer in importers():
            importer.recognises([line for line in lines if isinstance(line, dict)])
    said = ""
    try:
        _lived_with(read_recording(FILE, dice.pick(NAMES), "abc", NOW))
    except BadRequest as error:
        said = error.message
    assert len(said) < 1_000


def _written(lines: Value, dice: Dice) -> bytes:
    if not isinstance(lines, list) or dice.chance(10):
        return text_of(lines).encode("utf-8", "surrogatepass")
    ends = dice.pick(("\n", "\n", "\n", "\r\n", "\n\n", " "))
    # What Python writes for NaN is in some recordings.
    text = ends.join(json.dumps(line, ensure_ascii=bool(dice.below(2))) for line in lines)
    return text.encode("utf-8", "surrogatepass")


def _lived_with(recording: Recording) -> None:
    assert recording.messages
    ids = [message.id for message in recording.messages]
    ids += [part.id for message in recording.messages for part in message.parts]
    assert len(set(ids)) == len(ids)
    for message in recording.messages:
        assert 0 <= message.created <= NOW
        _stored(message)
    prompt = alone(recording.messages, MODEL)
    assert not broken_pairs(prompt)
    body = encode(ModelRequest(MODEL, prompt, 99))
    json.dumps(body, ensure_ascii=False, allow_nan=False).encode()


def _stored(message: Message) -> None:
    whole = pack(rows.message_fields(message))
    read = dict(whole.blobs).__getitem__
    assert rows.decode_message(whole.body, read, message.parts) == message
    for place, part in enumerate(message.parts):
        if isinstance(part, ToolPart):
            assert isinstance(part.state, ToolCompleted | ToolError)
        packed = rows.encode_part(part, place)
        assert rows.decode_part(packed.body, dict(packed.blobs).__getitem__) == part
