"""Every destination that the table names is a place that somebody comes to.

First what users and accidents can do everywhere, then what is rare, told step
by step, then some ten thousand events at random for the rest.  A destination
that is left over is one that the table should not name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

import pytest

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.events import Device, FaultKind
from edgevoice.core.table import TABLE, Cause, Place
from edgevoice.core.tuning import Tuning
from tests.core.reach import REACH
from tests.core.talk import WORD, Talk
from tests.core.world import TUNINGS, Chaos, Model

Move = tuple[Place, str, Place]
P = Place
SEEDS = 80
STEPS = 40


class Watched(Talk):
    """A talk that a model looks at."""

    def __init__(self, tuning: Tuning | None = None, *, ready: bool = True) -> None:
        super().__init__(tuning, ready=False)
        self.model = Model(self.core)
        self.length = 0
        if ready:
            self.feed(ev.Ready(0.0))

    def feed(self, event: ev.Event) -> list[cmd.Command]:
        commands = self.model.handle(event)
        self.done += commands
        return commands

    def fault(self, kind: FaultKind, fatal: bool = False) -> None:
        self.feed(ev.Fault(self.now, kind, "think", "boom", fatal))

    def lose(self, device: Device) -> None:
        self.feed(ev.DeviceLost(self.now, device))

    def find(self, device: Device) -> None:
        self.feed(ev.DeviceFound(self.now, device))

    def rebuilt(self) -> None:
        self.feed(ev.PartRebuilt(self.now, "think"))

    def mute(self) -> None:
        self.feed(ev.Mute(self.now))

    def unmute(self) -> None:
        self.feed(ev.Unmute(self.now))

    def question(self) -> None:
        self.feed(ev.Ask(self.now, "what is new"))

    def call(self, long_running: bool = False) -> None:
        self.feed(ev.ToolCalled(self.now, self.turn, 1, "clock", "{}", long_running))

    def come_back(self, result: str = "noon") -> None:
        owner = self.core.parked or self.core.answer
        assert owner is not None
        self.feed(ev.ToolDone(self.now, owner.turn, 1, result))

    def ring(self) -> None:
        self.feed(ev.Rings(self.now, 1, "Your tea is ready."))

    def progress(self) -> None:
        """A task, of which the progress is being spoken."""
        self.asked()
        self.call(long_running=True)
        self.ticks()
        self.synthesise()
        assert self.place is P.PLAYING
        self.wait(0.3)

    def held(self, text: str = "", position: int = 0) -> None:
        self.speak(0.06)
        assert self.place is P.HELD
        self.held_at(position)
        if text:
            self.hear(text)


def at(place: Place, tuning: Tuning | None = None) -> Watched:
    talk = Watched(tuning, ready=place is not P.PREPARING)
    REACH[place](talk)
    assert talk.place is place
    return talk


# -- everywhere ---------------------------------------------------------------------------


EVERYWHERE: dict[str, Callable[[Watched], object]] = {
    "shutdown": lambda t: t.feed(ev.Shutdown(t.now)),
    "fatal": lambda t: t.fault(FaultKind.ENGINE, fatal=True),
    "engine": lambda t: t.fault(FaultKind.ENGINE),
    "speech": lambda t: t.fault(FaultKind.TTS),
    "tool": lambda t: t.fault(FaultKind.TOOL),
    "lost": lambda t: t.lose(Device.SPEAKER),
    "mute": Watched.mute,
    "suspend": lambda t: t.feed(ev.Suspend(t.now, "reload")),
    "end": lambda t: t.feed(ev.EndConversation(t.now)),
    "interrupt": lambda t: t.feed(ev.Interrupt(t.now)),
    "wake": Watched.wake,
    "press": Watched.press,
    "time": lambda t: t.pass_time(400),
}


def everywhere() -> Iterable[Watched]:
    for place in Place:
        for what in EVERYWHERE.values():
            talk = at(place)
            what(talk)
            yield talk


def there_and_back() -> Iterable[Watched]:
    """Every place is left for a while, and come back to."""
    ways: list[tuple[Callable[[Watched], object], Callable[[Watched], object]]] = [
        (Watched.mute, Watched.unmute),
        (Watched.mute, Watched.press),
        (EVERYWHERE["suspend"], lambda t: t.feed(ev.Resume(t.now))),
        (EVERYWHERE["suspend"], lambda t: t.pass_time(40)),
        (EVERYWHERE["lost"], lambda t: t.find(Device.SPEAKER)),
        (EVERYWHERE["engine"], Watched.rebuilt),
        (_forgotten, lambda t: t.feed(ev.Resume(t.now))),
    ]
    for place in Place:
        for leave, back in ways:
            for meanwhile in (None, Watched.question):
                talk = at(place)
                leave(talk)
                if meanwhile is not None:
                    meanwhile(talk)
                back(talk)
                yield talk


def _forgotten(talk: Watched) -> None:
    """Suspended for so long that it recovers by itself, in a moment."""
    talk.feed(ev.Suspend(talk.now, "reload"))
    talk.pass_time(30)


# -- told step by step ----------------------------------------------------------------------


def double_click(place: Place) -> Watched:
    """Two clicks mute wherever the second one ends."""
    talk = Watched()
    talk.press()
    talk.release()
    if place is P.INTERRUPTED:
        _speak_at_once(talk)
    talk.press()
    if place is P.IDLE:
        talk.feed(ev.EndConversation(talk.now))
    elif place is not P.LISTENING:
        _go_on(talk, place)
    assert talk.place is place
    talk.release()
    assert talk.place is P.SUSPENDED
    return talk


def _go_on(talk: Watched, place: Place) -> None:
    if place in (P.PLAYING, P.HELD):
        _speak_at_once(talk)
        if place is P.HELD:
            talk.speak(0.06)
    elif place in (P.TOOL_EXECUTING, P.WAITING_FOR_TASK):
        talk.question()
        talk.call(long_running=place is P.WAITING_FOR_TASK)
    elif place is P.WAITING_FOR_LLM:
        talk.question()


def _speak_at_once(talk: Watched) -> None:
    talk.question()
    talk.tokens("The sea is deep. It is old.")
    talk.synthesise()


def lost_while_muted(back: Callable[[Watched], object]) -> Watched:
    talk = Watched()
    talk.mute()
    talk.lose(Device.MICROPHONE)
    assert talk.place is P.SUSPENDED
    back(talk)
    assert talk.place is P.RECOVERING
    return talk


def muted_while_recovering(lost: Device) -> Watched:
    talk = Watched()
    talk.lose(lost)
    talk.mute()
    talk.find(lost)
    talk.fault(FaultKind.ENGINE)
    talk.rebuilt()
    assert talk.place is P.SUSPENDED
    return talk


def down(*meanwhile: Callable[[Watched], object], back: str, always: bool = False) -> Watched:
    """FAULTED after too long a recovery, a new start, and then it works again."""
    talk = Watched(TUNINGS["all"] if always else None)
    if back == "find":
        talk.lose(Device.SPEAKER)
    else:
        talk.fault(FaultKind.ENGINE)
    talk.pass_time(35)
    assert talk.place is P.FAULTED
    for act in meanwhile:
        act(talk)
    if back == "found early":
        talk.rebuilt()
        talk.pass_time(11)
        return talk
    talk.pass_time(11)
    assert talk.place is P.PREPARING
    talk.find(Device.SPEAKER) if back == "find" else talk.rebuilt()
    return talk


def starts() -> Iterable[Watched]:
    for back in ("find", "rebuild", "found early"):
        for meanwhile in ([], [Watched.mute], [Watched.question]):
            yield down(*meanwhile, back=back)
    for tuning in (None, TUNINGS["always"]):
        for meanwhile in (Watched.mute, Watched.question):
            talk = Watched(tuning, ready=False)
            meanwhile(talk)
            talk.feed(ev.Ready(talk.now))
            yield talk


def talked_over(decide: Callable[[Watched], object], back: bool = False) -> Watched:
    """A progress line is talked over: the task goes on, or its result is taken."""
    talk = Watched()
    talk.progress()
    if back:
        talk.come_back()
    talk.held()
    decide(talk)
    wanted = P.WAITING_FOR_LLM if back else P.WAITING_FOR_TASK
    assert talk.place is wanted, talk.place
    return talk


def echo_that_was_none(
    back: bool = False, parked: bool = True, result: str = "noon", rings: bool = False
) -> Watched:
    """The words are the device's own by what is known at first; then it is known better."""
    talk = Watched()
    if parked:
        talk.progress()
    else:
        talk.answering()
    talk.ring() if rings else None
    if back:
        talk.come_back(result)
    said = [w.text for w in talk.core.the_answer.spoken[:3]]
    talk.held(position=3 * WORD)
    talk.hear(" ".join(said).lower())
    assert talk.place is P.HELD
    talk.held_at(0)
    talk.pass_time(1.6)
    return talk


def ends_in_hold(kind: str) -> Watched:
    """The last word was spoken just when the user began: what was waited for comes next."""
    talk = Watched()
    if kind == "task":
        talk.progress()
    elif kind == "plain":
        talk.answering()
    else:
        talk.asked()
        talk.feed(ev.Token(talk.now, talk.turn, "Let me look. I am "))
        talk.call()
        talk.synthesise()
        if kind == "result":
            talk.come_back()
        talk.wait(0.3)
    talk.held()
    talk.feed(ev.PlaybackDone(talk.now, talk.turn, talk.length))
    return talk


def listening_to_the_end() -> Iterable[Watched]:
    for waits in (False, True):
        talk = Watched()
        talk.press()
        talk.wait(0.5)
        talk.core.questions.extend(["what is new"] if waits else [])
        talk.release()
        talk.hear("", final=True)
        yield talk


DRAFTS: dict[Place, Callable[[Watched], object]] = {
    P.WAITING_FOR_LLM: lambda t: None,
    P.PLAYING: lambda t: (t.tokens("It is wide. It is deep."), t.synthesise()),
    P.TOOL_EXECUTING: Watched.call,
    P.WAITING_FOR_TASK: lambda t: t.call(long_running=True),
    P.IDLE: lambda t: t.feed(ev.ReplyDone(t.now, t.turn)),
}
"""What a draft may have brought, and where that leads."""


def drafted(place: Place, *, timed_out: bool, waits: bool = False) -> Watched:
    """The turn ends, by the policy or because it was too long, and a draft is there."""
    talk = Watched()
    talk.drafting(seconds=29.5 if timed_out else 1.0)
    DRAFTS[place](talk)
    talk.core.questions.extend(["what is new"] if waits else [])
    talk.wait(0.4)
    assert talk.place is (P.WAITING_FOR_LLM if waits else place)
    cause = Cause.TURN_TIMEOUT if timed_out else Cause.TURN_SPEAK
    assert cause in talk.causes
    return talk


def drafts() -> Iterable[Watched]:
    for timed_out in (False, True):
        for place in DRAFTS:
            yield drafted(place, timed_out=timed_out)
        yield drafted(P.IDLE, timed_out=timed_out, waits=True)


def unspeakable() -> Watched:
    """The voice fails before the answer is heard."""
    talk = at(P.WAITING_FOR_LLM)
    talk.feed(ev.Token(talk.now, talk.turn, "The sea is deep. It "))
    talk.fault(FaultKind.TTS)
    assert talk.place is P.LISTENING
    return talk


def slow_task() -> Watched:
    """No result for five minutes, though it lives and its progress is told."""
    talk = at(P.WAITING_FOR_TASK)
    for _ in range(400):
        talk.pass_time(1)
        if talk.core.parked is not None and talk.place is P.WAITING_FOR_TASK:
            talk.synthesise()
            talk.finish()
    return talk


def stuck() -> Watched:
    """The player never tells that it is over."""
    talk = at(P.PLAYING)
    talk.pass_time(400)
    return talk


def always_listening() -> Watched:
    talk = Watched(TUNINGS["always"])
    talk.wait(6)
    assert talk.place is P.IDLE
    talk.speak(0.3)
    assert talk.place is P.LISTENING
    return talk


def soft_ack() -> Watched:
    talk = at(P.PLAYING)
    talk.held()
    talk.say("yeah", seconds=0.2)
    talk.wait(0.5)
    assert talk.place is P.PLAYING
    return talk


def soft_ack_whose_last_word_is_late() -> Watched:
    talk = at(P.PLAYING)
    talk.held()
    talk.wait(0.5)
    talk.hear("yeah", final=True)
    assert talk.place is P.PLAYING
    return talk


def voiceless() -> Watched:
    talk = at(P.WAITING_FOR_LLM)
    talk.tokens("The sea is deep.")
    talk.fault(FaultKind.TTS)
    assert talk.place is P.LISTENING
    return talk


def step_by_step() -> Iterable[Watched]:
    yield always_listening()
    yield soft_ack()
    yield soft_ack_whose_last_word_is_late()
    yield voiceless()
    for place in (P.IDLE, P.LISTENING, P.WAITING_FOR_LLM, P.TOOL_EXECUTING, P.WAITING_FOR_TASK):
        yield double_click(place)
    for place in (P.PLAYING, P.HELD, P.INTERRUPTED):
        yield double_click(place)
    yield lost_while_muted(Watched.unmute)
    yield lost_while_muted(Watched.press)
    yield muted_while_recovering(Device.SPEAKER)
    yield from starts()
    yield talked_over(lambda t: t.hear("what about lunch"))
    yield talked_over(lambda t: t.hear("what about lunch"), back=True)
    yield talked_over(lambda t: t.speak(0.9))
    yield talked_over(lambda t: t.speak(0.9), back=True)
    yield echo_that_was_none(parked=False)
    yield echo_that_was_none()
    yield echo_that_was_none(back=True)
    for kind in ("task", "plain", "tool", "result"):
        yield ends_in_hold(kind)
    yield from listening_to_the_end()
    yield from drafts()
    yield unspeakable()
    yield slow_task()
    yield stuck()
    yield rung_off()
    yield rung_off_with_a_question()
    yield goodbye_and_rings()
    yield rings_after_words_that_failed()
    yield rings_after_a_tool_was_called_off()
    yield rung_off_by_a_last_word()
    yield from ends_and_rings()
    for rings in (False, True):
        yield from nothing_to_tell(rings)
        yield called_off(rings)


def nothing_to_tell(rings: bool) -> Iterable[Watched]:
    """A tool that has nothing to say closes the conversation; what waits to ring does so."""
    ways: list[Callable[[Watched], object]] = [
        lambda t: t.hear("what about lunch"),
        lambda t: t.speak(0.9),
        lambda t: t.feed(ev.PlaybackDone(t.now, t.turn, t.length)),
    ]
    for way in ways:
        talk = Watched()
        talk.progress()
        talk.ring() if rings else None
        talk.come_back("")
        talk.held()
        way(talk)
        assert talk.place is (P.LISTENING if rings else P.IDLE)
        yield talk
    yield echo_that_was_none(back=True, result="", rings=rings)
    talk = at(P.TOOL_EXECUTING)
    talk.ring() if rings else None
    talk.come_back("")
    yield talk


def called_off(rings: bool) -> Watched:
    """The model thinks about what a tool has brought, and is told to stop."""
    talk = at(P.TOOL_EXECUTING)
    talk.ring() if rings else None
    talk.come_back()
    talk.hear("stop")
    assert talk.place is (P.LISTENING if rings else P.IDLE)
    return talk


def ends_and_rings() -> Iterable[Watched]:
    """The owner closes the conversation; what has waited for a pause rings."""
    for place in (P.LISTENING, *_BUSY):
        talk = at(place)
        talk.ring()
        talk.feed(ev.EndConversation(talk.now))
        yield talk


_BUSY = (P.WAITING_FOR_LLM, P.TOOL_EXECUTING, P.WAITING_FOR_TASK, P.PLAYING, P.HELD)


def rung_off() -> Watched:
    """The button stops an alarm."""
    talk = at(P.IDLE)
    talk.ring()
    assert talk.place is P.LISTENING
    talk.press()
    assert talk.place is P.IDLE
    return talk


def rung_off_with_a_question() -> Watched:
    """The words of an alarm are talked over, a question is typed, the button stops it all."""
    talk = at(P.IDLE)
    talk.ring()
    talk.wait(2.1)
    talk.synthesise()
    talk.held("what is that")
    assert talk.place is P.INTERRUPTED
    talk.question()
    talk.pass_time(0.1)
    assert talk.place is P.LISTENING
    talk.press()
    assert talk.place is P.WAITING_FOR_LLM
    return talk


def rings_after_words_that_failed() -> Watched:
    """A timer is due while an announcement is made that comes to nothing."""
    talk = at(P.IDLE)
    talk.feed(ev.Say(talk.now, "Rain is coming."))
    talk.ring()
    talk.pass_time(9)
    assert talk.core.rings[0].began
    return talk


def rings_after_a_tool_was_called_off() -> Watched:
    talk = at(P.TOOL_EXECUTING)
    talk.ring()
    talk.hear("stop")
    assert talk.place is P.LISTENING
    return talk


def goodbye_and_rings() -> Watched:
    """A timer is due while somebody says goodbye."""
    talk = at(P.LISTENING)
    talk.speak(0.6)
    talk.hear("goodbye", final=True)
    talk.ring()
    assert not talk.core.rings[0].began
    talk.wait(2)
    assert talk.core.rings[0].began
    assert talk.place is P.LISTENING
    return talk


def rung_off_by_a_last_word() -> Watched:
    """What was taken for a question to the device was meant for the alarm; another one waits."""
    talk = at(P.IDLE)
    talk.ring()
    talk.wake()
    talk.ask("what about lunch")
    talk.question()
    talk.hear("thank you", final=True)
    assert not talk.core.rings
    assert talk.place is P.WAITING_FOR_LLM
    return talk


# -- at random ------------------------------------------------------------------------------


def at_random() -> Iterable[Watched]:
    for seed in range(SEEDS):
        for place in Place:
            talk = at(place)
            _chaos(talk, Random(f"{place.value} {seed}"))
            yield talk


def _chaos(talk: Watched, random: Random) -> None:
    chaos = Chaos(talk.core, random)
    chaos.at, chaos.sample = talk.now, talk.sample
    for answer in (talk.core.answer, talk.core.closing):
        if answer is not None:
            chaos.begin_after(answer.turn, len(answer.text), talk.length)
    for _ in range(STEPS):
        for event in chaos.events():
            talk.feed(event)


def moves_of(talks: Iterable[Watched]) -> set[Move]:
    return {move for talk in talks for move in talk.model.moves}


def test_every_destination_of_the_table_is_reached():
    wanted = {
        (place, event.__name__, target)
        for place, rows in TABLE.items()
        for event, row in rows.items()
        for target in row.to
    }
    seen = moves_of(everywhere()) | moves_of(there_and_back()) | moves_of(step_by_step())
    told = len(seen)
    seen |= moves_of(at_random())
    unseen = sorted(f"{a.value} --{e}--> {b.value}" for a, e, b in wanted - seen)
    assert not unseen, f"{told} told, {len(seen)} seen of {len(wanted)}"
    assert seen <= wanted


@pytest.mark.parametrize("always", [False, True])
def test_a_new_start_after_a_fault_needs_nobody(always):
    assert down(back="rebuild", always=always).place is P.IDLE


def test_a_task_has_five_minutes_in_all_however_much_is_said_of_it():
    talk = slow_task()
    began = next(m.at for m in talk.all(cmd.Transition) if m.target is P.WAITING_FOR_TASK)
    ended = [m.at for m in talk.all(cmd.Transition) if m.cause.value == "tool.result"]
    assert ended[0] - began == pytest.approx(300, abs=2)
    lines = [c.text for c in talk.all(cmd.Synthesise)]
    assert lines[:4] == [*talk.core.lexicon.progress, talk.core.lexicon.progress[-1]]
