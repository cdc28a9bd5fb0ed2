"""The whole house on tiny engines, with a microphone and a speaker that are worked by hand."""

import threading
import time

import numpy as np
import pytest

from edgevoice import app
from edgevoice.adapters.aec import NoEchoFilter
from edgevoice.core import events as ev
from edgevoice.core.table import Place, State
from edgevoice.core.tuning import Timeouts
from edgevoice.engines import Engines, Workshop
from edgevoice.errors import DeviceError, ModelError
from edgevoice.ports import Hypothesis, Speech
from edgevoice.runtime.stage import Stage
from edgevoice.settings.schema import Settings
from edgevoice.stages.echo import EchoControl

BLOCK = 320
SILENT, VOICE, PHRASE = 0, 6000, 12_000
"""What a sample of silence, of the user's voice and of the wake phrase is."""

STAGES = [
    "driver", "play", "speak", "think", "understand", "judge_end", "recognise", "listen", "capture",
]  # fmt: skip
QUESTION = "tell me about the sea"


class Passthrough:
    def process(self, near, far):
        return near


class Flat:
    def process(self, near):
        return near


def no_echo(canceller=None):
    return EchoControl(canceller or Passthrough(), NoEchoFilter(), Flat())


class Loudness:
    chunk = 512

    def probability(self, audio):
        return 0.95 if np.abs(audio).max() > 1000 else 0.01


class Phrase:
    chunk = 1280
    lag_ms = 0

    def score(self, audio):
        return "hey_jarvis", 1.0 if audio.max() == PHRASE else 0.0

    def reset(self):
        pass


class OneQuestion:
    """Whatever is said is the same question."""

    def begin(self, apart=()):
        self.text = ""

    def accept(self, audio):
        if audio.max() == VOICE:
            self.text = QUESTION
        return Hypothesis(self.text)

    def flush(self):
        return Hypothesis(self.text, tuple(ev.Word(w, 0.9) for w in self.text.split()))


class OneAnswer:
    def reply(self, messages, cancelled):
        yield from (f"{messages[-1].text}. ", "It is wide.")

    def prefill(self, messages, cancelled):
        pass

    def anticipate(self, messages, tokens, cancelled):
        return iter(())

    def whole(self, messages, cancelled):
        return None


class Hum:
    rate = 16_000

    def speak(self, text, cancelled):
        for word in text.split():
            yield Speech(np.full(800, 500, np.int16), (ev.SpokenWord(word, 0, 800),))


class Outside:
    """Microphone, speaker, lamps and button in one; notes in which order they are used."""

    rate = 16_000

    def __init__(self, *, deaf=False):
        self.log = []
        self.deaf = deaf
        self.played = 0
        self._house = None

    def follow(self, house):
        """Sound comes as fast as this house hears it from now on."""
        self._house = house
        return house

    def world(self):
        return app.World(self._microphone(), self._speaker(), self._lamps(), self._button())

    def _part(self, name, **actions):
        def noting(action, work):
            def do(*args):
                self.log.append(f"{name}.{action}")
                work(*args)

            return do

        methods = {action: staticmethod(noting(action, work)) for action, work in actions.items()}
        return type(name, (), {"rate": self.rate, "xruns": 0, **methods})()

    def _microphone(self):
        def start(deliver, failed):
            self.deliver = deliver
            if not self.deaf:
                self.sound(SILENT)

        return self._part("microphone", start=start, stop=lambda: None)

    def _speaker(self):
        def start(fill, failed):
            self.fill = fill

        return self._part("speaker", start=start, stop=lambda: None)

    def _lamps(self):
        return self._part("lamps", show=lambda pattern: None, close=lambda: None)

    def _button(self):
        def start(pressed, released):
            self.pressed, self.released = pressed, released

        return self._part("button", start=start, close=lambda: None)

    def sound(self, value):
        """The microphone hears 20 ms of a value, and the speaker plays 20 ms."""
        self.deliver(np.full(BLOCK, value, np.int16), time.monotonic())

    def step(self, value=SILENT):
        """20 ms in which every stage gets its turn; on a busy machine they last as long as that."""
        latest = time.monotonic() + 0.02
        heard = self._house.capture.end + BLOCK if self._house else 0
        self.sound(value)
        block = np.zeros(BLOCK, np.int16)
        self.fill(block, time.monotonic())
        self.played += np.count_nonzero(block)
        time.sleep(0.002)
        while self._house and self._house._core.heard_until < heard and time.monotonic() < latest:
            time.sleep(0.0005)

    def until(self, happened, value=SILENT):
        while not happened():
            self.step(value)

    def wake(self, awake):
        """The phrase once, and again if nobody heard it: one too many would wake it later."""
        while not awake():
            self.step(PHRASE)
            for _ in range(25):
                if awake():
                    return
                self.step()


class Witness:
    """A watcher that remembers."""

    def __init__(self, log):
        self.log = log
        self.places, self.turns, self.notes = [], [], []

    def moved(self, transition):
        self.places.append(transition.target)
        self.log.append(transition.target.value)

    def turn_over(self, record):
        self.turns.append(record)

    def noticed(self, what, fields):
        self.notes.append(what)


def engines():
    return Engines(no_echo(), Loudness(), Phrase(), OneQuestion(), OneAnswer(), Hum())


@pytest.fixture
def outside():
    return Outside()


@pytest.fixture
def witness(outside):
    return Witness(outside.log)


@pytest.fixture
def house(outside, witness):
    return outside.follow(app.EdgeVoice(Settings(), outside.world(), engines(), [witness]))


@pytest.fixture
def stages_noted(outside, monkeypatch):
    """The stages, too, are noted when they start and stop."""
    start, stop = Stage.start, Stage.stop

    def noted_start(stage):
        outside.log.append(f"{stage.name}.start")
        start(stage)

    def noted_stop(stage, timeout=2.0):
        outside.log.append(f"{stage.name}.stop")
        return stop(stage, timeout)

    monkeypatch.setattr(Stage, "start", noted_start)
    monkeypatch.setattr(Stage, "stop", noted_stop)


def own_threads():
    return {thread for thread in threading.enumerate() if thread.name in STAGES}


def test_a_conversation_from_the_microphone_to_the_speaker(outside, witness, house):
    with house:
        outside.until(lambda: Place.IDLE in witness.places)
        outside.wake(lambda: Place.LISTENING in witness.places)
        for _ in range(40):
            outside.step(VOICE)
        outside.until(lambda: witness.turns)
        outside.until(lambda: witness.places[-1] is Place.LISTENING)
    states = [place.state for place in witness.places]
    assert states == [
        State.IDLE,
        State.LISTENING,
        State.PROCESSING,
        State.SPEAKING,
        State.LISTENING,
        State.TERMINATING,
    ]
    (record,) = witness.turns
    assert record.heard == QUESTION
    assert record.played == f"{QUESTION}. It is wide."
    assert outside.played > 800 * 8 * 0.9
    assert house.status == 0


def test_everything_starts_before_ready_and_stops_in_reverse(outside, witness, house, stages_noted):
    with house:
        outside.until(lambda: witness.places)
    log = [line for line in outside.log if line != "lamps.show"]
    started = [
        "speaker.start",
        "microphone.start",
        *(f"{name}.start" for name in STAGES),
        "button.start",
        "idle",
    ]
    assert log[: len(started)] == started
    ended = [line for line in log[len(started) :] if line.endswith((".stop", ".close"))]
    # The stages close the microphone and the speaker themselves when they end.
    assert [line for line in ended if line not in ("microphone.stop", "speaker.stop")] == [
        "button.close",
        *(f"{name}.stop" for name in reversed(STAGES)),
        "lamps.close",
    ]
    assert ended.index("capture.stop") < ended.index("microphone.stop")
    assert ended.index("play.stop") < ended.index("speaker.stop")
    assert log.index("terminating") < log.index("button.close")


def test_no_thread_is_left_behind(outside, witness, house):
    before = own_threads()
    with house:
        outside.until(lambda: witness.places)
        assert {thread.name for thread in own_threads() - before} == set(STAGES)
    assert own_threads() == before


def test_a_microphone_that_delivers_nothing_is_one_clear_error(monkeypatch, stages_noted):
    monkeypatch.setattr(app, "_FIRST_SOUND_S", 0.05)
    outside = Outside(deaf=True)
    witness = Witness(outside.log)
    before = own_threads()
    with (
        pytest.raises(DeviceError, match="the microphone delivered no sound") as caught,
        app.EdgeVoice(Settings(), outside.world(), engines(), [witness]),
    ):
        pytest.fail("it must not start")
    assert caught.value.todo
    assert "\n" not in str(caught.value)
    assert witness.places == []
    assert outside.log[-2:] == ["speaker.stop", "lamps.close"]
    assert "button.start" not in outside.log
    assert own_threads() == before


def test_the_button_is_heard(outside, witness, house):
    with house:
        outside.until(lambda: witness.places)
        outside.pressed()
        outside.until(lambda: Place.LISTENING in witness.places)


def test_a_timer_is_set_and_rings_without_a_language_model(outside, witness, tmp_path):
    """From the sentence to the sound, with a model that fails whatever it is asked."""

    class NoModel:
        def reply(self, *_):
            raise RuntimeError("out of memory")
            yield

        prefill = anticipate = reply

    tiny = engines()
    tiny.model = NoModel()
    with app.EdgeVoice(Settings(), outside.world(), tiny, [witness], state=tmp_path) as house:
        outside.follow(house)
        outside.until(lambda: Place.IDLE in witness.places)
        house.post(ev.Ask(time.monotonic(), "set a tea timer for one second"))
        outside.until(lambda: witness.turns)
        assert witness.turns[0].played == "Tea timer set for one second."
        assert house.tools._calls == {}
        outside.until(lambda: Place.LISTENING in witness.places[3:])
        outside.until(lambda: [t for t in witness.turns if "over" in t.played])
        outside.pressed()
        outside.until(lambda: witness.places[-1] is Place.IDLE)
        outside.until(lambda: '"entries": []' in (tmp_path / "timers.json").read_text())
        house.post(ev.Ask(time.monotonic(), "what did you say"))
        outside.until(lambda: witness.turns[-1].heard == "what did you say")
    assert witness.turns[-1].played == "Tea timer set for one second."


def test_the_end_of_the_conversation_machine_is_the_end_of_the_wait(outside, witness, house):
    with house:
        outside.until(lambda: witness.places)
        assert not house.wait(0.0)
        house.post(ev.Shutdown(time.monotonic()))
        assert house.wait()


def test_what_goes_wrong_with_the_sound_is_told_at_most_once_a_minute(outside, witness, house):
    with house:
        outside.until(lambda: witness.places)
        house.look_after()
        assert witness.notes == []
        house.capture._microphone.xruns = 2
        assert house.sound_counts().microphone_xruns == 2
        house.look_after()
        house.capture._microphone.xruns = 5
        house.look_after()
    assert witness.notes == ["sound"]


class Broken:
    """A recogniser that has died."""

    def begin(self, apart=()):
        raise RuntimeError("the decoder is gone")

    accept = flush = begin


def test_an_engine_that_fails_is_built_again_and_the_next_question_is_answered(
    outside, witness, monkeypatch
):
    monkeypatch.setattr(Workshop, "recogniser", lambda self: OneQuestion())
    tiny = engines()
    tiny.recogniser = Broken()
    with app.EdgeVoice(Settings(), outside.world(), tiny, [witness]) as house:
        outside.follow(house)
        outside.until(lambda: Place.IDLE in witness.places)
        outside.wake(lambda: Place.RECOVERING in witness.places)
        outside.until(lambda: witness.places[-1] is Place.LISTENING)
        assert "rebuild" in witness.notes
        for _ in range(20):  # what was still heard of the wake phrase is over
            outside.step()
        house.post(ev.Ask(time.monotonic(), "and now"))
        outside.until(lambda: witness.turns)
    assert witness.turns[0].heard == "and now"


def test_an_engine_that_cannot_be_built_again_ends_the_process(outside, witness, monkeypatch):
    def missing(workshop):
        raise ModelError("the model is gone", "fetch it again")

    monkeypatch.setattr(Workshop, "recogniser", missing)
    tiny = engines()
    tiny.recogniser = Broken()
    short = Settings(timeouts=Timeouts(faulted_s=1.0))
    with app.EdgeVoice(short, outside.world(), tiny, [witness]) as house:
        outside.follow(house)
        outside.until(lambda: Place.IDLE in witness.places)
        outside.wake(lambda: Place.FAULTED in witness.places)
        outside.until(lambda: house.wait(0.0))
        assert house.status == 70
