"""Keys that encrypt what is synced, and what is said without them."""

import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

from sidecar.core.errors import BadRequest
from sidecar.session.sync.sync_sealing import SEALED, Sealing

NO_AGE = "the extra `encrypted` is not installed"


def ssh_key(path: Path, passphrase: str = "") -> str:
    command = ("ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", "ada", "-f", str(path))
    subprocess.run(command, check=True, timeout=60)
    return path.with_name(f"{path.name}.pub").read_text().strip()


@pytest.mark.skipif(which("ssh-keygen") is None, reason="ssh-keygen is not installed")
def test_keys_of_ssh_are_keys_too(tmp_path: Path) -> None:
    age = pytest.importorskip("pyrage", reason=NO_AGE)
    public = ssh_key(tmp_path / "key")
    sealing = Sealing((public, str(age.x25519.Identity.generate().to_public())), tmp_path / "key")
    sealing.check()
    sealed = sealing.seal(b"hello")
    assert sealed.startswith(SEALED)
    assert sealing.unseal(sealed) == b"hello"
    with pytest.raises(BadRequest, match="damaged"):
        sealing.unseal(sealed[:-1] + bytes([sealed[-1] ^ 1]))
    ssh_key(tmp_path / "guarded", "a long word")
    with pytest.raises(BadRequest, match="without a passphrase"):
        Sealing((public,), tmp_path / "guarded").check()


def test_what_is_for_too_many_keys_is_not_tried(tmp_path: Path) -> None:
    age = pytest.importorskip("pyrage", reason=NO_AGE)
    mine = age.x25519.Identity.generate()
    (tmp_path / "key").write_text(f"{mine}\n")
    sealing = Sealing((str(mine.to_public()),) * 16, tmp_path / "key")
    sealing.check()
    assert sealing.unseal(sealing.seal(b"hello")) == b"hello"
    for wrong in (sealing.seal(b"hello").replace(b"\n-> ", b"\n-> x y\n\n-> " * 2, 1), SEALED):
        with pytest.raises(BadRequest, match="more than 16 keys"):
            sealing.unseal(wrong)
    with pytest.raises(BadRequest, match="more than 16 keys"):
        Sealing((*sealing.recipients, sealing.recipients[0]), sealing.identity).check()


def test_what_is_missing_is_said_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "pyrage", None)
    sealing = Sealing(("age1x",), tmp_path / "key")
    for act in (sealing.check, lambda: sealing.seal(b"x"), lambda: sealing.unseal(SEALED)):
        with pytest.raises(
            BadRequest, match=r"pyrage is needed, an extra of Sidecar: `.*\[.*encrypted"
        ):
            act()
    # Nothing is imported where nothing is encrypted.
    assert Sealing().seal(b"x") == Sealing().unseal(b"x") == b"x"
    Sealing().check()
