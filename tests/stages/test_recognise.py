import numpy as np

from edgevoice.core.commands import FlushRecogniser, Recognise, StopRecognising
from edgevoice.core.events import Word
from edgevoice.ports import Hypothesis
from edgevoice.stages.recognise import RecogniseStage, Sound


class Counting:
    """Hears how many samples it got and what the first one was."""

    def begin(self, apart=()):
        self.samples = []

    def accept(self, audio):
        self.samples.extend(audio.tolist())
        return Hypothesis(f"from {self.samples[0]} n {len(self.samples)}")

    def flush(self):
        return Hypothesis(f"final {len(self.samples)}", (Word("final", 0.9),))


def stage():
    events = []
    return RecogniseStage(events.append, Counting()), events


def hear(recognise, frames, start=0):
    for i in range(start, start + frames):
        recognise.handle(Sound(np.full(160, i, np.int16), (i + 1) * 160))


def test_without_an_utterance_nothing_is_decoded():
    recognise, events = stage()
    hear(recognise, 50)
    assert events == []


def test_an_utterance_may_begin_in_the_past():
    recognise, events = stage()
    hear(recognise, 50)
    recognise.handle(Recognise(1, since=40 * 160))
    assert events[-1].text == "from 40 n 1600"
    assert events[-1].until == 50 * 160


def test_a_flush_decodes_what_was_heard_before_it_and_gives_words():
    recognise, events = stage()
    recognise.handle(Recognise(1, since=0))
    hear(recognise, 4)
    recognise.handle(FlushRecogniser(1))
    assert events[-1].final
    assert events[-1].text == "final 640"
    assert events[-1].words == (Word("final", 0.9),)


class Apart(Counting):
    """Says what it was asked to listen for, from the third block on."""

    def begin(self, apart=()):
        super().begin()
        self.apart = apart

    def accept(self, audio):
        super().accept(audio)
        late = len(self.samples) > 1000
        return Hypothesis("", apart=tuple(Word(phrase, 1.0) for phrase in self.apart if late))

    def flush(self):
        return Hypothesis("", apart=tuple(Word(phrase, 0.9) for phrase in self.apart))


def test_what_is_heard_apart_is_told_though_the_text_is_the_same():
    events = []
    recognise = RecogniseStage(events.append, Apart())
    recognise.handle(Recognise(1, since=0, apart=("stop",)))
    hear(recognise, 12)
    (told,) = events
    assert (told.text, told.apart, told.final) == ("", (Word("stop", 1.0),), False)


def test_after_a_final_the_same_words_are_not_told_again():
    events = []
    recognise = RecogniseStage(events.append, Apart())
    recognise.handle(Recognise(1, since=0, apart=("stop",)))
    hear(recognise, 12)
    recognise.handle(FlushRecogniser(1))
    hear(recognise, 12, start=12)
    assert [event.final for event in events] == [False, True]


def test_an_heir_listens_for_the_same():
    events = []
    old = RecogniseStage(events.append, Apart())
    old.handle(Recognise(1, since=0, apart=("stop",)))
    hear(old, 12)
    heir = RecogniseStage(events.append, Apart())
    heir.inherit(old)
    heir.handle(heir._inbox.popleft())
    assert events[-1].apart == (Word("stop", 1.0),)


def test_orders_of_another_turn_are_ignored():
    recognise, events = stage()
    recognise.handle(Recognise(2, since=0))
    recognise.handle(FlushRecogniser(1))
    recognise.handle(StopRecognising(1))
    hear(recognise, 3)
    assert [e.turn for e in events] == [2]


def test_a_stopped_utterance_leaves_no_trace_in_the_next():
    recognise, events = stage()
    recognise.handle(Recognise(1, since=0))
    hear(recognise, 3)
    recognise.handle(StopRecognising(1))
    hear(recognise, 3, start=3)
    recognise.handle(Recognise(2, since=6 * 160))
    hear(recognise, 3, start=6)
    assert [e.text for e in events] == ["from 0 n 480", "from 6 n 480"]


def test_sound_rouses_it_only_while_there_is_an_utterance(monkeypatch):
    recognise, _ = stage()
    roused = []
    monkeypatch.setattr(recognise._wakeup, "rouse", lambda: roused.append(True))
    sound = Sound(np.zeros(160, np.int16), 160)
    recognise.hear(sound)
    assert roused == []
    recognise.handle(Recognise(1, since=0))
    recognise.hear(sound)
    assert roused == [True]
    assert list(recognise._inbox) == [sound, sound]
