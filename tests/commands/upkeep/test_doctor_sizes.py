"""`sidecar doctor`: what it says of sizes."""

from pathlib import Path

from sidecar.commands.upkeep.doctor_sizes import MIB, sizes
from sidecar.config import Config
from sidecar.config.retention import Retention
from sidecar.core.parts import SessionId
from sidecar.store.retention.store_sizes import Heavy, StoreWeights

NOON = 1_764_000_000_000


def weights(**given: int) -> StoreWeights:
    kinds = {"texts": 0, "outputs": 0, "snapshots": 0, "free": 0, "rest": 0, **given}
    one = Heavy(SessionId("ses_1"), "Fix\x1b it", NOON, 3 * MIB)
    return StoreWeights(size=sum(kinds.values()), sessions=1, heaviest=(one,), **kinds)


def test_what_holds_the_size_the_largest_first(tmp_path: Path) -> None:
    found = sizes(weights(texts=MIB, outputs=5 * MIB, rest=2048), Config(data_dir=tmp_path))
    assert [one.found for one in found] == [
        "5.0 MiB complete outputs of tools, 1.0 MiB messages, 2 KiB indexes and the like",
        "ses_1, 3.0 MiB, last used 2025-11-24: Fix␛ it",
    ]
    assert not any(one.advice for one in found)


def test_files_beside_the_store_are_counted(tmp_path: Path) -> None:
    for name in ("archive/a.sidecar", "exports/b.sidecar", "checkpoints/ses_1/state.md"):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_bytes(b"x" * 3000)
    said = [one.found for one in sizes(weights(texts=1), Config(data_dir=tmp_path))]
    assert said[2:] == [
        "archive: 3 KiB in 1 file beside the store",
        "exports: 3 KiB in 1 file beside the store",
        "checkpoints: 3 KiB in 1 file beside the store",
    ]


def test_free_space_and_quotas_come_with_what_to_do(tmp_path: Path) -> None:
    config = Config(data_dir=tmp_path, retention=Retention(outputs_mib=10))
    whole, *_, quota = sizes(weights(outputs=9 * MIB, free=9 * MIB), config)
    assert "sidecar prune" in whole.advice
    assert (quota.state, quota.subject) == ("note", "quota")
    assert quota.found.startswith("Complete outputs of tools take 9.0 MiB of the 10 that")
    assert quota.advice.endswith("or set retention.outputs_mib higher.")
