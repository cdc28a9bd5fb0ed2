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


def test_a_repaired_stage_asks_the_new_model():
    judge, old, events = stage()
    new = Listening()
    judge.broken = True
    judge.replace(new)
    hear(judge, 2)
    judge.handle(JudgeEnd(1, since=0, until=320))
    assert not judge.broken
    assert hasattr(new, "heard")
    assert not hasattr(old, "heard")
    assert len(events) == 1
