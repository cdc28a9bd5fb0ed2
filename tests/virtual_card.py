"""A sound card in software: a private PulseAudio behind ALSA's pulse plugin.

``python -m tests.virtual_card -- COMMAND`` runs COMMAND with such a card; tests
take the fixture ``card``.  What is played into the null sink ``micfeed`` is
heard on the ALSA pcm ``evmic``; what is played on ``evspk`` can be recorded.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from edgevoice.ports import Samples

_PROGRAMS = {"pulseaudio": "pulseaudio", "pactl": "pulseaudio-utils", "parec": "pulseaudio-utils"}

ALSA_CONFIG = """
</usr/share/alsa/alsa.conf>
pcm.!default { type asym playback.pcm evspk capture.pcm evmic }
ctl.!default { type pulse }
pcm.evspk { type asym playback.pcm { type pulse device spk } }
pcm.evmic { type asym capture.pcm { type pulse device mic } }
pcm.evmonitor { type asym capture.pcm { type pulse device spk.monitor } }
"""

AS_HARDWARE = ("nice", "-n", "-10")
"""Before a command: like a card it waits for no program, where that is allowed."""

_MODULES = (
    # Without norewinds the first read from a monitor stalls for almost two seconds.
    "module-null-sink norewinds=1 sink_name=spk {format}",
    "module-null-sink norewinds=1 sink_name=micfeed {format}",
    "module-remap-source master=micfeed.monitor source_name=mic",
)


def missing() -> str:
    """The Debian packages that a card lacks here, or an empty string."""
    packages = {package for name, package in _PROGRAMS.items() if shutil.which(name) is None}
    if not any(Path("/usr/lib").glob("*/alsa-lib/libasound_module_pcm_pulse.so")):
        packages.add("libasound2-plugins")
    return " ".join(sorted(packages))


@dataclass
class VirtualCard:
    """A card that can be unplugged; ``environment`` leads a process to it."""

    environment: dict[str, str]
    rate: int
    command: list[str]
    """Of the PulseAudio daemon."""
    daemon: subprocess.Popen[bytes] | None = None

    def hear(self, samples: Samples) -> None:
        """Let the microphone hear mono samples at the card's rate; returns at their end."""
        command = ["pacat", "--playback", "--device=micfeed", *self._raw]
        subprocess.run(command, input=samples.tobytes(), env=self._environment, check=True)

    @contextmanager
    def recording(self, path: Path) -> Iterator[None]:
        """Write what the loudspeaker plays meanwhile to ``path``: int16, mono, the card's rate."""
        command = ["parec", "--device=spk.monitor", "--latency-msec=10", *self._raw]
        with path.open("wb") as file, _running(command, self._environment, file.fileno()):
            _wait_until(lambda: path.stat().st_size > 0)
            yield
            time.sleep(0.1)  # what was played last is on its way

    def plug(self) -> None:
        """Let the card appear."""
        self.daemon = subprocess.Popen(self.command, env=self._environment)
        _wait_until(lambda: _answers(self._environment))
        for kind, name in (("sink", "spk"), ("source", "mic")):
            command = ["pactl", f"set-default-{kind}", name]
            subprocess.run(command, env=self._environment, check=True)

    def unplug(self) -> None:
        """Let the card disappear."""
        if self.daemon is not None:
            self.daemon.kill()
            self.daemon.wait()

    @property
    def _raw(self) -> list[str]:
        return ["--raw", "--format=s16le", f"--rate={self.rate}", "--channels=1"]

    @property
    def _environment(self) -> dict[str, str]:
        return os.environ | self.environment


@contextmanager
def virtual_card(rate: int = 16_000, channels: int = 1, alsa: str = "") -> Iterator[VirtualCard]:
    """A card of that rate and number of channels; ``alsa`` is added to its ALSA configuration."""
    with tempfile.TemporaryDirectory(prefix="card.") as directory:
        home = Path(directory)
        (home / "asound.conf").write_text(ALSA_CONFIG + alsa)
        environment = _environment_in(home)
        sample = f"rate={rate} channels={channels} format=s16le"
        card = VirtualCard(environment, rate, _daemon_command(home, sample))
        try:
            card.plug()
            yield card
        finally:
            card.unplug()


def _environment_in(home: Path) -> dict[str, str]:
    for name in ("pulse", "state", "conf"):
        (home / name).mkdir(mode=0o700)
    return {
        "ALSA_CONFIG_PATH": str(home / "asound.conf"),
        "PULSE_SERVER": f"unix:{home}/socket",
        "PULSE_COOKIE": str(home / "cookie"),
        "PULSE_RUNTIME_PATH": str(home / "pulse"),
        "PULSE_STATE_PATH": str(home / "state"),
        "PULSE_CONFIG_PATH": str(home / "conf"),
    }


def _daemon_command(home: Path, sample: str) -> list[str]:
    options = ["-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no"]
    options += ["--realtime=no", "--high-priority=no", "--disable-shm=yes"]
    options += ["--log-level=error", f"--log-target=newfile:{home}/log"]
    modules = [f"module-native-protocol-unix socket={home}/socket auth-anonymous=1"]
    modules += [module.format(format=sample) for module in _MODULES]
    # It must not outlive a test run that is killed.
    command = [*AS_HARDWARE, "setpriv", "--pdeathsig", "TERM", "pulseaudio"]
    return [*command, *options, *(f"--load={module}" for module in modules)]


@contextmanager
def _running(
    command: list[str], environment: dict[str, str], stdout: int | None
) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, env=environment, stdout=stdout)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def _answers(environment: dict[str, str]) -> bool:
    probe = subprocess.run(["pactl", "info"], env=environment, capture_output=True, check=False)
    return probe.returncode == 0


def _wait_until(true: Callable[[], bool]) -> None:
    for _ in range(500):
        if true():
            return
        time.sleep(0.02)
    raise TimeoutError("the virtual sound card does not answer within 10 s")


def main(arguments: list[str]) -> int:
    """Run a command with a card and return its exit status."""
    command = arguments[1:] if arguments[:1] == ["--"] else arguments
    if not command:
        print("usage: python -m tests.virtual_card -- COMMAND", file=sys.stderr)
        return 64
    if packages := missing():
        print(f"a virtual sound card needs: apt install {packages}", file=sys.stderr)
        return 69
    with virtual_card() as card:
        return subprocess.run(command, env=os.environ | card.environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
