"""Bundles from anybody: screened, or refused in words; what is taken can be written again."""

import json

from sidecar.core.errors import BadRequest
from sidecar.session.transfer.bundle_screen import OwnHead, screened
from sidecar.store.connection import bundle_file
from sidecar.store.format.bundles import lines_of, read_lines
from sidecar.store.format.packing import encode_text
from tests.fuzz.bundle import THINGS, as_handed_on, twisted
from tests.fuzz.dice import Dice
from tests.session.stories import sealed

SHARE = 8


def run(data: bytes) -> None:
    """Damage what a bundle holds, its text, or its packed bytes, and take it in."""
    dice = Dice(data)
    things = twisted(THINGS, dice)
    raw = as_handed_on(encode_text(sealed(things)), dice)
    if not bundle_file.is_bundle(raw):
        return
    bundle = refused = None
    try:
        bundle = screened(read_lines(bundle_file.read(raw)), OwnHead()).bundle
    except BadRequest as error:
        refused = error
    if bundle is None:
        assert refused is not None
        assert refused.data["path"] == "params.path"
        assert len(refused.message) < 1_000
        return
    again = read_lines(lines_of(bundle))
    assert again == bundle, "it is written as something else"
    json.dumps([record.body for record in bundle.records], allow_nan=False)
