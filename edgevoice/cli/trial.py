"""``edgevoice try PART``: one part of the house by itself, on the real engine or device."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from edgevoice.cli.parser import add_config_option

if TYPE_CHECKING:
    from edgevoice.settings.schema import Settings
    from edgevoice.system.trial import Sound


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser("try", help="try one part by itself")
    parts = parser.add_subparsers(dest="part", metavar="PART", required=True)
    mic = parts.add_parser("mic", help="a level meter")
    mic.add_argument("--out", metavar="WAV", help="keep what was heard, at 16 kHz")
    parts.add_parser("aec", help="play a noise; how late and how strong is the echo?")
    wake = parts.add_parser("wake", help="scores of the wake word as you speak")
    asr = parts.add_parser("asr", help="what the recogniser makes of it")
    llm = parts.add_parser("llm", help="ask the language model")
    llm.add_argument("prompt", metavar="PROMPT", nargs="+")
    tts = parts.add_parser("tts", help="let the voice speak")
    tts.add_argument("text", metavar="TEXT", nargs="+")
    tts.add_argument("--out", metavar="WAV", help="into a file instead of the loudspeaker")
    parts.add_parser("leds", help="every light, with the state it stands for")
    button = parts.add_parser("button", help="presses, clicks and holds")
    for timed in (mic, wake, asr, button):
        timed.add_argument("--seconds", metavar="N", type=_seconds, default=10.0)
    for heard in (mic, wake, asr):
        heard.add_argument("--wav", metavar="FILE", help="instead of the microphone")
    for name, part in parts.choices.items():
        part.set_defaults(try_part=_PARTS[name])
        add_config_option(part)
    parser.set_defaults(run=run)


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value <= 3600:
        raise argparse.ArgumentTypeError("from 0 to 3600 seconds")
    return value


def run(args: argparse.Namespace) -> int:
    """Try it; the exit status."""
    from edgevoice.settings.loader import load

    args.try_part(load(args.config).settings, args)
    return 0


def _tell(line: str) -> None:
    print(line, flush=True)


def _sound(settings: Settings, args: argparse.Namespace) -> Sound:
    from edgevoice import devices
    from edgevoice.cli.hardware import resampling
    from edgevoice.system.trial import live, recorded

    if args.wav:
        return recorded(Path(args.wav), resampling)
    _tell(f"listening for {args.seconds:g} s …")
    return live(devices.sound(settings)[0], resampling, args.seconds)


def _mic(settings: Settings, args: argparse.Namespace) -> None:
    from edgevoice.core.events import RATE
    from edgevoice.system.trial import mic, write_wav

    sound = _sound(settings, args)
    heard = mic(sound, _over if sys.stdout.isatty() else _tell)
    if args.out:
        write_wav(Path(args.out), heard, RATE)


def _over(line: str) -> None:
    """On a terminal a meter stays where it is."""
    print(f"\r{line}", end="", flush=True)


def _aec(settings: Settings, args: argparse.Namespace) -> None:
    from edgevoice.cli.hardware import hardware
    from edgevoice.system.doctor.sound import Air, judge, measure

    parts = hardware(settings)
    _tell("a second of silence, then five of noise …")
    with Air(*parts.sound(), parts.resampling) as air:
        loop = measure(air, parts.echo(), settings.audio.volume / 100)
    for finding in judge(loop):
        _tell("\n".join(finding.lines()))


def _wake(settings: Settings, args: argparse.Namespace) -> None:
    from edgevoice.engines import Workshop
    from edgevoice.system.trial import wake

    engine, threshold = Workshop(settings).wake(), settings.wake_word.threshold
    best = wake(engine, _sound(settings, args), _tell, threshold)
    _tell(f"best {best:.2f}, threshold {threshold:.2f}")


def _asr(settings: Settings, args: argparse.Namespace) -> None:
    from edgevoice.engines import Workshop
    from edgevoice.system.trial import asr

    recogniser = Workshop(settings).recogniser()
    asr(recogniser, _sound(settings, args), _tell)


def _llm(settings: Settings, args: argparse.Namespace) -> None:
    from edgevoice.engines import Workshop
    from edgevoice.system.trial import llm

    def write(text: str) -> None:
        print(text, end="", flush=True)

    model = Workshop(settings).language_model()
    speed = llm(model, settings.history.system_prompt, " ".join(args.prompt), write)
    _tell(f"\n{speed}")


def _tts(settings: Settings, args: argparse.Namespace) -> None:
    from edgevoice import devices
    from edgevoice.cli.hardware import resampling
    from edgevoice.engines import Workshop
    from edgevoice.system.trial import play, tts, write_wav

    voice = Workshop(settings).synthesiser()
    samples, speed = tts(voice, " ".join(args.text))
    _tell(speed)
    if args.out:
        write_wav(Path(args.out), samples, voice.rate)
    else:
        play(devices.sound(settings)[1], samples, voice.rate, resampling)


def _leds(settings: Settings, args: argparse.Namespace) -> None:
    from edgevoice import devices
    from edgevoice.errors import DeviceError
    from edgevoice.system.trial import leds

    found = devices.pins(settings)
    if found.reason:
        raise DeviceError(f"no lamp: {found.reason}", "edgevoice doctor may tell more")
    found.button.close()
    try:
        leds(found.lamps, _tell)
    finally:
        found.lamps.close()


def _button(settings: Settings, args: argparse.Namespace) -> None:
    from edgevoice import devices
    from edgevoice.errors import DeviceError
    from edgevoice.system.trial import button

    found = devices.pins(settings)
    if found.reason:
        raise DeviceError(f"no button: {found.reason}", "edgevoice doctor may tell more")
    found.lamps.close()
    _tell(f"press the button; {args.seconds:g} s …")
    button(found.button, settings.button, args.seconds, _tell)


_PARTS = {
    "mic": _mic,
    "aec": _aec,
    "wake": _wake,
    "asr": _asr,
    "llm": _llm,
    "tts": _tts,
    "leds": _leds,
    "button": _button,
}
