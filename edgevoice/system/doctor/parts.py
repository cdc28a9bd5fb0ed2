"""What the daemon is made of: configuration, models, pins, and who has the sound card."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from edgevoice.errors import EdgeVoiceError, ModelError
from edgevoice.models.catalogue import catalogue
from edgevoice.models.paths import models_directory, resolve
from edgevoice.models.verify import verify
from edgevoice.settings.schema import Settings
from edgevoice.system.doctor.finding import Finding, fail, ok, skipped, warn

_ROLES: dict[str, Callable[[Settings], str]] = {
    "wake": lambda s: s.wake_word.model,
    "wake-features": lambda s: "openwakeword",
    "asr": lambda s: s.recogniser.model,
    "llm": lambda s: s.llm.model,
    "tts": lambda s: s.tts.voice,
}
"""Role in the catalogue, and the name that the settings have for it."""


def directory_of(settings: Settings) -> Path:
    """Where the models are."""
    named = settings.models.directory
    return Path(named).expanduser() if named else models_directory()


def models(settings: Settings) -> Iterator[Finding]:
    """Whether each configured model is there, and has the bytes of the catalogue."""
    directory = directory_of(settings)
    for role, name_of in _ROLES.items():
        yield _model(name_of(settings), role, directory)


def _model(name: str, role: str, directory: Path) -> Finding:
    try:
        path = resolve(name, role, directory)
    except ModelError as error:
        return fail("model", error.what, error.todo)
    entry = catalogue().get(name)
    if entry is None:
        return ok("model", f"{role}: {path} (your own: there is no checksum for it)")
    if wrong := verify(entry, directory):
        return fail("model", wrong[0], f"edgevoice models fetch {name}")
    return ok("model", f"{role}: {name}, its checksum is right")


def pins(settings: Settings, why_not: Callable[[], str]) -> Finding:
    """Button and lamp; ``why_not`` opens them for a moment and says why that failed, or nothing."""
    enabled = settings.gpio.enabled
    if enabled == "off":
        return skipped("gpio", "gpio.enabled is off")
    try:
        reason = why_not()
    except EdgeVoiceError as error:
        return fail("gpio", error.what, error.todo)
    if reason and enabled == "on":
        return fail("gpio", reason, "wire button and lamp (hardware/), or gpio.enabled: auto")
    if reason:
        return skipped("gpio", reason)
    return ok("gpio", "button and lamp can be used")


def card(devices: str = "/dev/snd/", proc: Path = Path("/proc")) -> Finding:
    """Who else has a sound device open."""
    if not Path(devices).is_dir():
        return skipped("sound card", f"there is no {devices}")
    others = sorted(set(_holders(devices, proc)))
    if others:
        named = "; ".join(f"{name} ({pid}) has {file}" for pid, name, file in others)
        return warn("sound card", named, "a card without a mixer takes one program at a time")
    return ok("sound card", "nobody else has it open")


def _holders(devices: str, proc: Path) -> Iterator[tuple[int, str, str]]:
    for process in proc.glob("[0-9]*"):
        if int(process.name) == os.getpid():
            continue
        for file in _open_files(process):
            if file.startswith(devices) and "control" not in file:
                yield int(process.name), _name(process), file


def _open_files(process: Path) -> Iterator[str]:
    try:
        for descriptor in (process / "fd").iterdir():
            yield os.readlink(descriptor)
    except OSError:  # it has ended, or is somebody else's
        return


def _name(process: Path) -> str:
    try:
        return (process / "comm").read_text().strip()
    except OSError:
        return "unknown"
