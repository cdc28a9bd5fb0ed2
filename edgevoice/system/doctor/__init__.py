"""The doctor: looks at everything the daemon needs, and says what to do.

Nothing is repaired.  What cannot be looked at is told as ``skipped`` with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from edgevoice.errors import DaemonError, DeviceError
from edgevoice.ports import Microphone, Resampler, Speaker
from edgevoice.settings.schema import Settings
from edgevoice.stages.echo import EchoControl
from edgevoice.system.client import Client
from edgevoice.system.doctor import host, parts
from edgevoice.system.doctor.finding import Finding, Verdict, fail, ok, skipped, warn

__all__ = ["FAILED", "Finding", "Hardware", "Verdict", "diagnose"]

FAILED = 1
"""Exit status when a check has failed: none of sysexits.h, for the doctor itself went well."""

_LISTEN_EVENTS = 20
"""Levels that are taken from a running daemon: two seconds of them."""
_NOISY, _TOO_LOUD = 0.01, 0.5
"""RMS of full scale: for the quietest moment, and for any; speech that loud is clipped."""


@dataclass(frozen=True)
class Hardware:
    """How to make what is looked at; nothing is opened before it is its turn."""

    sound: Callable[[], tuple[Microphone, Speaker]]
    echo: Callable[[], EchoControl]
    resampling: Callable[[int, int], Resampler]
    why_no_pins: Callable[[], str]


def diagnose(settings: Settings, hardware: Hardware, socket: str = "") -> Iterator[Finding]:
    """Every finding, as soon as it is there."""
    daemon = _daemon(socket)
    yield host.unit()
    if daemon is None:
        yield ok("daemon", "not running: everything can be looked at")
    else:
        yield from _ask(daemon)
    yield host.memory(running=daemon is not None)
    yield host.disk(parts.directory_of(settings))
    yield host.clock()
    yield host.throttling()
    yield host.temperature()
    yield host.permissions()
    yield from parts.models(settings)
    yield _pins(settings, hardware, running=daemon is not None)
    yield parts.card()
    if daemon is None:
        yield from _sound(settings, hardware)
    else:
        yield skipped("echo", "the daemon has the card; stop it to have delay and echo measured")


def _daemon(socket: str) -> Client | None:
    try:
        return Client(socket)
    except DaemonError:
        return None


def _ask(daemon: Client) -> Iterator[Finding]:
    """What a running daemon tells of itself, and of its microphone."""
    with daemon:
        try:
            status = daemon.request("status")
            levels = _levels(daemon) if status["state"] != "suspended" else []
        except DaemonError as error:
            yield fail("daemon", error.what, "journalctl -u edgevoice -e may tell why")
            return
    yield _state(status)
    yield _level(levels)


def _state(status: dict[str, Any]) -> Finding:
    state, errors = status["state"], status["metrics"]["errors"]
    what = f"running, {state}; {errors} errors since its start"
    if state in ("faulted", "recovering"):
        return fail("daemon", what, "journalctl -u edgevoice -e tells why", errors=errors)
    if errors:
        return warn("daemon", what, "journalctl -u edgevoice -e tells which", errors=errors)
    return ok("daemon", what, errors=errors)


def _levels(daemon: Client) -> list[float]:
    levels = []
    for message in daemon.events(["levels"]):
        if message["type"] == "levels":
            levels.append(float(message["payload"]["microphone"]))
        if len(levels) == _LISTEN_EVENTS:
            return levels
    return levels


def _level(levels: list[float]) -> Finding:
    if not levels:
        return skipped("microphone", "the daemon is muted or suspended")
    loudest, quietest = max(levels), min(levels)
    figures = {"loudest": round(loudest, 5), "quietest": round(quietest, 5)}
    if loudest == 0:
        todo = "unmute it in alsamixer (F4), or choose another audio.input"
        return fail("microphone", "it delivers only silence", todo, **figures)
    if loudest > _TOO_LOUD or quietest > _NOISY:
        what = f"between {quietest:.3f} and {loudest:.3f} of full scale"
        return warn("microphone", what, "lower its gain in alsamixer", **figures)
    return ok("microphone", f"at most {loudest:.4f} of full scale in two seconds", **figures)


def _pins(settings: Settings, hardware: Hardware, *, running: bool) -> Finding:
    if running:
        return skipped("gpio", "the daemon has the pins")
    return parts.pins(settings, hardware.why_no_pins)


def _sound(settings: Settings, hardware: Hardware) -> Iterator[Finding]:
    from edgevoice.system.doctor.sound import Air, judge, measure

    try:
        microphone, speaker = hardware.sound()
        with Air(microphone, speaker, hardware.resampling) as air:
            yield ok("rates", f"microphone {microphone.rate} Hz, speaker {speaker.rate} Hz")
            yield from judge(measure(air, hardware.echo(), settings.audio.volume / 100))
    except DeviceError as error:
        yield fail("sound", error.what, error.todo)
