"""Ways to leave and come back, and what a user meets once a year, step by step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.events import Device, FaultKind
from edgevoice.core.table import Place
from edgevoice.core.tuning import DeadAir, Tuning, Turn
from tests.core.talk import WORD, Talk

Act = Callable[[Talk], object]

# -- leave and come back ------------------------------------------------------------------


def _fault(kind: FaultKind) -> Act:
    return lambda t: t.feed(ev.Fault(t.now, kind, "think", "boom"))


def _mute(talk: Talk) -> None:
    talk.feed(ev.Mute(talk.now))


def _unmute(talk: Talk) -> None:
    talk.feed(ev.Unmute(talk.now))


def _suspend(talk: Talk) -> None:
    talk.feed(ev.Suspend(talk.now, "reload"))


def _resume(talk: Talk) -> None:
    talk.feed(ev.Resume(talk.now))


def _both(*acts: Act) -> Act:
    def both(talk: Talk) -> None:
        for act in acts:
            act(talk)

    return both


def _lose(talk: Talk) -> None:
    talk.feed(ev.DeviceLost(talk.now, Device.SPEAKER))


def _find(talk: Talk) -> None:
    talk.feed(ev.DeviceFound(talk.now, Device.SPEAKER))


def _rebuilt(talk: Talk) -> None:
    talk.feed(ev.PartRebuilt(talk.now, "think"))


LEAVE_AND_RETURN: dict[str, tuple[Act, Act]] = {
    "mute, unmute": (_mute, _unmute),
    "mute, press": (_mute, Talk.press),
    "mute, unmute after a minute": (_mute, lambda t: (t.pass_time(58), _unmute(t))),
    "suspend, resume": (_suspend, _resume),
    "suspend twice, resume": (
        _both(_suspend, lambda t: t.pass_time(20), _suspend),
        lambda t: (t.pass_time(20), _resume(t)),
    ),
    "suspend, mute, resume, unmute": (_both(_suspend, _mute), _both(_resume, _unmute)),
    "mute, suspend, unmute, resume": (
        _both(_mute, _suspend),
        lambda t: (_unmute(t), t.pass_time(20), _resume(t)),
    ),
    "suspend and forget": (_suspend, lambda t: None),
    "suspend, end": (_suspend, lambda t: (t.feed(ev.EndConversation(t.now)), _resume(t))),
    "lost, found": (_lose, _find),
    "lost, muted, found, unmuted": (_both(_lose, _mute), _both(_find, _unmute)),
    "engine, rebuilt": (_fault(FaultKind.ENGINE), _rebuilt),
    "engine twice, rebuilt": (
        _both(_fault(FaultKind.ENGINE), _rebuilt, _fault(FaultKind.ENGINE)),
        _rebuilt,
    ),
    "suspended, the model fails": (_both(_suspend, _fault(FaultKind.LLM)), _resume),
    "suspended, no voice": (_both(_suspend, _fault(FaultKind.TTS)), _resume),
    "suspended, no tool": (_both(_suspend, _fault(FaultKind.TOOL)), _resume),
}
MEANWHILE: tuple[type[ev.Event], ...] = (
    ev.Ask, ev.Say, ev.Rings, ev.ReplyDone, ev.PieceBuffered, ev.PlaybackDone, ev.ToolDone,
    ev.ToolCalled,
)  # fmt: skip


# -- stories --------------------------------------------------------------------------------

STORIES: dict[str, tuple[Tuning, Act]] = {}
_ALWAYS = replace(Tuning(), activation=frozenset({"always"}))
_BUTTON = replace(Tuning(), activation=frozenset({"button"}))


def _story(tuning: Tuning | None = None) -> Callable[[Act], Act]:
    def tell(act: Act) -> Act:
        def from_the_start(talk: Talk) -> None:
            talk.feed(ev.Ready(talk.now))
            act(talk)

        STORIES[act.__name__] = tuning or Tuning(), from_the_start
        return act

    return tell


def _call(talk: Talk, call: int = 1, long_running: bool = False) -> None:
    talk.feed(ev.ToolCalled(talk.now, talk.turn, call, "clock", "{}", long_running))


def _result(talk: Talk, text: str = "noon", call: int = 1) -> None:
    worker = talk.core.parked or talk.core.the_answer
    talk.feed(ev.ToolDone(talk.now, worker.turn, call, text))


@_story()
def a_tool_and_what_was_said_before_it(talk: Talk) -> None:
    talk.asked()
    for token in ("Let me ", "look. ", "So "):
        talk.feed(ev.Token(talk.now, talk.turn, token))
    _call(talk)
    _call(talk, 2)
    talk.synthesise()
    talk.finish()
    talk.pass_time(3)
    _result(talk, "x" * 4001, 2)
    _result(talk)
    talk.answer("It is noon.")
    talk.finish()
    talk.pass_time(9)


@_story()
def a_tool_that_does_not_come_back(talk: Talk) -> None:
    talk.asked()
    _call(talk)
    talk.pass_time(30)
    talk.answer("I do not know.")
    talk.finish()
    talk.ask("what about the moon")
    talk.answer("It is round.")


@_story()
def a_task_and_its_progress(talk: Talk) -> None:
    talk.asked()
    _call(talk, long_running=True)
    for _ in range(90):
        talk.pass_time(1)
        if talk.core.parked is not None and talk.place is Place.WAITING_FOR_TASK:
            talk.synthesise()
            talk.finish()
    worker = talk.core.the_answer
    talk.feed(ev.TaskBeat(talk.now, worker.turn, 7))
    talk.feed(ev.TaskBeat(talk.now, worker.turn, 1))
    talk.pass_time(59)
    _result(talk)
    talk.answer("It is done.")
    talk.finish()


@_story()
def a_task_of_which_nothing_is_said_and_that_fails(talk: Talk) -> None:
    talk.asked()
    _call(talk, long_running=True)
    talk.pass_time(310)


@_story()
def a_progress_line_that_is_talked_over(talk: Talk) -> None:
    talk.asked()
    _call(talk, long_running=True)
    talk.ticks()
    talk.synthesise()
    talk.feed(ev.PlaybackStarted(talk.now, talk.turn))
    talk.wait(0.3)
    talk.speak(0.1)
    talk.held_at(WORD)
    talk.hear("what about lunch")
    talk.wait(1.5)
    _result(talk)
    talk.answer("It is done.")
    talk.finish()


@_story()
def a_task_that_is_called_off(talk: Talk) -> None:
    talk.asked()
    _call(talk, long_running=True)
    talk.speak(0.5)
    talk.hear("stop")


@_story()
def said_while_a_tool_runs(talk: Talk) -> None:
    talk.asked()
    _call(talk)
    talk.ask("and what about the moon")
    talk.feed(ev.Ask(talk.now, "how are you"))
    _result(talk)
    talk.answer("It is noon.")
    talk.finish()
    talk.answer("It is round.")
    talk.finish()


@_story()
def the_user_goes_on_before_the_answer(talk: Talk) -> None:
    talk.asked()
    talk.feed(ev.Token(talk.now, talk.turn, "The sea "))
    talk.speak(0.4)
    talk.say("tell me about the sea and the moon")
    talk.wait(0.8)
    talk.answer("Both are old.")
    talk.finish()


@_story()
def the_user_goes_on_into_the_answer(talk: Talk) -> None:
    talk.wake()
    talk.say("remind me to call my mother")
    order = talk.last(cmd.JudgeWords)
    talk.feed(ev.WordsVerdict(talk.now, order.turn, 0.1, order.until))
    talk.wait(0.5)
    talk.answer("Then call her as soon as you can.")
    talk.wait(0.3)
    talk.speak(0.3)
    talk.held_at(WORD)
    talk.hear("on sunday")
    talk.dropped_at(WORD)
    talk.ask("on sunday")
    talk.answer("Sunday it is.")
    talk.finish()


@_story()
def a_last_word_comes_late(talk: Talk) -> None:
    talk.asked()
    talk.hear("tell me about the sea please", final=True)
    talk.answer("It is wide.")
    talk.finish()


@_story()
def a_model_that_is_slow_and_then_silent(talk: Talk) -> None:
    talk.asked()
    talk.pass_time(31)
    talk.synthesise()
    talk.feed(ev.PlaybackStarted(talk.now, talk.turn))
    talk.finish()


@_story()
def a_model_that_fails_once(talk: Talk) -> None:
    talk.asked()
    talk.feed(ev.Fault(talk.now, FaultKind.LLM, "think", "out of memory", turn=talk.turn))
    talk.pass_time(1)
    talk.answer("It is wide.")
    talk.finish()


@_story()
def a_model_that_fails_in_mid_answer(talk: Talk) -> None:
    talk.asked()
    talk.feed(ev.Token(talk.now, talk.turn, "The sea is wide. And "))
    talk.feed(ev.Token(talk.now, talk.turn, "deep. So "))
    talk.synthesise()
    talk.feed(ev.Fault(talk.now, FaultKind.LLM, "think", "out of memory", turn=talk.turn))
    talk.synthesise()
    talk.finish()


@_story()
def an_engine_that_breaks_in_mid_answer(talk: Talk) -> None:
    talk.asked()
    talk.feed(ev.Token(talk.now, talk.turn, "The sea is wide. And "))
    talk.feed(ev.Token(talk.now, talk.turn, "deep. So "))
    talk.synthesise()
    talk.feed(ev.Fault(talk.now, FaultKind.ENGINE, "think", "hangs", turn=talk.turn))
    talk.pass_time(2)
    _rebuilt(talk)
    talk.synthesise()
    talk.finish()


@_story()
def no_voice_for_what_comes_before_a_tool(talk: Talk) -> None:
    talk.asked()
    talk.feed(ev.Token(talk.now, talk.turn, "Let me look. So "))
    talk.feed(ev.Token(talk.now, talk.turn, "wait. "))
    _call(talk)
    talk.feed(ev.Fault(talk.now, FaultKind.TTS, "speak", "boom", turn=talk.turn))
    talk.pass_time(1)
    _result(talk)
    talk.answer("It is noon.")
    talk.finish()


@_story()
def no_voice_for_the_answer(talk: Talk) -> None:
    talk.asked()
    talk.tokens("The sea is wide. It is deep.")
    talk.feed(ev.Fault(talk.now, FaultKind.TTS, "speak", "boom", turn=talk.turn))
    talk.pass_time(9)


@_story()
def no_voice_for_the_rest_of_the_answer(talk: Talk) -> None:
    talk.answering()
    talk.feed(ev.Fault(talk.now, FaultKind.TTS, "speak", "boom", turn=talk.turn))
    talk.finish()


@_story()
def no_voice_for_an_announcement(talk: Talk) -> None:
    talk.feed(ev.Say(talk.now, "The tea is ready."))
    talk.feed(ev.Say(talk.now, "Rain is coming."))
    talk.feed(ev.Fault(talk.now, FaultKind.TTS, "speak", "boom", turn=talk.turn))
    talk.pass_time(20)


@_story()
def an_announcement_that_is_put_off(talk: Talk) -> None:
    talk.feed(ev.Say(talk.now, "The tea is ready."))
    talk.wake()
    talk.ask("tell me about the sea")
    talk.answer("It is wide.")
    talk.finish()
    talk.synthesise()
    talk.feed(ev.PlaybackStarted(talk.now, talk.turn))
    talk.finish()


@_story()
def an_announcement_in_the_middle_of_a_sentence(talk: Talk) -> None:
    talk.wake()
    talk.speak(0.5)
    talk.hear("what about")
    talk.feed(ev.Say(talk.now, "The tea is ready."))
    talk.ask("what about the moon")
    talk.answer("It is round.")
    talk.finish()
    talk.synthesise()
    talk.finish()


@_story()
def three_faults_in_a_minute(talk: Talk) -> None:
    for _ in range(3):
        talk.feed(ev.Fault(talk.now, FaultKind.UNKNOWN, "driver", "boom"))
        talk.pass_time(10)
    talk.pass_time(80)


@_story()
def a_fatal_fault(talk: Talk) -> None:
    talk.answering()
    talk.feed(ev.Fault(talk.now, FaultKind.UNKNOWN, "driver", "boom", fatal=True))
    talk.pass_time(20)


@_story()
def two_devices_lost_for_good(talk: Talk) -> None:
    _lose(talk)
    talk.pass_time(2)
    talk.feed(ev.DeviceLost(talk.now, Device.MICROPHONE))
    talk.pass_time(80)
    _find(talk)
    talk.pass_time(10)
    talk.feed(ev.DeviceFound(talk.now, Device.MICROPHONE))
    talk.wake()


@_story()
def an_engine_that_is_gone_for_long(talk: Talk) -> None:
    _fault(FaultKind.ENGINE)(talk)
    talk.pass_time(32)
    _mute(talk)
    talk.feed(ev.Ready(talk.now))
    talk.pass_time(10)
    _rebuilt(talk)
    _unmute(talk)
    talk.wake()


@_story()
def an_answer_whose_player_is_stuck(talk: Talk) -> None:
    talk.answering()
    talk.pass_time(400)


@_story()
def an_answer_that_is_very_long(talk: Talk) -> None:
    talk.answering("The sea is wide and deep and very very old. " * 60)
    for _ in range(3):
        talk.pass_time(100)
        talk.feed(ev.PieceBuffered(talk.now, talk.turn, 9, (), 9_000_000, 16_000))
    talk.feed(ev.PlaybackDone(talk.now, talk.turn, 9_000_000))


@_story()
def interrupted_by_the_wake_word_and_the_player_tells_late(talk: Talk) -> None:
    talk.answering()
    talk.wake()
    talk.pass_time(0.1)
    talk.dropped_at(2 * WORD)
    talk.ask("what about the moon")
    talk.answer("It is round.")
    talk.finish()


@_story()
def two_interruptions_in_a_row(talk: Talk) -> None:
    for word in range(2, 4):
        talk.answering() if word == 2 else talk.answer("It is round and cold and far away.")
        talk.speak(0.1)
        talk.held_at(word * WORD + 100)
        talk.speak(0.3)
        talk.hear("wait")
        talk.dropped_at(word * WORD + 120)
        talk.speak(0.3)
        talk.ask("wait what about the moon")
    talk.answer("It is round.")
    talk.finish()


@_story()
def a_hold_that_comes_to_nothing(talk: Talk) -> None:
    talk.answering()
    talk.speak(0.06)
    talk.held_at(3 * WORD + 7)
    talk.pass_time(1.6)
    talk.finish()


@_story()
def a_hold_at_the_very_end(talk: Talk) -> None:
    talk.answering()
    talk.speak(0.06)
    talk.feed(ev.PlaybackDone(talk.now, talk.turn, talk.length))
    talk.say("and what about the moon")
    talk.wait(0.8)


@_story(replace(_ALWAYS, dead_air=DeadAir()))
def nobody_is_there_any_more(talk: Talk) -> None:
    talk.ask("tell me about the sea")
    talk.answer("It is wide.")
    talk.finish()
    for _ in range(3):
        talk.pass_time(8)
        if talk.core.answer is not None:
            talk.synthesise()
            talk.feed(ev.PlaybackStarted(talk.now, talk.turn))
            talk.finish()
    talk.speak(0.3)


@_story(_BUTTON)
def the_button_alone(talk: Talk) -> None:
    talk.wake()
    talk.press()
    talk.speak(0.6)
    talk.hear("what time is it")
    talk.release()
    talk.pass_time(2)
    talk.answer("It is ten.")
    talk.finish()
    talk.press()
    talk.release()
    talk.pass_time(6)
    for pause in (0.4, 0.501):
        talk.press()
        talk.release()
        talk.pass_time(pause)
        talk.press()
        talk.release()
        talk.pass_time(20)


@_story()
def the_button_while_others_talk(talk: Talk) -> None:
    talk.wake()
    talk.speak(0.4)
    talk.press()
    talk.speak(0.5)
    talk.release()
    talk.hear("", final=True)
    talk.press()
    talk.wait(0.5)
    talk.release()
    talk.pass_time(3)
    talk.press()
    talk.speak(0.5)
    talk.hear("tell me more")
    talk.pass_time(31)


@_story(replace(Tuning(), turn=Turn(policy="manual")))
def the_manual_policy(talk: Talk) -> None:
    talk.press()
    talk.say("tell me about the sea")
    talk.wait(3)
    talk.release()
    talk.hear("tell me about the sea", final=True)


@_story(replace(Tuning(), turn=Turn(policy="silence")))
def the_silence_policy(talk: Talk) -> None:
    talk.asked()


@_story()
def speech_without_an_end(talk: Talk) -> None:
    talk.wake()
    talk.wait(0.4)
    talk.speak(2)
    talk.hear("so i said and")
    talk.speak(29)
    talk.hear("so i said and then", final=True)
    talk.answer("Did you?")
    talk.finish()


@_story()
def noise_that_was_taken_for_words(talk: Talk) -> None:
    talk.wake()
    talk.say("mumble", seconds=0.3, confidence=0.1)
    talk.wait(3)
    talk.say("er", seconds=0.3, confidence=0.5)
    talk.wait(3)


@_story()
def called_twice_and_then_silence(talk: Talk) -> None:
    talk.wake()
    talk.speak(0.3)
    talk.wait(0.3)
    talk.wake()
    talk.pass_time(3)
    talk.wake()
    talk.pass_time(6)


@_story()
def goodbye(talk: Talk) -> None:
    talk.asked()
    talk.answer("It is wide.")
    talk.finish()
    talk.feed(ev.Say(talk.now, "The tea is ready."))
    talk.ask("okay thank you")


@_story()
def an_answer_without_words(talk: Talk) -> None:
    talk.asked()
    talk.feed(ev.Ask(talk.now, "what is new"))
    talk.feed(ev.ReplyDone(talk.now, talk.turn))
    talk.feed(ev.Token(talk.now, talk.turn, "👍 "))
    talk.feed(ev.ReplyDone(talk.now, talk.turn, "length"))
