"""Nobody else of the same user can read the daemon's memory or environment."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROGRAM = """
import ctypes, os, subprocess
from sidecar.daemon.private_memory import keep_memory_private
if os.geteuid() == 0:  # Root may look at everything.
    os.setgid(65534)
    os.setuid(65534)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # As a program that was begun by that user.
look = ["cat", f"/proc/{os.getpid()}/environ"]
before = subprocess.run(look, capture_output=True).stdout
keep_memory_private()
after = subprocess.run(look, capture_output=True)
print(b"A_KEY=secret" in before, after.stdout, b"Permission denied" in after.stderr)
# What the daemon itself looks at is there for it still.
os.readlink("/proc/self/ns/pid"), os.listdir("/proc/self/fd"), open("/proc/self/mountinfo").read(1)
at = os.open("/", os.O_PATH)
print(os.stat(f"/proc/self/fd/{at}").st_ino == os.stat("/").st_ino)
child = subprocess.run(["cat", "/proc/self/environ"], capture_output=True)
print(b"A_KEY=secret" in child.stdout)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives this to programs")
def test_a_command_cannot_read_the_environment_of_what_started_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        env={"A_KEY": "secret", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout.splitlines() == ["True b'' True", "True", "True"], done.stderr
