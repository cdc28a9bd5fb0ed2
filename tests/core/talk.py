"""A whole conversation in simulated time: a world around the core.

The test says what the user does; the world does what the stages would do, at
once and without engines.  Time is counted in frames of 20 ms.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.conversation import Conversation
from edgevoice.core.events import RATE, SpokenWord, Word
from edgevoice.core.table import Cause, Place, State
from edgevoice.core.tuning import Tuning

FRAME = RATE // 50
WORD = RATE // 4
"""Samples of a spoken word, at a speaker that runs at 16 kHz too."""

C = TypeVar("C", bound=cmd.Command)


class Talk:
    """Drives a `Conversation` and remembers all it did."""

    def __init__(self, tuning: Tuning | None = None, *, ready: bool = True, **sections: Any):
        self.tuning = replace(tuning or Tuning(), **sections)
        self.core = Conversation(self.tuning)
        self.now = 0.0
        self.sample = 0
        self.done: list[cmd.Command] = []
        if ready:
            self.feed(ev.Ready(self.now))

    # -- what happened --------------------------------------------------------------

    def all(self, kind: type[C]) -> list[C]:
        """Every command of a kind so far."""
        return [c for c in self.done if isinstance(c, kind)]

    def last(self, kind: type[C]) -> C:
        """The newest command of a kind."""
        return self.all(kind)[-1]

    @property
    def place(self) -> Place:
        return self.core.place

    @property
    def path(self) -> list[State]:
        """The states so far, without repetition."""
        states = [State.PREPARING]
        for move in self.all(cmd.Transition):
            if move.target.state is not states[-1]:
                states.append(move.target.state)
        return states

    @property
    def causes(self) -> list[Cause]:
        return [move.cause for move in self.all(cmd.Transition)]

    # -- time -----------------------------------------------------------------------

    def feed(self, event: ev.Event) -> list[cmd.Command]:
        commands = self.core.handle(event)
        self.done += commands
        return commands

    def is_stale_after_the_end(self, late: ev.Event) -> bool:
        """Whether what comes when the conversation was closed is counted as too late."""
        self.feed(ev.EndConversation(self.now))
        stale = self.core.stale
        self.feed(late)
        return self.core.stale == stale + 1

    def wait(self, seconds: float, energy: float = 0.001, vad: float = 0.02) -> None:
        """Let time pass, frame by frame, with ticks where the core wants them."""
        for _ in range(round(seconds * 50)):
            self.now += 0.02
            self.sample += FRAME
            self.ticks()
            self.feed(ev.SoundFrame(self.now, self.sample, FRAME, energy, vad))

    def ticks(self) -> None:
        """Every deadline that has passed."""
        while self.core.deadline is not None and self.core.deadline <= self.now + 1e-9:
            self.feed(ev.Tick(max(self.core.deadline, self.core.now)))

    def pass_time(self, seconds: float) -> None:
        """The same without any sound: deadlines only, one after the other."""
        end = self.now + seconds
        while self.core.deadline is not None and self.core.deadline <= end:
            self.now = max(self.core.deadline, self.now)
            self.feed(ev.Tick(self.now))
        self.now = end

    # -- the user ---------------------------------------------------------------------

    def wake(self) -> None:
        self.feed(ev.WakeHeard(self.now, "hey_jarvis", 0.9, self.sample))

    def hear(
        self, text: str, final: bool = False, confidence: float = 0.9, apart: tuple[Word, ...] = ()
    ) -> None:
        """The recogniser says what was said so far."""
        assert self.core.hearing is not None
        words = tuple(Word(w, confidence) for w in text.split()) if final else ()
        turn = self.core.hearing.turn
        self.feed(ev.Transcript(self.now, turn, text, self.sample, final, words, apart))

    def speak(self, seconds: float) -> None:
        """The user's voice."""
        self.wait(seconds, energy=0.1, vad=0.95)

    def say(self, text: str, seconds: float = 1.0, confidence: float = 0.9) -> None:
        """Words, and the final that an early flush brings; not the silence that ends a turn."""
        self.speak(seconds)
        self.hear(text)
        self.wait(0.26)
        if self.core.hearing is not None:
            self.hear(text, final=True, confidence=confidence)

    def ask(self, text: str) -> None:
        """A whole utterance, with the silence after it."""
        self.say(text)
        self.wait(0.8)

    def press(self) -> None:
        self.feed(ev.ButtonPressed(self.now))

    def release(self) -> None:
        self.feed(ev.ButtonReleased(self.now))

    # -- the engines --------------------------------------------------------------------

    @property
    def turn(self) -> int:
        """Of the answer that is being made, if only on the quiet."""
        answer = self.core.answer or self.core.draft
        assert answer is not None
        return answer.turn

    def tokens(self, text: str) -> None:
        """The language model's answer, in tokens as it comes, and its end."""
        turn = self.turn
        for word in text.split(" "):
            self.feed(ev.Token(self.now, turn, word + " "))
        self.feed(ev.ReplyDone(self.now, turn))

    def synthesise(self) -> None:
        """Speech for every piece that was asked for, a quarter of a second a word."""
        turn = self.turn
        pieces = [c for c in self.all(cmd.Synthesise) if c.turn == turn]
        end = 0
        for piece in pieces:
            words = []
            for text in piece.text.split():
                words.append(SpokenWord(text, end, end + WORD))
                end += WORD
            self.feed(ev.PieceBuffered(self.now, turn, piece.piece, tuple(words), end, RATE))
        self.length = end

    def answer(self, text: str) -> None:
        """The whole answer, ready at once, and it begins to play."""
        self.tokens(text)
        self.synthesise()
        self.feed(ev.PlaybackStarted(self.now, self.turn))

    def finish(self) -> None:
        """It is heard to its end."""
        self.wait(self.length / RATE)
        self.feed(ev.PlaybackDone(self.now, self.turn, self.length))

    def held_at(self, position: int) -> None:
        self.feed(ev.PlaybackHeld(self.now, self.turn, position))

    def dropped_at(self, position: int) -> None:
        turn = self.last(cmd.DropPlayback).turn
        self.feed(ev.PlaybackDropped(self.now, turn, position))

    def answering(self, text: str = "The sea is wide and deep and very very old.") -> None:
        """From IDLE to the middle of an answer, in one call."""
        self.wake()
        self.ask("tell me about the sea")
        self.answer(text)
        self.wait(0.5)

    def drafting(self, text: str = "tell me about the sea", seconds: float = 1.0) -> None:
        """From IDLE to a pause in which an answer is begun on the quiet."""
        self.wake()
        self.say(text, seconds)
        self.wait(0.04)
        assert self.core.draft is not None

    def asked(self) -> None:
        """From IDLE to a question that waits for the model."""
        self.wake()
        self.ask("tell me about the sea")
