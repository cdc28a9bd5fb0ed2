"""The conversations of the golden traces, and how they are recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.trace import Recorder
from tests.core.talk import WORD, Talk

HERE = Path(__file__).parent


class RecordedTalk(Talk):
    """A conversation that is written down as it goes."""

    def __init__(self, file: TextIO, **sections: Any) -> None:
        super().__init__(ready=False, **sections)
        self._recorder = Recorder(file, self.tuning, self.core.now)
        self.feed(ev.Ready(self.now))

    def feed(self, event: ev.Event) -> list[cmd.Command]:
        commands = super().feed(event)
        self._recorder(event, commands)
        return commands


def usual(talk: Talk) -> None:
    """Wake word, question, answer, silence."""
    talk.wake()
    talk.ask("what is the capital of france")
    talk.answer("The capital of France is Paris.")
    talk.finish()
    talk.wait(8.2)


def soft_ack(talk: Talk) -> None:
    """Two soft-acks over the answer, which goes on both times."""
    talk.answering()
    for word in ("yeah", "uh huh"):
        talk.speak(0.1)
        talk.held_at(2 * WORD + 100)
        talk.say(word, seconds=0.2)
        talk.wait(0.4)
    talk.finish()


def interruption(talk: Talk) -> None:
    """The user talks over the answer, and is answered."""
    talk.answering()
    talk.speak(0.1)
    talk.held_at(2 * WORD + WORD // 2)
    talk.speak(0.2)
    talk.hear("what about")
    talk.dropped_at(2 * WORD + WORD // 2)
    talk.speak(0.3)
    talk.ask("what about the moon")
    talk.answer("It is round.")
    talk.finish()


def push_to_talk(talk: Talk) -> None:
    """The button: a question, then a press that stops the answer, then two clicks."""
    talk.press()
    talk.speak(0.6)
    talk.release()
    talk.hear("what time is it", final=True)
    talk.answer("It is ten o'clock in the morning.")
    talk.wait(0.4)
    talk.press()
    talk.dropped_at(WORD)
    talk.speak(0.5)
    talk.release()
    talk.hear("never mind", final=True)
    for _ in range(2):
        talk.press()
        talk.wait(0.1)
        talk.release()
        talk.wait(0.1)


def suspension_and_recovery(talk: Talk) -> None:
    """A reload in mid-answer, then a microphone that is pulled out and put back."""
    talk.answering()
    talk.feed(ev.Suspend(talk.now, "reload"))
    talk.held_at(2 * WORD)
    talk.pass_time(3)
    talk.feed(ev.Resume(talk.now))
    talk.wait(0.3)
    talk.feed(ev.DeviceLost(talk.now, ev.Device.MICROPHONE, "unplugged"))
    talk.held_at(3 * WORD)
    talk.pass_time(5)
    talk.feed(ev.DeviceFound(talk.now, ev.Device.MICROPHONE))
    talk.finish()
    talk.feed(ev.Shutdown(talk.now))
    talk.pass_time(0.1)


SCRIPTS: dict[str, Callable[[Talk], None]] = {
    script.__name__: script
    for script in (usual, soft_ack, interruption, push_to_talk, suspension_and_recovery)
}


def path_of(name: str) -> Path:
    """Where the golden trace of a script lies."""
    return HERE / f"{name}.jsonl"


def record(name: str, file: TextIO) -> RecordedTalk:
    """Play a script and write its trace."""
    talk = RecordedTalk(file)
    SCRIPTS[name](talk)
    return talk


def rewrite() -> Iterator[Path]:
    """Record every golden trace anew."""
    for name in SCRIPTS:
        with path_of(name).open("w", encoding="utf-8") as file:
            record(name, file)
        yield path_of(name)
