"""Encrypts what is sent for the recipients that the user set, and reads it by the user's key: age.

The package is an extra, and imported late: few users need it.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.extras import adding

SEALED = b"age-encryption.org/v1\n"
"""The beginning of all that is encrypted."""
MOST_RECIPIENTS = 16
LONGEST_HEADER = 16 * 1024
"""Of a header: to try one of its keys holds all of Python for milliseconds."""
MOST_IDENTITY = 1024 * 1024
PATH = "params"
NO_PACKAGE = (
    "to encrypt what is synced, the package pyrage is needed, an extra of Sidecar: `{command}`"
)
NO_IDENTITY = "it lies there encrypted: set sync.identity to the file with your key"
NOT_FOR_US = "it lies there encrypted, and not for the key in sync.identity ({path})"
NO_KEY = (
    "sync.identity ({path}) holds no key that can be used: it is a file of `age-keygen`, or an "
    "ssh key without a passphrase"
)
NO_RECIPIENTS = (
    "it lies there encrypted, and sync.recipients is empty here, so what is new is not sent: set "
    "for whom it is to be encrypted"
)
TOO_MANY = f"sync.recipients names more than {MOST_RECIPIENTS} keys"
FOR_TOO_MANY = f"it lies there encrypted for more than {MOST_RECIPIENTS} keys, or is damaged"
BLIND = (
    "sync.recipients is set, but not sync.identity: without your own key, what lies there could "
    "not be read again"
)


@dataclass(frozen=True, slots=True)
class Sealing:
    """`recipients`: public keys, as age and ssh write them; `identity`: the file of a secret one.

    Methods block, and raise BadRequest.
    """

    recipients: tuple[str, ...] = ()
    identity: Path | None = None

    def check(self) -> None:
        """Looks whether all that is set can be used."""
        if len(self.recipients) > MOST_RECIPIENTS:
            raise BadRequest(TOO_MANY, PATH)
        if self.recipients and self.identity is None:
            raise BadRequest(BLIND, PATH)
        if self.recipients:
            self._for_whom()
            self._keys()

    def seal(self, data: bytes) -> bytes:
        """Gives `data` as it is without recipients."""
        if not self.recipients:
            return data
        sealed: bytes = _age().encrypt(data, self._for_whom())
        return sealed

    def unseal(self, data: bytes) -> bytes:
        """Gives `data` as it is if it is not encrypted."""
        if not data.startswith(SEALED):
            return data
        if self.identity is None:
            raise BadRequest(NO_IDENTITY, PATH)
        age, end = _age(), data.find(b"\n---", 0, LONGEST_HEADER)
        # age adds one that is nobody's.
        if end < 0 or data.count(b"\n->", 0, end) > MOST_RECIPIENTS + 1:
            raise BadRequest(FOR_TOO_MANY, PATH)
        try:
            whole: bytes = age.decrypt(data, self._keys())
        except age.DecryptError as error:
            other = "matching" in str(error)
            why = NOT_FOR_US.format(path=self.identity) if other else f"it is damaged ({error})"
            raise BadRequest(why, PATH) from None
        return whole

    def _for_whom(self) -> list[Any]:
        age = _age()
        found = []
        for text in self.recipients:
            kind = age.ssh if text.startswith("ssh-") else age.x25519
            try:
                found.append(kind.Recipient.from_str(text))
            except age.RecipientError as error:
                raise BadRequest(f"sync.recipients: {text!r:.60} is none ({error})", PATH) from None
        return found

    def _keys(self) -> list[Any]:
        assert self.identity is not None
        age, path = _age(), self.identity
        try:
            with path.open("rb") as file:
                data = file.read(MOST_IDENTITY)
        except OSError as error:
            why = error.strerror or str(error)
            raise BadRequest(f"sync.identity: {path} cannot be read: {why}", PATH) from error
        try:
            if data.lstrip().startswith(b"-----BEGIN"):
                return [age.ssh.Identity.from_buffer(data)]
            lines = (line.strip() for line in data.decode("ascii", "replace").splitlines())
            keys = [age.x25519.Identity.from_str(x) for x in lines if x and not x.startswith("#")]
        except (age.IdentityError, ValueError):
            keys = []
        if not keys:
            raise BadRequest(NO_KEY.format(path=path), PATH)
        return keys


def _age() -> Any:  # noqa: ANN401 - the package has no types
    try:
        return import_module("pyrage")
    except ImportError:
        raise BadRequest(NO_PACKAGE.format(command=adding("encrypted")), PATH) from None
