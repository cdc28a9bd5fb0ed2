"""When the talker speaks: what he notices of the device, and whose turn in the script it is.

He has nothing but his ears.  Speech, earcons and ringing are told apart by their
length, so each is known some time after it began and dated back to the sample.
All times are microphone samples.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from edgevoice.adapters.room_acoustics import Signal, gain
from edgevoice.adapters.scene import Cue, Expect, Line
from edgevoice.adapters.talker import Utterance

AUDIBLE = gain(-50)
"""A sample of the loudspeaker above this is heard."""

WINDOW = 40
SPEECH_BLOCKS = 25
"""Sound in so many of the last `WINDOW` blocks of 10 ms is speech; an earcon is shorter."""

PAUSE_S = 0.5
"""Silence that ends the device's speech; shorter ones are between its words."""

HELD_S = 2.0
"""Silence after a line that wants no answer: a held answer comes back within 1.5 s."""

PATIENCE_S = 30.0
"""Silence after which the talker gives up waiting for the device and goes on."""

ALARM_BURSTS = 3
ALARM_S = 4.0
"""So many short sounds within this time are an alarm."""

_SPREAD_S = 0.5  # by then three syllables are known to be speech


@dataclass(slots=True)
class Stretch:
    """Some sound of the device, from its first audible sample to its last (exclusive)."""

    start: int
    end: int


@dataclass(slots=True)
class LoudspeakerWatch:
    """Tells the device's speech, earcons and alarms from the sound of the loudspeaker."""

    rate: int
    speech: list[Stretch] = field(default_factory=list)
    alarms: list[Stretch] = field(default_factory=list)
    now: int = 0
    _recent: deque[Stretch | None] = field(default_factory=lambda: deque(maxlen=WINDOW))
    _bursts: list[Stretch] = field(default_factory=list)

    def hear(self, block: Signal) -> None:
        """Take the next 10 ms of what leaves the loudspeaker."""
        audible = np.flatnonzero(np.abs(block) > AUDIBLE)
        sound = None
        if len(audible):
            sound = Stretch(self.now + int(audible[0]), self.now + int(audible[-1]) + 1)
        self.now += len(block)
        self._recent.append(sound)
        if sound and not self._goes_on(sound):
            self._note_burst(sound)
            self._note_speech(sound)

    @property
    def block(self) -> int:
        """Samples of 10 ms."""
        return self.rate // 100

    @property
    def speaking(self) -> bool:
        """Whether the device speaks now, short pauses included."""
        return bool(self.speech) and self.quiet_since(self.speech[-1].end) < PAUSE_S

    def quiet_since(self, sample: int) -> float:
        """Seconds from ``sample``, or the end of the last speech if that is later, to now."""
        return (self.now - max(sample, self.speech[-1].end if self.speech else 0)) / self.rate

    def _goes_on(self, sound: Stretch) -> bool:
        if not self.speech or sound.start - self.speech[-1].end >= PAUSE_S * self.rate:
            return False
        self.speech[-1].end = sound.end
        return True

    def _note_speech(self, sound: Stretch) -> None:
        sounds = [recent for recent in self._recent if recent]
        if len(sounds) >= SPEECH_BLOCKS:
            self.speech.append(Stretch(sounds[0].start, sound.end))
            self._bursts.clear()

    def _note_burst(self, sound: Stretch) -> None:
        gap = self.rate // 20
        if self._bursts and sound.start - self._bursts[-1].end < gap:
            self._bursts[-1].end = sound.end
            return
        horizon = sound.start - ALARM_S * self.rate
        self._bursts = [burst for burst in self._bursts if burst.start > horizon]
        self._bursts.append(sound)
        spread = sound.start - self._bursts[0].start
        if len(self._bursts) >= ALARM_BURSTS and spread >= _SPREAD_S * self.rate:
            self.alarms.append(Stretch(self._bursts[0].start, sound.end))
            self._bursts.clear()


@dataclass(frozen=True, slots=True)
class Said:
    """A line the talker said: what was audible of it lies in samples start to end.

    ``level_db`` is its active level at the microphone in dB of full scale, ``cued`` is
    false when it was said because the talker had lost patience.
    """

    line: int
    start: int
    end: int
    text: str
    expect: Expect
    level_db: float
    cued: bool = True


@dataclass(frozen=True, slots=True)
class Due:
    """A line about to come: audible from sample ``onset``, its audio ``lead`` samples sooner."""

    line: int
    onset: int
    lead: int
    level_db: float
    cued: bool


@dataclass(slots=True)
class Script:
    """The talker's lines, taken strictly in order."""

    lines: Sequence[Line]
    utterances: Sequence[Utterance]
    watch: LoudspeakerWatch
    said: list[Said] = field(default_factory=list)
    ready: int | None = None
    """When the device was ready; before that the talker says nothing."""

    @property
    def over(self) -> bool:
        """Whether the last line has begun."""
        return len(self.said) == len(self.lines)

    @property
    def quiet(self) -> float:
        """Seconds since either side was last heard to speak."""
        return self.watch.quiet_since(self._before.end)

    @property
    def answered(self) -> bool:
        """Whether the last line needs no answer or has been answered."""
        return not self._before.expect.wants_answer or self._answer() is not None

    def due(self) -> Due | None:
        """The next line, once it is known when it comes."""
        if self.over or self.ready is None:
            return None
        line = self.lines[len(self.said)]
        cue = self._cue(line)
        if cue is not None:
            onset = max(cue + round(line.plus_ms / 1000 * self.watch.rate), self._before.end)
            return self._due(line, onset, cued=True)
        if line.when is not Cue.RINGS and self.quiet > PATIENCE_S:
            return self._due(line, self._before.end, cued=False)
        return None

    def say(self, due: Due, level_db: float) -> None:
        """Note that it was said."""
        utterance = self.utterances[due.line]
        end = due.onset + utterance.end - utterance.onset
        expect = self.lines[due.line].expect
        self.said.append(Said(due.line, due.onset, end, utterance.text, expect, level_db, due.cued))

    def _due(self, line: Line, onset: int, cued: bool) -> Due:
        lead = self.utterances[len(self.said)].onset
        begun = self.watch.now - self.watch.block  # what has been heard cannot be changed
        return Due(len(self.said), max(onset, begun + lead), lead, line.level_db, cued)

    def _cue(self, line: Line) -> int | None:
        assert self.ready is not None
        if line.at is not None:
            return self.ready + round(line.at * self.watch.rate)
        match line.when:
            case Cue.READY:
                return self.ready
            case Cue.DEVICE_STARTS:
                return self._start()
            case Cue.DEVICE_ENDS:
                return self._end()
            case Cue.RINGS:
                return self._alarm()

    @property
    def _before(self) -> Said:
        return self.said[-1] if self.said else self._opening

    @property
    def _opening(self) -> Said:
        """Stands before the first line: the device became ready."""
        ready = self.ready or 0
        return Said(-1, ready, ready, "", Expect.TURN, 0.0)

    def _start(self) -> int | None:
        """Start of the answer to the last line that was not to be ignored.

        What is said over an answer and ignored does not make it another answer, even
        when it is held and goes on.
        """
        asked = [said for said in self.said if said.expect is not Expect.IGNORED]
        answer = self._answer(asked[-1] if asked else self._opening)
        return answer.start if answer else None

    def _end(self) -> int | None:
        """End of the answer to the last line, once it is silent long enough."""
        before, last = self._before, self.watch.speech[-1] if self.watch.speech else None
        if last and last.end > before.end and (not before.expect.wants_answer or self._answer()):
            return last.end if self.quiet >= PAUSE_S else None
        if before.expect.wants_answer or self.quiet < HELD_S:
            return None
        return before.end

    def _alarm(self) -> int | None:
        alarms = [alarm.start for alarm in self.watch.alarms if alarm.start >= self._before.end]
        return alarms[0] if alarms else None

    def _answer(self, line: Said | None = None) -> Stretch | None:
        """The first speech that began after ``line`` did and was still heard after it.

        An earcon or a stop in the middle of the line is neither.
        """
        line = line or self._before
        for stretch in self.watch.speech:
            if stretch.start > line.start and stretch.end > line.end:
                return stretch
        return None
