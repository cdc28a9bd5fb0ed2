"""A machine with a real systemd as its first process, in a container of a second.

Its files are those of this machine under an overlay that is thrown away, so nothing has to be built
or fetched.  What is not enforced in there: device, memory and task limits; there is no udev.  Needs
root and systemd-nspawn (Debian: systemd-container).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

_ENTER = ("-m", "-u", "-i", "-n", "-p", "-C", "-r", "-w")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_POWER_OFF = "RTMIN+4"
"""What systemd takes for an order to power off; see systemd(1)."""


def missing() -> str:
    """Why no machine can be had here, or an empty string."""
    if os.geteuid() != 0:
        return "a container is started by root alone"
    programs = {"systemd-nspawn": "systemd-container", "nsenter": "util-linux"}
    lacking = [package for name, package in programs.items() if shutil.which(name) is None]
    if not Path("/lib/systemd/systemd").exists():
        lacking.append("systemd")
    return f"apt install {' '.join(lacking)}" if lacking else ""


@dataclass(frozen=True)
class Machine:
    """A running machine; ``leader`` is its first process, as it is numbered outside."""

    leader: int

    def run(self, *command: str, text: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command in it as root, with ``text`` on its standard input."""
        enter = ["nsenter", "-t", str(self.leader), *_ENTER, "--", "env", "-i"]
        environment = [f"PATH={_PATH}", "LC_ALL=C.UTF-8", "SYSTEMD_COLORS=0", "SYSTEMD_PAGER="]
        return subprocess.run(
            [*enter, *environment, *command],
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )

    def write(self, path: str, text: str) -> None:
        """Write a file in it."""
        done = self.run("sh", "-c", f"mkdir -p $(dirname {path}) && cat >{path}", text=text)
        assert done.returncode == 0, done.stderr

    def show(self, unit: str, *properties: str) -> dict[str, str]:
        """Properties of a unit."""
        done = self.run("systemctl", "show", unit, "--property", ",".join(properties))
        return dict(line.split("=", 1) for line in done.stdout.splitlines())


@contextmanager
def machine(binds: Mapping[Path, str], console: Path) -> Iterator[Machine]:
    """A machine that sees ``binds`` of this one, read-only, at other paths."""
    with _copy_of_the_root(console.parent) as root, _booted(root, binds, console) as running:
        yield running


@contextmanager
def _copy_of_the_root(directory: Path) -> Iterator[Path]:
    """This machine's files, to be written on as one likes."""
    copy = directory / "root"
    copy.mkdir()
    _mount("tmpfs", "mode=755", copy)
    try:
        for name in ("upper", "work", "merged"):
            (copy / name).mkdir()
        layers = f"lowerdir=/,upperdir={copy}/upper,workdir={copy}/work"
        _mount("overlay", layers, copy / "merged")
        (copy / "merged/etc/machine-id").write_text(f"{uuid4().hex}\n")
        yield copy / "merged"
    finally:
        subprocess.run(["umount", "--recursive", copy], check=False)


def _mount(kind: str, options: str, where: Path) -> None:
    subprocess.run(["mount", "-t", kind, "-o", options, kind, where], check=True)


@contextmanager
def _booted(root: Path, binds: Mapping[Path, str], console: Path) -> Iterator[Machine]:
    command = ["systemd-nspawn", f"--directory={root}", "--register=no"]
    command += ["--keep-unit", "--private-network", "--link-journal=no", "--resolv-conf=off"]
    command += ["--timezone=off", f"--machine=edgevoice-{os.getpid()}", "--console=pipe"]
    command += [f"--bind-ro={here}:{there}" for here, there in binds.items()]
    command += ["--boot", "systemd.unit=multi-user.target"]
    Path("/sys/fs/cgroup/systemd").mkdir(exist_ok=True)
    with console.open("wb") as output:
        nspawn = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=os.environ | {"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"},
        )
        try:
            running = Machine(_leader(nspawn, console))
            _wait_until_up(running)
            yield running
            subprocess.run(["kill", "-s", _POWER_OFF, str(running.leader)], check=False)
            nspawn.wait(timeout=20)
        finally:
            nspawn.kill()
            nspawn.wait()


def _leader(nspawn: subprocess.Popen[bytes], console: Path) -> int:
    """The container's first process, as soon as it is systemd."""
    children = Path(f"/proc/{nspawn.pid}/task/{nspawn.pid}/children")
    while nspawn.poll() is None:
        for child in children.read_text().split():
            name = Path(f"/proc/{child}/comm")
            if name.exists() and name.read_text().strip() == "systemd":
                return int(child)
        time.sleep(0.02)
    raise RuntimeError(f"the container did not start: {console.read_text()}")


def _wait_until_up(machine: Machine) -> None:
    while machine.run("systemctl", "is-system-running").stdout.strip() not in (
        "running",
        "degraded",
    ):
        time.sleep(0.05)
