"""A world without mercy: any event at any time, and a model of what must hold.

`Chaos` makes up events, likely ones more often than odd ones, from whatever
chooses: a seeded generator or Hypothesis.  `Model` watches events and commands
from outside and knows nothing of how the core works.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Protocol, TypeVar

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.conversation import KEPT_TRANSITIONS, Conversation
from edgevoice.core.events import RATE, Device, FaultKind, SpokenWord, Word
from edgevoice.core.table import TABLE, Place, may_move
from edgevoice.core.tuning import DeadAir, Tuning
from tests.core.causes import GIVES, LEADS_TO

T = TypeVar("T")
FRAME = RATE // 50

TUNINGS = {
    "default": Tuning(),
    "always": replace(Tuning(), activation=frozenset({"always"})),
    "button": replace(Tuning(), activation=frozenset({"button"})),
    "all": replace(
        Tuning(),
        activation=frozenset({"always", "button", "wake_word"}),
        dead_air=DeadAir(enabled="on"),
    ),
}


class Chooser(Protocol):
    """What `random.Random` and Hypothesis have in common here."""

    def choice(self, options: Sequence[T], /) -> T:
        """One of them."""


# -- events -------------------------------------------------------------------------

Make = Callable[["Chaos"], ev.Event]

EVENTS: dict[type[ev.Event], Make] = {
    ev.Ready: lambda w: ev.Ready(w.at),
    ev.Tick: lambda w: ev.Tick(w.at),
    ev.Fault: lambda w: ev.Fault(
        w.at,
        w.pick(*FaultKind),
        w.pick("think", "speak", "speaker", "recognise"),
        "boom",
        fatal=w.pick(*[False] * 40, True),
        turn=w.pick(None, w.turn),
    ),
    ev.PartRebuilt: lambda w: ev.PartRebuilt(
        w.at, w.pick(*sorted(w.core.broken), "think", "speak")
    ),
    ev.Retuned: lambda w: ev.Retuned(w.at, w.pick(*TUNINGS.values())),
    ev.DeviceLost: lambda w: ev.DeviceLost(w.at, w.pick(*Device)),
    ev.DeviceFound: lambda w: ev.DeviceFound(
        w.at, w.pick(*sorted(w.core.lost, key=lambda d: d.value), *Device)
    ),
    ev.ButtonPressed: lambda w: ev.ButtonPressed(w.at),
    ev.ButtonReleased: lambda w: ev.ButtonReleased(w.at),
    ev.StartConversation: lambda w: ev.StartConversation(w.at),
    ev.EndConversation: lambda w: ev.EndConversation(w.at),
    ev.Interrupt: lambda w: ev.Interrupt(w.at),
    ev.Mute: lambda w: ev.Mute(w.at),
    ev.Unmute: lambda w: ev.Unmute(w.at),
    ev.Suspend: lambda w: ev.Suspend(w.at, "reload"),
    ev.Resume: lambda w: ev.Resume(w.at),
    ev.Say: lambda w: ev.Say(w.at, w.pick("The tea is ready.", "Rain is coming.", "")),
    ev.Rings: lambda w: ev.Rings(w.at, w.pick(1, 2), "Your tea is ready."),
    ev.Ask: lambda w: ev.Ask(w.at, w.pick("what is new", "how are you", " ")),
    ev.Shutdown: lambda w: ev.Shutdown(w.at),
    ev.SoundFrame: lambda w: w.frame(w.pick(0.001, 0.01, 0.1), w.pick(0.02, 0.4, 0.95)),
    ev.WakeHeard: lambda w: ev.WakeHeard(w.at, "hey_jarvis", 0.9, w.sample),
    ev.Transcript: lambda w: w.transcript(),
    ev.TurnVerdict: lambda w: ev.TurnVerdict(w.at, w.turn, w.pick(0.1, 0.9), w.sample),
    ev.WordsVerdict: lambda w: ev.WordsVerdict(w.at, w.turn, w.pick(0.0, 0.1, 0.9), w.sample),
    ev.Token: lambda w: ev.Token(w.at, w.turn, w.pick("The sea ", "is deep. ", "And, ", "👍 ")),
    ev.ReplyDone: lambda w: ev.ReplyDone(w.at, w.turn, w.pick("stop", "length")),
    ev.ToolCalled: lambda w: ev.ToolCalled(
        w.at, w.turn, w.pick(*range(6)), "clock", "{}", w.pick(False, True), w.pick(False, True)
    ),
    ev.TaskBeat: lambda w: ev.TaskBeat(w.at, w.turn, w.call),
    ev.ToolDone: lambda w: ev.ToolDone(
        w.at,
        w.turn,
        w.call,
        w.pick("noon", "x" * 5000, "", '{"error": "x"}'),
        w.pick("", "It is noon."),
    ),
    ev.PieceBuffered: lambda w: w.piece(),
    ev.PlaybackStarted: lambda w: ev.PlaybackStarted(w.at, w.turn),
    ev.PlaybackHeld: lambda w: ev.PlaybackHeld(w.at, w.turn, w.position),
    ev.PlaybackDropped: lambda w: ev.PlaybackDropped(w.at, w.turn, w.position),
    ev.PlaybackDone: lambda w: ev.PlaybackDone(w.at, w.turn, w.position),
}

SAID = (
    "",
    "yes",
    "tell me about the sea",
    "stop",
    "okay",
    "thank you",
    "turn off the alarm",
    "what about the moon and",
    "uh huh",
    "no wait tell me more",
)

RARE = (
    ev.Shutdown, ev.Fault, ev.DeviceLost, ev.Suspend, ev.Mute, ev.EndConversation, ev.Retuned,
)  # fmt: skip
"""These end what goes on; too many of them and nothing goes on."""


LIKELY: dict[Place, tuple[type[ev.Event], ...]] = {
    Place.PREPARING: (ev.Ready, ev.DeviceFound, ev.PartRebuilt),
    Place.IDLE: (
        ev.WakeHeard, ev.StartConversation, ev.ButtonPressed, ev.Say, ev.Ask, ev.Rings,
    ),
    Place.LISTENING: (
        ev.Transcript, ev.Transcript, ev.ButtonReleased, ev.PieceBuffered, ev.PieceBuffered,
        ev.Token, ev.ReplyDone, ev.ToolCalled,
    ),
    Place.WAITING_FOR_LLM: (ev.Token, ev.Token, ev.ReplyDone, ev.ToolCalled, ev.PieceBuffered),
    Place.TOOL_EXECUTING: (ev.ToolDone, ev.PieceBuffered, ev.Transcript, ev.ToolCalled),
    Place.WAITING_FOR_TASK: (ev.TaskBeat, ev.ToolDone, ev.PieceBuffered, ev.Tick, ev.Transcript),
    Place.PLAYING: (
        ev.Token, ev.ReplyDone, ev.PieceBuffered, ev.PlaybackStarted, ev.PlaybackDone,
        ev.PlaybackDone, ev.ToolCalled, ev.ToolDone,
    ),
    Place.HELD: (ev.Transcript, ev.PlaybackHeld, ev.PlaybackDone, ev.ReplyDone, ev.ToolCalled),
    Place.INTERRUPTED: (ev.PlaybackDropped, ev.Tick, ev.Transcript, ev.ButtonReleased),
    Place.SUSPENDED: (
        ev.Unmute, ev.Resume, ev.ButtonPressed, ev.PlaybackHeld, ev.PieceBuffered, ev.ToolCalled,
        ev.Token,
    ),
    Place.RECOVERING: (ev.DeviceFound, ev.PartRebuilt, ev.Resume, ev.PieceBuffered, ev.Token),
    Place.FAULTED: (ev.Tick, ev.DeviceFound, ev.PartRebuilt, ev.Unmute),
    Place.TERMINATING: (ev.Tick,),
}  # fmt: skip
"""What brings a conversation on."""


class Chaos:
    """Makes up the next event for a conversation."""

    def __init__(self, core: Conversation, chooser: Chooser) -> None:
        self.core = core
        self._chooser = chooser
        self.at = core.now
        self.sample = 0
        self._buffered: dict[int, tuple[int, int]] = {}

    def pick(self, *options: T) -> T:
        return self._chooser.choice(options)

    def events(self) -> list[ev.Event]:
        """What happens next: one event, or some frames of voice or silence."""
        self.at += self.pick(0.0, 0.0, 0.0, 0.01, 0.02, 0.02, 0.3, 1.0, -0.5, 6.0)
        way = self.pick(*"ffflllllllllrrrto")
        if way == "f" or (self.core.draft is not None and self.pick(True, False)):
            return self._sound()
        if way == "t" and self.core.deadline is not None:
            self.at = max(self.at, self.core.deadline)
            return [ev.Tick(self.at)]
        if way == "l":
            kinds: tuple[type[ev.Event], ...] = LIKELY[self.core.place]
        elif way == "r":
            rare = self.pick(*[False] * 5, True)
            kinds = tuple(k for k in TABLE[self.core.place] if rare or k not in RARE)
        else:
            kinds = tuple(k for k in EVENTS if k is not ev.Shutdown)
        return [EVENTS[self.pick(*kinds)](self)]

    def _sound(self) -> list[ev.SoundFrame]:
        """Voice or silence; a pause in which an answer is drafted mostly goes on a little."""
        if self.core.draft is not None:
            voice, frames = self.pick(False, False, False, True), self.pick(1, 4, 8, 12)
        else:
            voice, frames = self.pick(True, False), self.pick(1, 4, 12, 25, 40)
        energy, vad = (0.1, 0.95) if voice else (0.001, 0.02)
        return [self._next_frame(energy, vad) for _ in range(frames)]

    def _next_frame(self, energy: float, vad: float) -> ev.SoundFrame:
        self.at += 0.02
        self.sample += FRAME
        return ev.SoundFrame(self.at, self.sample, FRAME, energy, vad)

    def frame(self, energy: float, vad: float) -> ev.SoundFrame:
        self.sample += self.pick(FRAME, FRAME, 0, -FRAME)
        self.sample = max(0, self.sample)
        return ev.SoundFrame(self.at, self.sample, FRAME, energy, vad)

    @property
    def turn(self) -> int:
        """A turn that lives, mostly; else one that is over, or never was."""
        core = self.core
        answers = (core.answer, core.draft, core.closing, core.parked)
        alive = [a.turn for a in answers if a is not None]
        return self.pick(*alive * 9, self.core.turn, max(0, self.core.turn - 1), 10**6)

    @property
    def call(self) -> int:
        running = [
            call
            for a in (self.core.answer, self.core.parked)
            if a is not None
            for call in a.running
        ]
        return self.pick(*sorted(running) * 3, 0, 1)

    @property
    def position(self) -> int:
        return self.pick(0, 2000, 4000, 9000, 10**6)

    def begin_after(self, turn: int, pieces: int, end: int) -> None:
        """So much speech of a turn lies ready before the chaos begins."""
        self._buffered[turn] = (pieces, end)

    def transcript(self) -> ev.Transcript:
        hearing = self.core.hearing
        turn = self.turn if hearing is None else self.pick(*[hearing.turn] * 5, self.turn)
        text, final = self.pick(*SAID), self.pick(False, True)
        words = tuple(Word(w, self.pick(0.2, 0.9, 0.9)) for w in text.split()) if final else ()
        alone = (Word(self.pick("stop", "yes"), self.pick(0.2, 0.9)),)
        apart = self.pick((), (), (), alone)
        return ev.Transcript(self.at, turn, text, self.sample, final, words, apart)

    def piece(self) -> ev.PieceBuffered:
        """The next piece of its turn, placed after the one before."""
        turn = self.turn
        number, start = self._buffered.get(turn, (0, 0))
        words = tuple(
            SpokenWord(f"w{turn}.{number}.{i}", start + 4000 * i, start + 4000 * (i + 1))
            for i in range(self.pick(1, 3))
        )
        end = start + 4000 * len(words)
        self._buffered[turn] = (number + 1, end)
        return ev.PieceBuffered(self.at, turn, number, words, end, RATE)


class _First:
    """Chooses the likeliest, which everywhere comes first."""

    def choice(self, options: Sequence[T], /) -> T:
        return options[0]


def plain_event(kind: type[ev.Event], core: Conversation) -> ev.Event:
    """The plainest event of its kind, of the turn that goes on."""
    chaos = Chaos(core, _First())
    chaos.sample = core.heard_until
    return EVENTS[kind](chaos)


# -- what must hold -------------------------------------------------------------------

SILENT_PLACES = {Place.IDLE, Place.LISTENING, Place.INTERRUPTED, Place.FAULTED, Place.TERMINATING}
ENDLESS = (Place.IDLE, Place.SUSPENDED, Place.TERMINATING)
EARCONS: dict[str, tuple[type[ev.Event], ...]] = {
    "ready": (ev.Ready,),
    "wake": (ev.WakeHeard, ev.StartConversation),
    "mute": (ev.Mute, ev.ButtonReleased),
    "close": (ev.SoundFrame, ev.Transcript, ev.Tick, ev.ButtonPressed),
    "error": (ev.Fault, ev.Tick),
}
"""What each sound of the device is an answer to; an alarm comes in any pause."""
WARNINGS = {
    "speaking_long": Place.PLAYING,
    "speaking_stuck": Place.PLAYING,
    "task_silent": Place.WAITING_FOR_TASK,
}
"""Where each warning is given."""


class Model:
    """Follows one conversation by its events and commands; raises what is broken."""

    def __init__(self, core: Conversation) -> None:
        self._core = core
        self._place = core.place
        self._cancelled = {"think": -1, "speak": -1, "play": -1}
        self._generating: int | None = None
        self._pieces: dict[int, int] = {}
        self._complete: set[int] = set()
        self._out: int | None = None
        self._holding = False
        self._hearing: int | None = None
        self._last_utterance = -1
        self._last_prompt = -1
        self._tools: set[tuple[int, int]] = set()
        self._asked: set[tuple[int, int, str, str]] = set()
        self._called: set[tuple[int, int]] = set()
        self._words: dict[int, list[str]] = {}
        self._let_out: set[int] = set()
        self._draft: int | None = None
        self._dropped: set[int] = set()
        self._drafts = 0
        self._records: set[int] = set()
        self._microphone = True
        self._rings: set[int] = set()
        self._event: ev.Event = ev.Tick(0.0)
        self._turns: set[int] = set()
        self._boundaries: dict[int, set[int]] = {}
        self.moves: set[tuple[Place, str, Place]] = set()

    def handle(self, event: ev.Event) -> list[cmd.Command]:
        """One event through the core, and all that must hold before and after."""
        before, alive = self._place, self._alive(event)
        self._event, self._turns, newest = event, self._living(), self._core.turn
        commands = self._core.handle(event)
        self._turns |= self._living() | set(range(newest + 1, self._core.turn + 1))
        if isinstance(event, ev.Rings) and self._core.place is not Place.TERMINATING:
            self._rings.add(event.ring)
        if alive:
            self._note(event)
        elif isinstance(event, ev.DeviceFound) and event.device is Device.MICROPHONE:
            self._microphone = True  # its stream is open again
        for command in commands:
            check = getattr(self, f"_on_{type(command).__name__.lower()}", None)
            if check is not None:
                check(command)
        self._follow_draft()
        for move in commands:
            if isinstance(move, cmd.Transition):
                self.moves.add((before, type(event).__name__, move.target))
        self._at_rest()
        return commands

    def _alive(self, event: ev.Event) -> bool:
        core = self._core
        answers = (core.answer, core.draft, core.parked, core.closing)
        turns = [a.turn for a in answers if a is not None]
        return isinstance(event, ev.TurnEvent) and event.turn in turns

    def _living(self) -> set[int]:
        """Ids that a command may carry: of what goes on, and the newest."""
        core = self._core
        of = (core.answer, core.draft, core.parked, core.closing, core.hearing)
        return {core.turn, *(thing.turn for thing in of if thing is not None)}

    def _note(self, event: ev.Event) -> None:
        """What the engines have done by sending it."""
        if isinstance(event, ev.ReplyDone) and event.turn == self._generating:
            self._generating = None
        elif isinstance(event, ev.ToolCalled):
            self._asked.add((event.turn, event.call, event.name, event.arguments))
        elif isinstance(event, ev.ToolDone):
            self._tools.discard((event.turn, event.call))
        elif isinstance(event, ev.PieceBuffered) and event.turn in self._pieces:
            self._words.setdefault(event.turn, []).extend(w.text for w in event.words)
            ends = {sample for word in event.words for sample in (word.start, word.end)}
            self._boundaries.setdefault(event.turn, {0}).update(ends)
        elif isinstance(event, ev.PlaybackDone) and event.turn in self._complete & {self._out}:
            self._out = None

    # -- the mind

    def _on_generate(self, command: cmd.Generate) -> None:
        assert self._generating is None, "two prompts at once"
        assert command.turn > self._cancelled["think"], "a prompt for a turn that was cancelled"
        assert command.turn > self._last_prompt, "a prompt was sent twice"
        self._is_a_prompt(command.messages)
        assert command.messages[-1].text.strip(), "a prompt without a question"
        self._generating = self._last_prompt = command.turn
        if self._core.place is not Place.WAITING_FOR_LLM:
            self._on_draft(command.turn)

    def _on_draft(self, turn: int) -> None:
        """A prompt before the end of the user's turn."""
        assert self._core.place is Place.LISTENING
        assert self._core.draft is not None, "a prompt for nobody"
        assert self._core.draft.turn == turn
        if self._draft is not None:
            assert self._draft <= self._cancelled["think"], "two drafts at once"
            self._dropped.add(self._draft)
        self._draft = turn
        self._drafts += 1
        assert self._drafts <= self._core.tuning.speculation.answers, "drafts without end"

    def _follow_draft(self) -> None:
        """A draft becomes the answer, whole, or is gone for ever."""
        core = self._core
        if self._draft is not None and core.draft is None:
            if self._draft <= self._cancelled["think"]:
                self._dropped.add(self._draft)
            self._draft = None
        if core.draft is not None:
            assert core.draft.turn == self._draft
            assert core.place is Place.LISTENING, "a draft outside LISTENING"
            assert core.answer is None, "a draft beside an answer"
            assert core.hearing is core.draft.utterance
            assert core.hearing is not None
            assert core.hearing.text == core.draft.heard, "a draft for other words"

    def _on_prefill(self, command: cmd.Prefill) -> None:
        self._is_a_prompt(command.messages)
        assert command.turn in (self._hearing, self._core.turn)
        assert self._generating is None, "the model reads ahead of what it writes"

    def _is_a_prompt(self, messages: tuple[cmd.Message, ...]) -> None:
        roles = [message.role for message in messages]
        assert roles[0] == "system"
        assert roles[-1] in ("user", "tool")
        assert all(one != other for one, other in pairwise(roles)), "roles must alternate"

    def _on_cancelgeneration(self, command: cmd.CancelGeneration) -> None:
        self._cancelled["think"] = max(self._cancelled["think"], command.turn)
        if self._generating is not None and self._generating <= command.turn:
            self._generating = None

    def _on_runtool(self, command: cmd.RunTool) -> None:
        call = (command.turn, command.call)
        assert call not in self._called, "a tool ran twice"
        self._is_meant(command.turn)
        asked = (command.turn, command.call, command.name, command.arguments)
        assert asked in self._asked, "a tool ran that was not called so"
        self._called.add(call)
        self._tools.add(call)

    def _is_meant(self, turn: int) -> None:
        """No draft has an effect, unless it has become the answer."""
        core = self._core
        assert turn not in self._dropped, "a draft that was dropped comes back"
        assert core.draft is None or core.draft.turn != turn, "a draft has an effect"

    def _on_canceltool(self, command: cmd.CancelTool) -> None:
        call = (command.turn, command.call)
        assert call in self._tools, "a tool was cancelled that does not run"
        self._tools.discard(call)

    # -- the mouth

    def _on_synthesise(self, command: cmd.Synthesise) -> None:
        self._speaks(command.turn, "speak", "play")
        assert command.turn not in self._complete, "a piece after the end"
        assert command.piece == self._pieces.get(command.turn, 0), "a piece twice or left out"
        assert command.text.strip()
        self._pieces[command.turn] = command.piece + 1

    def _on_endspeech(self, command: cmd.EndSpeech) -> None:
        self._speaks(command.turn, "speak", "play")
        assert command.turn not in self._complete, "two ends"
        self._complete.add(command.turn)

    def _speaks(self, turn: int, *stages: str) -> None:
        for stage in stages:
            assert turn > self._cancelled[stage], f"{stage} for turn {turn}, which was cancelled"

    def _on_cancelsynthesis(self, command: cmd.CancelSynthesis) -> None:
        self._cancelled["speak"] = max(self._cancelled["speak"], command.turn)

    def _on_startplayback(self, command: cmd.StartPlayback) -> None:
        self._speaks(command.turn, "play")
        assert self._out is None, f"turn {self._out} speaks, and now {command.turn} too"
        assert self._words.get(command.turn), "nothing lies ready"
        self._is_meant(command.turn)
        self._out, self._holding = command.turn, False
        self._let_out.add(command.turn)

    def _on_holdplayback(self, command: cmd.HoldPlayback) -> None:
        assert command.turn == self._out, "a turn is held that does not speak"
        assert not self._holding
        self._holding = True

    def _on_resumeplayback(self, command: cmd.ResumePlayback) -> None:
        assert command.turn == self._out, "a turn goes on that does not speak"
        assert self._holding
        assert command.position in self._boundaries[command.turn], "it goes on inside a word"
        self._holding = False

    def _on_dropplayback(self, command: cmd.DropPlayback) -> None:
        self._cancelled["play"] = max(self._cancelled["play"], command.turn)
        if self._out is not None and self._out <= command.turn:
            self._out = None

    # -- the ear

    def _on_recognise(self, command: cmd.Recognise) -> None:
        assert not self._core.muted, "listens although it is muted"
        assert self._core.place is not Place.SUSPENDED, "listens although it is suspended"
        assert self._hearing is None, "two utterances at once"
        assert command.turn > self._last_utterance
        assert command.since >= 0
        self._hearing = self._last_utterance = command.turn
        self._drafts = 0

    def _on_flushrecogniser(self, command: cmd.FlushRecogniser) -> None:
        assert command.turn == self._hearing

    def _on_stoprecognising(self, command: cmd.StopRecognising) -> None:
        assert command.turn == self._hearing
        self._hearing = None

    def _on_setmicrophone(self, command: cmd.SetMicrophone) -> None:
        assert not (command.open and self._core.muted), "opens a muted microphone"
        self._microphone = command.open

    def _on_reopendevice(self, command: cmd.ReopenDevice) -> None:
        assert not (command.device is Device.MICROPHONE and self._core.muted)
        assert command.device in self._core.lost

    # -- the world

    def _on_ringover(self, command: cmd.RingOver) -> None:
        assert command.ring in self._rings, "an alarm ends twice"
        self._rings.discard(command.ring)

    def _on_playearcon(self, command: cmd.PlayEarcon) -> None:
        if command.name == "alarm":
            assert self._rings, "an alarm sounds that nobody has set"
            assert self._place in (Place.IDLE, Place.LISTENING, Place.SUSPENDED)
        else:
            assert isinstance(self._event, EARCONS[command.name])

    def _on_warn(self, command: cmd.Warn) -> None:
        assert WARNINGS[command.what] is self._place
        assert command.turn in self._turns

    def _on_rebuildpart(self, command: cmd.RebuildPart) -> None:
        # A voice or a model that failed twice is built again although the device runs on.
        assert command.part in self._core.broken or isinstance(self._event, ev.Fault)

    def _on_exit(self, command: cmd.Exit) -> None:
        assert command.status == (70 if self._core.fatal else 0)

    def _on_transition(self, command: cmd.Transition) -> None:
        assert command.source is self._place
        assert command.at == self._core.now
        assert command.turn in self._turns
        assert command.cause in GIVES.get(type(self._event), ()), f"{self._event}: {command.cause}"
        assert command.target in LEADS_TO[command.cause], f"{command.cause} -> {command.target}"
        assert may_move(command.source, command.target)
        self._place = command.target

    def _on_turnrecord(self, command: cmd.TurnRecord) -> None:
        assert command.turn not in self._records, "a turn was recorded twice"
        self._records.add(command.turn)
        self._is_meant(command.turn)
        assert command.at == self._core.now
        played, words = command.played.split(), self._words.get(command.turn, [])
        assert played == words[: len(played)], "not the words that were heard"
        for name, value in vars_of(command).items():
            if name.endswith("_ms") and value is not None:
                assert isinstance(value, float)

    def _at_rest(self) -> None:
        """What holds between two events."""
        core = self._core
        assert core.place is self._place
        if core.muted or core.place is Place.SUSPENDED:
            assert not self._microphone or Device.MICROPHONE in core.lost, "muted, and it hears"
        if core.place in SILENT_PLACES:
            assert not self._tools, "a tool runs on for nobody"
            assert self._generating in (None, self._draft), "the model thinks on for nobody"
            assert self._out is None, "it speaks on"
        if core.place is Place.PLAYING:
            assert self._out is not None
            assert not self._holding
        alive = {a.turn for a in (core.answer, core.parked, core.closing) if a is not None}
        assert self._let_out <= self._records | alive, "spoken, and never recorded"
        assert (core.judge is not None) is (core.place is Place.HELD)
        assert len(core.transitions) <= KEPT_TRANSITIONS
        muted = core.place is Place.SUSPENDED and core.muted
        if core.place not in ENDLESS or (core.answer is not None and not muted):
            assert core.deadline is not None, f"{core.place} has no deadline"


def vars_of(command: cmd.Command) -> dict[str, Any]:
    """The fields of a command; they have slots, not a dict."""
    return {name: getattr(command, name) for name in command.__dataclass_fields__}


def twin(core: Conversation) -> Conversation:
    """Another conversation in the same state; the word lists never change and are shared."""
    return copy.deepcopy(core, {id(core.lexicon): core.lexicon})


def left_alone(core: Conversation) -> Place:
    """Where time alone leads; the core that is given stays as it is."""
    core = twin(core)
    for _ in range(1000):  # two alarms that nobody stops are some hundreds of sounds
        if core.deadline is None:
            return core.place
        if core.place is Place.PREPARING and (core.lost or core.broken or not core.up):
            return core.place  # it waits for a device, and looks for it for ever
        now = max(core.now, core.deadline)
        for _ in range(12):
            if core.deadline is None or core.deadline > now:
                break
            core.handle(ev.Tick(now))
        else:
            raise AssertionError(f"time stands still in {core.place}")
    raise AssertionError(f"no way out of {core.place}")


def check_left_alone(core: Conversation) -> None:
    """Time alone leads to rest, whatever has happened."""
    end = left_alone(core)
    if end is Place.SUSPENDED:
        assert core.muted
    elif end is Place.PREPARING:
        pass
    else:
        assert end in (Place.IDLE, Place.TERMINATING), end
