"""Where the parts meet: build them, start in order, stop in reverse.

Start: the engines are built (`edgevoice.engines`), the speaker and the microphone are
opened, then the stages start from the loudspeaker back to the microphone, so
that nobody posts to a stage that does not run yet.  READY is last, when the
microphone has delivered sound and the core has taken it.  Stop: upstream first,
each stage through its own inbox.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.conversation import Conversation
from edgevoice.core.lamps import pattern
from edgevoice.core.table import Place, State
from edgevoice.engines import Engines, Workshop
from edgevoice.errors import DeviceError
from edgevoice.parts import Parts
from edgevoice.ports import Button, Lamps, Microphone, Speaker
from edgevoice.runtime.driver import Driver, Recorder, Route
from edgevoice.runtime.supervisor import HUNG_AFTER_S, Supervisor
from edgevoice.runtime.watchdog import Counter
from edgevoice.settings.effects import Changes, changes
from edgevoice.settings.schema import Settings, tuning
from edgevoice.skillset import Skills
from edgevoice.stages.capture import Capture, MicrophoneOrder, Reference
from edgevoice.stages.listen import Listen
from edgevoice.stages.play import Play
from edgevoice.stages.recognise import RecogniseStage
from edgevoice.stages.soundcheck import SoundCheck, SoundCounts
from edgevoice.stages.speak import Speak
from edgevoice.stages.think import Think
from edgevoice.stages.tools import Tools
from edgevoice.stages.understand import Understand

log = logging.getLogger(__name__)

_FIRST_SOUND_S = 5.0
"""A microphone that delivers nothing for so long after it was opened is deaf."""

_SWITCH_INTERVAL_S = 0.0005
"""A 10 ms ticker beside two busy Python threads slips 55 ms (p99) at the default of 5 ms."""


@dataclass
class World:
    """Where the house meets the world outside: sound, light and button."""

    microphone: Microphone
    speaker: Speaker
    lamps: Lamps
    button: Button


class Watcher(Protocol):
    """Whoever wants to know what happens: the journal, the demo, the control socket."""

    def moved(self, transition: cmd.Transition) -> None:
        """The conversation moved."""

    def turn_over(self, record: cmd.TurnRecord) -> None:
        """A turn is over."""

    def noticed(self, what: str, fields: Mapping[str, Any]) -> None:
        """Something worth a line; never words that were said."""


class SkillsDevice:
    """The device as skills see it: `edgevoice.ports.Device`."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self.last_answer = ""

    @property
    def volume(self) -> int:
        """Loudness of the voice, 0 to 100."""
        return round(100 * self._play.volume)

    @volume.setter
    def volume(self, percent: int) -> None:
        self._play.volume = percent / 100


class _Thread(Protocol):
    def start(self) -> None: ...

    def stop(self) -> object: ...


class EdgeVoice:
    """The assistant, whole.  Use as a context manager: it runs inside.

    ``state`` is the directory for what survives a restart (None: the daemon's own).
    """

    def __init__(
        self,
        settings: Settings,
        world: World,
        engines: Engines,
        watchers: Sequence[Watcher] = (),
        recorder: Callable[[Conversation], Recorder] | None = None,
        state: Path | None = None,
        hung_after_s: float = HUNG_AFTER_S,
    ) -> None:
        from edgevoice.adapters.follower import ClockFollower
        from edgevoice.adapters.resample import SoxrResampler

        self._world = world
        self._watchers = watchers
        self._closing = ExitStack()
        self._ended = threading.Event()
        self._at_rest = threading.Event()
        self._reloading = threading.Lock()
        """Held while other settings are put in force."""
        self.status = 0
        core = Conversation(tuning(settings), time.monotonic())
        self._core = core
        self.driver = Driver(core, recorder(core) if recorder else None)
        post = self.driver.post
        reference = Reference()
        self.play = Play(post, world.speaker, reference, settings.audio.volume / 100)
        self._device = SkillsDevice(self.play)
        self.skills = Skills(settings, self._device, post, state)
        self.tools = Tools(post, self.skills)
        self._parts = Parts(
            settings, engines, post, self.play, SoxrResampler, lambda: self.skills.offers
        )
        self.understand = Understand(post, self.skills, lambda c: self.think.post(c))
        self.capture = Capture(
            post,
            world.microphone,
            reference,
            SoxrResampler.live,
            lambda heard: self.listen.post_all(heard),
            follower=ClockFollower(),
        )
        self._sound_check = SoundCheck(
            self.sound_counts, lambda what, fields: self._notice(what, **fields)
        )
        self._supervisor = Supervisor(self._parts.by_name, post, hung_after_s)
        self._earcons = settings.audio.earcons
        self.driver.connect(self._routes())

    # -- life -----------------------------------------------------------------------

    def __enter__(self) -> EdgeVoice:
        sys.setswitchinterval(_SWITCH_INTERVAL_S)
        with ExitStack() as stack:
            stack.callback(self._world.lamps.close)
            self._world.lamps.show(pattern(Place.PREPARING))
            self.play.open()
            stack.callback(self._world.speaker.stop)
            self.capture.open()
            stack.callback(self._world.microphone.stop)
            threads: tuple[_Thread, ...] = (
                self.driver,
                self.play,
                self._parts.speak,
                self._parts.think,
                self.understand,
                self._parts.judge_end,
                self._parts.recognise,
                self._parts.listen,
                self.capture,
                self._supervisor,
            )
            for stage in threads:
                stage.start()
                stack.callback(stage.stop)
            self._wait_for_sound()
            self._world.button.start(self._pressed, self._released)
            stack.callback(self._world.button.close)
            stack.callback(self.tools.stop)
            self.skills.start()
            stack.callback(self.skills.stop)
            self._closing = stack.pop_all()
        self.post(ev.Ready(time.monotonic()))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.post(ev.Shutdown(time.monotonic()))
        self._ended.wait(5.0)
        self._closing.close()

    def _wait_for_sound(self) -> None:
        deadline = time.monotonic() + _FIRST_SOUND_S
        while self._core.heard_until == 0:
            if time.monotonic() > deadline:
                raise DeviceError(
                    f"the microphone delivered no sound within {_FIRST_SOUND_S:.0f} s",
                    "choose another with audio.input (edgevoice devices lists them)",
                )
            time.sleep(0.005)

    # -- the stages that run engines, as they are now -----------------------------------

    @property
    def listen(self) -> Listen:
        """Echo cancellation, speech detection and wake word."""
        return self._parts.listen.stage

    @property
    def recognise(self) -> RecogniseStage:
        """Speech to text."""
        return self._parts.recognise.stage

    @property
    def think(self) -> Think:
        """The language model."""
        return self._parts.think.stage

    @property
    def speak(self) -> Speak:
        """Text to speech."""
        return self._parts.speak.stage

    # -- for whoever runs it --------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        """What is in force, but for keys that take a restart."""
        return self._parts.settings

    @property
    def progress(self) -> Mapping[str, Counter]:
        """What must go on for the device to be alive: sound in, decisions, sound out."""
        return {
            "capture": lambda: self.capture.progress,
            "driver": lambda: self.driver.progress,
            "speaker": lambda: self.play.progress,
            "play": lambda: self.play.beat,
        }

    def reload(self, settings: Settings) -> Changes:
        """Put other settings in force, from any thread; no conversation is dropped.

        Engines that they change are built again when nobody talks.  The keys that take a
        restart are in the result.  Raises `edgevoice.errors.ModelError` when a model that
        they name is missing, and `edgevoice.errors.ConfigError` when a tool is broken: then
        nothing has changed.
        """
        with self._reloading:
            changed = changes(self.settings, settings)
            workshop = Workshop(settings)
            workshop.require(changed.parts)
            skills = self.skills.kit(settings)
            skills.warm_up()
            self.skills.use(skills)
            self._parts.settings = settings
            self._parts.set_wake_word(settings.wake_word)
            self._earcons = settings.audio.earcons
            if "audio.volume" in changed.at_once:  # else it stays as it was said
                self.play.volume = settings.audio.volume / 100
            self.post(ev.Retuned(time.monotonic(), tuning(settings)))
            parts = {*changed.parts}
            if "tools" in changed.at_once and workshop.model_uses_tools:
                parts.add("think")  # it is told of the tools when it is built
            self._supervisor.renew(sorted(parts), self._at_rest)
        return changed

    def post(self, event: ev.Event) -> bool:
        """Tell the conversation something, from any thread."""
        return self.driver.post(event)

    def wait(self, timeout: float | None = None) -> bool:
        """Until the conversation asks the process to end; false when it did not in time."""
        return self._ended.wait(timeout)

    def sound_counts(self) -> SoundCounts:
        """What went wrong with the sound so far, and how clocks and echo are (any thread)."""
        echo = self.listen.echo
        return SoundCounts(
            microphone_xruns=self.capture.xruns,
            speaker_xruns=self.play.xruns,
            overruns=self.capture.lost,
            starved=self.play.starved,
            realigned=self.capture.realigned,
            drift_ppm=self.capture.drift.ppm,
            echo_delay_ms=echo.delay_ms if echo.left_db else None,
            echo_left_db=echo.left_db or None,
        )

    def look_after(self) -> None:
        """Whoever waits for the end calls this now and then: it tells of what should be known."""
        self._sound_check.look(time.monotonic())

    def _pressed(self) -> None:
        self.post(ev.ButtonPressed(time.monotonic()))

    def _released(self) -> None:
        self.post(ev.ButtonReleased(time.monotonic()))

    # -- commands ---------------------------------------------------------------------

    def _routes(self) -> dict[type[Any], Route]:
        """Who carries out what."""
        play, capture = self.play, self.capture
        recognise: Route = lambda c: self.recognise.post(c)  # noqa: E731 - the one at work then
        return {
            cmd.Recognise: recognise,
            cmd.FlushRecogniser: recognise,
            cmd.StopRecognising: recognise,
            cmd.JudgeWords: lambda c: self.think.post(c),
            cmd.JudgeEnd: lambda c: self._parts.judge_end.stage.post(c),
            cmd.SetMicrophone: lambda c: capture.post(
                MicrophoneOrder.OPEN if c.open else MicrophoneOrder.CLOSE
            ),
            cmd.Generate: self.understand.post,
            cmd.Prefill: lambda c: self.think.post(c),
            cmd.CancelGeneration: self._stop_thinking,
            cmd.RunTool: self.tools.run,
            cmd.CancelTool: self.tools.cancel,
            cmd.Synthesise: lambda c: self.speak.post(c),
            cmd.EndSpeech: lambda c: self.speak.post(c),
            cmd.CancelSynthesis: lambda c: self.speak.cancel(c.turn),
            cmd.StartPlayback: lambda c: play.let_out(c.turn),
            cmd.HoldPlayback: lambda c: play.hold(c.turn),
            cmd.ResumePlayback: lambda c: play.resume(c.turn, c.position),
            cmd.DropPlayback: lambda c: play.drop(c.turn),
            cmd.PlayEarcon: lambda c: play.chime(c.name) if self._is_heard(c.name) else None,
            cmd.RingOver: self.skills.ring_over,
            cmd.Transition: self._moved,
            cmd.TurnRecord: self._turn_over,
            cmd.Refused: lambda c: self._notice("refused", place=c.place.value, event=c.event),
            cmd.Warn: lambda c: self._notice(c.what, turn=c.turn),
            cmd.RebuildPart: self._rebuild,
            cmd.ReopenDevice: self._reopen,
            cmd.Exit: self._exit,
        }

    def _stop_thinking(self, command: cmd.CancelGeneration) -> None:
        self.understand.cancel(command.turn)
        self.think.cancel(command.turn)

    def _is_heard(self, earcon: str) -> bool:
        """An alarm is no ornament: it sounds whatever the owner thinks of the other sounds."""
        return self._earcons or earcon == "alarm"

    def _moved(self, transition: cmd.Transition) -> None:
        self.listen.device_speaks = transition.target.state is State.SPEAKING
        self.capture.unhurried = transition.target.state is State.IDLE
        if transition.target is Place.IDLE:
            self._at_rest.set()
        else:
            self._at_rest.clear()
        self._world.lamps.show(pattern(transition.target, self._core.fault_kind))
        for watcher in self._watchers:
            watcher.moved(transition)

    def _turn_over(self, record: cmd.TurnRecord) -> None:
        if record.heard and record.answered:
            self._device.last_answer = record.answered
        for watcher in self._watchers:
            watcher.turn_over(record)

    def _notice(self, what: str, **fields: Any) -> None:
        for watcher in self._watchers:
            watcher.noticed(what, fields)

    def _reopen(self, command: cmd.ReopenDevice) -> None:
        if command.device is ev.Device.MICROPHONE:
            self.capture.post(MicrophoneOrder.REOPEN)
        else:
            self._aside(self.play.reopen)

    def _aside(self, work: Callable[[], None]) -> None:
        """What takes long must not keep the driver."""
        threading.Thread(target=work, name="aside", daemon=True).start()

    def _rebuild(self, command: cmd.RebuildPart) -> None:
        self._notice("rebuild", part=command.part)
        self._supervisor.rebuild(command.part)

    def _exit(self, command: cmd.Exit) -> None:
        self.status = command.status
        self._ended.set()
