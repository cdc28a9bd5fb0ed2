import numpy as np

from edgevoice.core.commands import JudgeEnd
from edgevoice.stages.judge_end import JudgeEndStage
from edgevoice.stages.recognise import Sound


class Listening:
    """Remembers what it was asked about."""

    window = 1600

    def probability(self, audio):
        self.heard = audio.tolist()
        return 0.123456


def stage():
    events = []
    model = Listening()
    return JudgeEndStage(events.append, model), model, events


def hear(judge, frames):
    for i in range(frames):
        judge.keep(Sound(np.full(160, i, np.int16), (i + 1) * 160))


def test_a_pause_is_judged_by_the_sound_of_its_utterance():
    judge, model, events = stage()
    hear(judge, 8)
    judge.handle(JudgeEnd(3, since=320, until=960))
    assert set(model.heard) == {2, 3, 4, 5}
    assert [(e.turn, e.probability, e.until) for e in events] == [(3, 0.1235, 960)]


def test_no_more_is_kept_than_the_model_listens_to():
    judge, model, _ = stage()
    hear(judge, 30)
    judge.handle(JudgeEnd(1, since=0, until=30 * 160))
    assert len(model.heard) == model.window
    assert model.heard[0] == 20


def test_of_nothing_no_verdict_comes():
    judge, _, events = stage()
    judge.handle(JudgeEnd(1, since=0, until=160))
    assert events == []


def test_a_successor_judges_by_the_sound_that_was_kept():
    old, _, events = stage()
    hear(old, 2)
    old.post(JudgeEnd(1, since=0, until=320))
    new = Listening()
    fresh = JudgeEndStage(events.append, new)
    fresh.inherit(old)
    fresh.start()
    assert fresh.stop()
    assert len(new.heard) == 320
    assert len(events) == 1


def test_without_a_model_no_verdict_comes_and_no_sound_is_kept():
    events = []
    judge = JudgeEndStage(events.append, None)
    hear(judge, 8)
    judge.handle(JudgeEnd(1, since=0, until=960))
    assert events == []
    assert not judge._kept
