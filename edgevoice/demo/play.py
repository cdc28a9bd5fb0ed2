"""Hold a conversation in the room and leave it as files.

The daemon runs unchanged: the room is its microphone and its speaker, the
engines are the real ones, and the talker hears the device as a person would.
"""

from __future__ import annotations

import json
import time
import wave
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from edgevoice import app
from edgevoice.adapters.gpio import NullButton, NullLamps
from edgevoice.adapters.room import Room
from edgevoice.adapters.scene import Scene
from edgevoice.adapters.scene_file import load_scene
from edgevoice.adapters.talker import VoiceMaker, rehearse, voice
from edgevoice.core.commands import Transition, TurnRecord
from edgevoice.core.conversation import Conversation
from edgevoice.core.events import RATE
from edgevoice.demo.report import Watch, report
from edgevoice.demo.timeline import Lanes, Span, render
from edgevoice.engines import Workshop
from edgevoice.errors import OutputError
from edgevoice.ports import Synthesiser
from edgevoice.runtime.driver import Recorder
from edgevoice.settings.schema import Settings, tuning
from edgevoice.trace import Recorder as TraceRecorder

Print = Callable[[str], None]


class Narrator(Watch):
    """Prints the conversation as it happens, with state and latency."""

    def __init__(self, say: Print) -> None:
        super().__init__()
        self._say = say

    def moved(self, transition: Transition) -> None:
        """One line for each transition."""
        super().moved(transition)
        at = transition.at - self.started
        target, cause = transition.target.value, transition.cause.value
        self._say(f"{at:7.2f} s  {target:26} {cause}")

    def turn_over(self, record: TurnRecord) -> None:
        """What was said, and how long it took."""
        super().turn_over(record)
        if record.heard:
            self._say(f"           you said:    {record.heard}")
        cut = " — (interrupted)" if record.interrupted else ""
        self._say(f"           it answered: {record.played}{cut}")
        if record.response_ms is not None:
            self._say(f"           first audio {record.response_ms:.0f} ms after you stopped")


def play(settings: Settings, out: Path, say: Sequence[str], scene_file: Path | None) -> int:
    """Hold the conversation; 0 when it came to its end."""
    _make_directory(out)
    scene = _scene(settings, say, scene_file)
    print("loading the engines and rehearsing the talker …", flush=True)
    lines = rehearse(scene.lines, voice(scene.voice, voice_maker(settings)), RATE)
    began = time.monotonic()
    with ExitStack() as stack:
        room = stack.enter_context(Room(scene, lines))
        file = stack.enter_context((out / "events.jsonl").open("w", encoding="utf-8"))
        world = app.World(room.microphone, room.speaker, NullLamps(), NullButton())
        engines = Workshop(settings).all()

        def recorder(core: Conversation) -> Recorder:
            return TraceRecorder(file, tuning(settings), core.since)

        narrator = Narrator(lambda line: print(line, flush=True))
        # A scene sets its timers in a house of its own, not in the owner's.
        state = Path(stack.enter_context(TemporaryDirectory(prefix="edgevoice-")))
        with app.EdgeVoice(settings, world, engines, [narrator], recorder, state) as device:
            ready_s = time.monotonic() - began
            room.ready()
            room.finished.wait()
            process = narrator.process(room.late_steps + device.capture.lost)
        more = {"ready_s": round(ready_s, 2), "starved_blocks": device.play.starved}
        _leave(out, room, narrator, {**process, **more})
    if not room.scene_over:
        print("the talker did not get to say everything: the time was up")
    print(f"left conversation.wav, events.jsonl, report.json and timeline.svg in {out}")
    return 0


def voice_maker(settings: Settings) -> VoiceMaker:
    """The talker may borrow the device's synthesiser; his voice is made another's."""

    def make(file: Path | None, length_scale: float) -> Synthesiser:
        tts = replace(settings.tts, length_scale=length_scale)
        if file is not None:
            tts = replace(tts, voice=str(file))
        return Workshop(replace(settings, tts=tts)).synthesiser()

    return make


def _make_directory(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / "report.json").touch()
    except OSError as error:
        raise OutputError(f"{out}: {error.strerror}", "name another directory") from None


def _scene(settings: Settings, say: Sequence[str], file: Path | None) -> Scene:
    if file is not None:
        return load_scene(file)
    if say:
        first, *others = say
        return Scene.conversation([f"{wake_phrase(settings)}, {first}", *others])
    with as_file(files("edgevoice") / "scenes" / "demo.yaml") as path:
        return load_scene(path)


def wake_phrase(settings: Settings) -> str:
    """What to say to wake it: the model's name in words."""
    return Path(settings.wake_word.model).stem.split("_v0")[0].replace("_", " ")


def _leave(out: Path, room: Room, narrator: Narrator, process: dict[str, float | int]) -> None:
    recording = room.recording
    _write_wav(out / "conversation.wav", recording.microphone, recording.loudspeaker)
    said = [
        {"text": s.text, "start_s": s.start / RATE, "end_s": s.end / RATE, "expect": s.expect.value}
        for s in room.said
    ]
    result = report(narrator.records, process, said=said)
    text = json.dumps(result, indent=2, ensure_ascii=False) + "\n"
    (out / "report.json").write_text(text, encoding="utf-8")
    (out / "timeline.svg").write_text(_timeline(room, narrator), encoding="utf-8")


def _write_wav(path: Path, left: np.ndarray, right: np.ndarray) -> None:
    """16-bit stereo at 16 kHz: the microphone left, the loudspeaker right."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.column_stack((left, right)).astype("<i2").tobytes())


def _timeline(room: Room, narrator: Narrator) -> str:
    began = room.time_of(0)
    user = [Span(s.start / RATE, s.end / RATE, s.text) for s in room.said]
    device = [
        Span(s.start / RATE, s.end / RATE, narrator.words_at(room.time_of(s.end)))
        for s in room.device_spoke
    ]
    until = room.time_of(len(room.recording.microphone))
    lanes = Lanes(user, device, narrator.states(began, until), narrator.marks(began))
    return render(lanes, "edgevoice: a conversation")
