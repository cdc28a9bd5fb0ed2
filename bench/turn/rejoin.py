"""What becomes of sentences that are cut off, when the rest of them follows.

The whole device in a room, in paced time: it answers in the pause, aloud, and the talker speaks
on into that.  A cut-off is *mended* when the device takes its answer back and goes on with the
same sentence, or had heard its last word already; else its two halves are two questions, or
one of them is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bench.latency import SCENE, SETTINGS
from bench.lockstep import RATE, Step
from bench.paced import PacedDevice
from bench.questions import House
from bench.rows import Row, row
from bench.turn.material import sentences
from bench.turn.sound import Spoken, audible
from edgevoice.adapters import talker
from edgevoice.adapters.room_acoustics import active_level
from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.lexicon import words
from edgevoice.core.table import Cause, Place, State
from edgevoice.settings.keys import build
from edgevoice.settings.schema import PROFILES

PROFILES_COMPARED = ("default", "aggressive")
_FIRST_WORDS = "Good morning. Now that I have heard what this room sounds like, you can ask."
"""Before its first second of speech is over nobody can interrupt it."""
_SETTLE_S = 0.8
_PATIENCE_S = 9.0
_ANSWERED_S = 2.5
"""Longer than any wait for the end of a turn."""


@dataclass(frozen=True)
class Fate:
    """What a pause in mid-sentence led to."""

    cut: bool
    mended: bool = False
    over_ms: float = 0.0
    """Sound of the answer until it fell silent for the rest of the sentence."""


@dataclass
class Watcher:
    """Notes what the device does, with its time."""

    moves: list[cmd.Transition] = field(default_factory=list)
    started: dict[int, float] = field(default_factory=dict)
    """When each answer was first heard."""
    stopped: dict[int, float] = field(default_factory=dict)
    """When it was held or dropped at last."""
    answered: dict[int, list[str]] = field(default_factory=dict)
    """The words each answer is for."""

    def __call__(self, step: Step) -> None:
        """One step of the conversation."""
        event = step.event
        if isinstance(event, ev.PlaybackStarted):
            self.started[event.turn] = event.at
        elif isinstance(event, (ev.PlaybackHeld, ev.PlaybackDropped)):
            self.stopped.setdefault(event.turn, event.at)
        for command in step.commands:
            if isinstance(command, cmd.Transition):
                self.moves.append(command)
            elif isinstance(command, cmd.TurnRecord):
                self.answered[command.turn] = words(command.heard)

    def fate(self, start: float, until: float, last: str) -> Fate:
        """Of the pause from ``start`` on; the next one, or the end, is at ``until``.

        A recogniser may have guessed ``last``, with which the sentence ends, from what came
        before it: whoever says it into the answer is not heard, and need not be.
        """
        decided = next((m for m in self.moves if _ends_turn(m) and start <= m.at < until), None)
        if decided is None:
            return Fate(cut=False)
        after = self.moves[self.moves.index(decided) :]
        causes = (Cause.USER_RESUMED, Cause.USER_INTERRUPT)
        end = next((m for m in after if m.cause in causes), None)
        if end is None:
            return Fate(cut=True, mended=self.answered.get(decided.turn, [])[-1:] == [last])
        over = self.stopped.get(end.turn, 0.0) - self.started.get(end.turn, 0.0)
        return Fate(cut=True, mended=end.cause is Cause.USER_RESUMED, over_ms=over * 1000)


def _ends_turn(move: cmd.Transition) -> bool:
    return move.source is Place.LISTENING and move.target.state is State.PROCESSING


def rows() -> list[Row]:
    """The figures of both profiles; takes a few minutes."""
    house, spoken = House(SCENE, SETTINGS), sentences()
    return [
        figure
        for profile in PROFILES_COMPARED
        for figure in figures(profile, list(hold(house, profile, spoken)))
    ]


def figures(profile: str, fates: Sequence[Fate]) -> list[Row]:
    """Cut-offs, and how many of them were not mended, in percent of the pauses."""
    cuts = [fate for fate in fates if fate.cut]
    share = 100 * len(cuts) / len(fates)
    lost = 100 * sum(not fate.mended for fate in cuts) / len(fates)
    over = [fate.over_ms for fate in cuts if fate.mended]
    name = f"{profile}, answering aloud"
    n = {"n": len(fates)}
    return [
        row("turn", f"{name}: cut-offs", "%", [share]) | n,
        row("turn", f"{name}: cut-offs that were not mended", "%", [lost], baseline=share) | n,
        row("turn", f"{name}: its own sound until it heard on", "ms", over or [0.0]),
    ]


def hold(house: House, profile: str, spoken: Sequence[Spoken]) -> Iterator[Fate]:
    """Say each sentence to a device that has just been called."""
    watcher = Watcher()
    utterances = [_utterance(each) for each in spoken]
    device = house.device(build(PROFILES[profile]), utterances, watcher)
    device.run(_SETTLE_S)
    device.post(ev.Say(device.now, _FIRST_WORDS))
    _until_idle(device)
    for number, each in enumerate(spoken):
        device.post(ev.EndConversation(device.now))
        device.post(ev.StartConversation(device.now))
        device.run(_SETTLE_S)
        onset, end = device.speak(number, 0.0)
        device.run(end / RATE - device.now)
        _until_idle(device)
        before = onset - utterances[number].onset
        starts = [(before + pause.start) / RATE for pause in each.pauses]
        last = words(each.text)[-1]
        for start, until in zip(starts, [*starts, end / RATE][1:], strict=True):
            yield watcher.fate(start, until, last)


def _until_idle(device: PacedDevice) -> None:
    """Let it answer, and the silence after that pass."""
    began = device.now
    while device.now < began + _PATIENCE_S:
        device.step()
        if device.idles and device.now > began + _ANSWERED_S:
            return


def _utterance(spoken: Spoken) -> talker.Utterance:
    onset, end = audible(spoken.signal)
    audio = spoken.signal / active_level(spoken.signal[onset:end], RATE)
    return talker.Utterance(spoken.text, audio, onset, end)
