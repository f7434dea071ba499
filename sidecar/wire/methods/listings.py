"""Checkpoints as the protocol lists them; no events imported, for commands that only look."""

from typing import cast

from sidecar.core.parts import JsonObject
from sidecar.session.history.checkpoint_list import ListedCheckpoint, Listing
from sidecar.session.turn.clock import iso


def listing_json(listing: Listing) -> JsonObject:
    return {
        "checkpoints": [_checkpoint(one) for one in listing.checkpoints],
        "head": listing.head,
        "changes": {
            "files": list(listing.changes),
            "additions": sum(cast("int", one["additions"]) for one in listing.changes),
            "deletions": sum(cast("int", one["deletions"]) for one in listing.changes),
        },
    }


def _checkpoint(one: ListedCheckpoint) -> JsonObject:
    checkpoint = one.checkpoint
    return {
        "checkpointId": checkpoint.id,
        "turnId": checkpoint.turn_id,
        "messageId": checkpoint.message_id,
        "at": iso(checkpoint.at),
        "title": checkpoint.title,
        "files": list(one.files),
        "left": one.left,
    }
