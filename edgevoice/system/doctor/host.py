"""The machine: memory, disk, clock, heat, power, permissions and the service.

``root`` stands for ``/`` in every function that reads files.
"""

from __future__ import annotations

import grp
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from edgevoice.system.doctor.finding import Finding, fail, ok, skipped, warn

ROOT = Path("/")

_NEEDED_MB = 600.0
"""What the daemon takes with the starter models, and a little more."""
_SPARE_MB = 100.0
_DISK_WARN_MB, _DISK_FAIL_MB = 500.0, 50.0
_WARM_C, _HOT_C = 75.0, 85.0
"""A Raspberry Pi slows down from 80 °C on, and more from 85 °C (its documentation)."""

_BITS = {
    0: "the voltage is too low",
    1: "the clock is capped",
    2: "it is throttled",
    3: "it is near its temperature limit",
}
"""Of get_throttled, as vcgencmd documents it; 16 higher: it has happened since the start."""

Run = Callable[[Sequence[str]], str | None]


def output(command: Sequence[str]) -> str | None:
    """What a program prints; None when there is none, or it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def memory(*, running: bool, root: Path = ROOT) -> Finding:
    """Whether there is enough for the daemon, or enough beside it when it runs."""
    fields = dict(line.split(":", 1) for line in _text(root / "proc/meminfo").splitlines())
    if "MemAvailable" not in fields:
        return skipped("memory", "the kernel does not tell")
    free = int(fields["MemAvailable"].split()[0]) / 1000
    needed = _SPARE_MB if running else _NEEDED_MB
    told = f"{free:.0f} MB available"
    if free < needed:
        todo = "end other programs, or choose a smaller llm.model"
        return fail("memory", f"{told}, {needed:.0f} are needed", todo, available_mb=round(free))
    return ok("memory", told, available_mb=round(free))


def disk(directory: Path) -> Finding:
    """Whether there is room where the models are."""
    while not directory.exists():
        directory = directory.parent
    free = shutil.disk_usage(directory).free / 1e6
    told = f"{free:.0f} MB free in {directory}"
    todo = "delete what is not needed"
    if free < _DISK_FAIL_MB:
        return fail("disk", told, todo, free_mb=round(free))
    if free < _DISK_WARN_MB:
        return warn("disk", told, todo, free_mb=round(free))
    return ok("disk", told, free_mb=round(free))


def clock(run: Run = output) -> Finding:
    """Whether the time is right: timers and "what time is it" need it."""
    told = run(["timedatectl", "show", "--property=NTPSynchronized", "--value"])
    if told not in ("yes", "no"):
        return skipped("clock", "timedatectl does not tell")
    if told == "no":
        todo = "timedatectl set-ntp true, and a network; a Pi without one wants a clock module"
        return warn("clock", "not synchronised", todo)
    return ok("clock", "synchronised")


def throttling(root: Path = ROOT, run: Run = output) -> Finding:
    """Voltage and throttling, as the firmware of a Raspberry Pi tells."""
    bits = _throttled(root, run)
    if bits is None:
        return skipped("power", "no Raspberry Pi firmware here")
    now = [text for bit, text in _BITS.items() if bits & 1 << bit]
    before = [text for bit, text in _BITS.items() if bits & 1 << bit + 16]
    todo = "use the official power supply and a short cable; see to its cooling"
    if now:
        return fail("power", "; ".join(now), todo, throttled=bits)
    if before:
        return warn("power", f"since the start: {'; '.join(before)}", todo, throttled=bits)
    return ok("power", "neither low voltage nor throttling", throttled=bits)


def _throttled(root: Path, run: Run) -> int | None:
    # soc/soc:firmware on a Pi 4, soc@107c000000/soc@107c000000:firmware on a Pi 5.
    for path in (root / "sys/devices/platform").glob("soc*/*:firmware/get_throttled"):
        if told := _text(path).strip():
            return int(told, 16)
    told = (run(["vcgencmd", "get_throttled"]) or "").partition("=")[2]
    return int(told, 16) if told else None


def temperature(root: Path = ROOT) -> Finding:
    """The hottest sensor of the processor."""
    zones = (root / "sys/class/thermal").glob("thermal_zone*/temp")
    degrees = [int(text) / 1000 for zone in zones if (text := _text(zone).strip()).isdigit()]
    if not degrees:
        return skipped("temperature", "no thermal sensor here")
    hottest = max(degrees)
    told = f"{hottest:.0f} °C"
    todo = "a heat sink or a fan, and air around it"
    if hottest >= _HOT_C:
        return fail("temperature", told, todo, celsius=hottest)
    if hottest >= _WARM_C:
        return warn("temperature", told, todo, celsius=hottest)
    return ok("temperature", told, celsius=hottest)


def permissions(root: Path = ROOT) -> Finding:
    """Whether sound devices and pins may be opened by whoever asks."""
    closed = [
        (group, files)
        for group, files in (("audio", "dev/snd/pcm*"), ("gpio", "dev/gpiochip*"))
        if (found := list(root.glob(files)))
        and not any(os.access(file, os.R_OK | os.W_OK) for file in found)
    ]
    if closed:
        what = ", ".join(f"/{files} may not be opened" for _, files in closed)
        groups = ",".join(group for group, _ in closed)
        return fail("permissions", what, f"sudo usermod -aG {groups} $USER, then log in again")
    named = ", ".join(sorted(_groups())) or "none that matters"
    return ok("permissions", f"groups: {named}")


def _groups() -> set[str]:
    wanted = {"audio", "gpio", "spi", "edgevoice"}
    mine = {*os.getgroups(), os.getgid()}
    return {group.gr_name for group in grp.getgrall() if group.gr_gid in mine} & wanted


def unit(root: Path = ROOT, run: Run = output) -> Finding:
    """How the service does."""
    if not (root / "run/systemd/system").is_dir():
        return skipped("service", "systemd does not run here")
    names = "--property=LoadState,ActiveState,SubState,NRestarts"
    told = run(["systemctl", "show", "edgevoice.service", names]) or ""
    state = dict(line.split("=", 1) for line in told.splitlines() if "=" in line)
    if state.get("LoadState") != "loaded":
        return warn("service", "edgevoice.service is not installed", "sudo make install")
    active = state.get("ActiveState", "unknown")
    restarts = int(state.get("NRestarts") or 0)
    what = f"{active} ({state.get('SubState', '')}), {restarts} restarts"
    if active == "failed":
        return fail("service", what, "journalctl -u edgevoice -e tells why", restarts=restarts)
    if active != "active" or restarts:
        return warn("service", what, "journalctl -u edgevoice -e tells why", restarts=restarts)
    return ok("service", what, restarts=restarts)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
