"""A small virtual machine: Debian's kernel, systemd, a loopback sound card, a simulated GPIO chip.

Its clock counts instructions, one to a nanosecond: to the guest it is a processor of a thousand
MIPS that is never disturbed, however slow or busy the host is.  So the real engines keep up with
the sound card in it, and a limit such as "stops within 5 s" is a limit on work, not on luck.
Between commands the machine stands still.
"""

from __future__ import annotations

import base64
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

MEMORY_MB = 2048
_CONNECT_S = 60.0


@dataclass(frozen=True)
class Done:
    """What a script in the machine printed (both streams), and its exit status."""

    status: int
    output: str


class MachineError(Exception):
    """The machine did not start, or a script in it took too long or failed."""


class Machine:
    """Runs from `start` to `close`; ``share`` is the guest's /mnt/host."""

    def __init__(self, parts: Path, work: Path) -> None:
        """``parts`` holds vmlinux, initrd.gz and root.erofs; ``work`` is an empty directory."""
        self._parts = parts
        self._work = work
        self.share = work / "share"
        self.share.mkdir()
        self._emulator: subprocess.Popen[bytes] | None = None

    def start(self, timeout_s: float) -> None:
        """Boot; returns when commands are taken."""
        with (self._work / "qemu.log").open("wb") as log:
            self._emulator = subprocess.Popen(self._command(), stderr=log, stdin=subprocess.DEVNULL)
        self._agent = self._connect("agent")
        self._await_line(timeout_s)
        self._emulator.send_signal(signal.SIGSTOP)

    def run(self, script: str, timeout_s: float = 3600.0, *, check: bool = True) -> Done:
        """Run ``script`` as root in bash; ``timeout_s`` is of the host's clock.

        Raises `MachineError` when it takes too long, or, with ``check``, when it fails.
        """
        assert self._emulator, "start() comes first"
        self._emulator.send_signal(signal.SIGCONT)
        self._agent.sendall(base64.b64encode(script.encode()) + b"\n")
        status, *output = self._await_line(timeout_s).split()
        self._emulator.send_signal(signal.SIGSTOP)
        done = Done(int(status), base64.b64decode(b"".join(output)).decode(errors="replace"))
        if check and done.status:
            raise MachineError(f"status {done.status} of:\n{script}\n{done.output}")
        return done

    def close(self) -> None:
        """Switch it off."""
        if self._emulator is not None:
            self._emulator.kill()
            self._emulator.wait()

    @property
    def console(self) -> str:
        """What the kernel and systemd have printed."""
        return (self._work / "console").read_text(errors="replace")

    def _command(self) -> list[str]:
        image = self._parts / "root.erofs"
        return [
            "qemu-system-x86_64",
            *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
            *("-machine", "pc,nvdimm=on", "-cpu", "Haswell-noTSX", "-smp", "1"),
            *("-m", f"{MEMORY_MB},slots=1,maxmem=16G"),
            *("-accel", "tcg,tb-size=512", "-icount", "shift=0,sleep=off"),
            *("-kernel", f"{self._parts / 'vmlinux'}", "-initrd", f"{self._parts / 'initrd.gz'}"),
            *("-append", "console=ttyS0 quiet panic=-1 mitigations=off"),
            *("-serial", f"file:{self._work / 'console'}"),
            # The image is memory, not a disk: while a disk works, a clock that counts
            # instructions of an idle processor has nothing to count, and leaps.
            *("-object", f"memory-backend-file,id=image,share=off,readonly=on,mem-path={image},"
              f"size={image.stat().st_size}"),
            *("-device", "nvdimm,memdev=image,unarmed=on"),
            *("-virtfs", f"local,path={self.share},mount_tag=host,security_model=none"),
            *("-device", "virtio-rng-pci", "-device", "virtio-serial"),
            *("-chardev", f"socket,id=agent,path={self._work / 'agent'},server=on,wait=on"),
            *("-device", "virtserialport,chardev=agent,name=agent"),
        ]  # fmt: skip

    def _connect(self, name: str) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        deadline = time.monotonic() + _CONNECT_S
        while True:
            try:
                connection.connect(str(self._work / name))
                return connection
            except (FileNotFoundError, ConnectionRefusedError):
                self._give_up_after(deadline)
                time.sleep(0.05)

    def _await_line(self, timeout_s: float) -> bytes:
        deadline = time.monotonic() + timeout_s
        self._agent.settimeout(1.0)
        line = b""
        while not line.endswith(b"\n"):
            try:
                line += self._agent.recv(1 << 20)
            except TimeoutError:
                self._give_up_after(deadline)
        return line

    def _give_up_after(self, deadline: float) -> None:
        assert self._emulator
        log = (self._work / "qemu.log").read_text(errors="replace")
        if self._emulator.poll() is not None:
            raise MachineError(f"the emulator has ended:\n{log}")
        if time.monotonic() > deadline:
            raise MachineError(f"the machine takes too long:\n{log}\n{self.console[-3000:]}")
