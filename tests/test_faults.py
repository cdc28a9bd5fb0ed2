"""Each row of the fault table, in the whole house: engines fail, hang and are missing, devices go.

The engines are tiny and break on demand; threads, supervisor, core and wiring are the real ones.
"""

import threading
import time
from contextlib import contextmanager
from dataclasses import replace

import pytest

from edgevoice import app
from edgevoice.core import events as ev
from edgevoice.core.events import Device, FaultKind
from edgevoice.core.table import Place
from edgevoice.core.tuning import RecoveryTuning, Timeouts, Turn
from edgevoice.engines import Workshop
from edgevoice.errors import EngineError, ModelError
from edgevoice.runtime import stage as stage_module
from edgevoice.runtime.supervisor import Supervisor
from edgevoice.settings.schema import Settings, Tts
from tests import test_app as tiny
from tests.test_app import QUESTION, SILENT, VOICE

HUNG_AFTER_S = 1.0
PARTS = ["listen", "recognise", "judge_end", "think", "speak"]
SETTINGS = Settings(
    turn=Turn(policy="smart_turn"),
    recovery=RecoveryTuning(llm_retries_s=[0.0, 0.0, 0.0], device_retries_s=[0.01, 0.01, 0.01]),
)


class Trouble:
    """What becomes of an engine's next call; it works again afterwards.

    ``gate`` is set when a call that hangs may come back.
    """

    def __init__(self):
        self.next = []
        self.gate = threading.Event()
        self.hangs = threading.Event()

    def strike(self):
        if not self.next:
            return
        trouble = self.next.pop(0)
        if trouble is None:
            return
        if trouble == "hang":
            self.hangs.set()
            self.gate.wait()
        else:
            raise trouble


class Canceller(tiny.Passthrough):
    def __init__(self, trouble):
        self.trouble = trouble

    def process(self, near, far):
        self.trouble.strike()
        return near


class Recogniser(tiny.OneQuestion):
    def __init__(self, trouble):
        self.trouble = trouble

    def accept(self, audio):
        if audio.max() == VOICE:
            self.trouble.strike()
        return super().accept(audio)


class Judge:
    """Whoever stops has finished."""

    window = 16_000

    def __init__(self, trouble):
        self.trouble = trouble

    def probability(self, audio):
        self.trouble.strike()
        return 0.9


class Model(tiny.OneAnswer):
    def __init__(self, trouble):
        self.trouble = trouble

    def reply(self, messages, cancelled):
        self.trouble.strike()
        yield from super().reply(messages, cancelled)


class Voice(tiny.Hum):
    def __init__(self, trouble):
        self.trouble = trouble

    def speak(self, text, cancelled):
        self.trouble.strike()
        yield from super().speak(text, cancelled)


class Outside(tiny.Outside):
    """Both devices can be lost, and found again when they are wanted."""

    def __init__(self):
        super().__init__()
        self.failed = {}
        self.gone = set()

    def _opened(self, device, start):
        def open_it(callback, failed):
            if device in self.gone:
                raise app.DeviceError(f"{device.value} is gone")
            self.failed[device] = failed
            start(callback, failed)

        return open_it

    def world(self):
        world = super().world()
        for device, part in (
            (Device.MICROPHONE, world.microphone),
            (Device.SPEAKER, world.speaker),
        ):
            part.start = self._opened(device, part.start)
        return world

    def unplug(self, device):
        self.gone.add(device)
        self.failed[device]("its cable was pulled")

    def plug_in(self):
        self.gone.clear()


class Scene:
    """The house with its troubles, and somebody who talks to it."""

    def __init__(self):
        self.outside = Outside()
        self.witness = tiny.Witness(self.outside.log)
        self.trouble = {name: Trouble() for name in PARTS}
        self.unbuildable = {}
        self._looked = 0
        self.built = []

    @contextmanager
    def living(self, settings=SETTINGS):
        engines = tiny.engines()
        engines.echo = tiny.no_echo(Canceller(self.trouble["listen"]))
        engines.recogniser = Recogniser(self.trouble["recognise"])
        engines.end_of_turn = Judge(self.trouble["judge_end"])
        engines.model = Model(self.trouble["think"])
        engines.synthesiser = Voice(self.trouble["speak"])
        self.house = app.EdgeVoice(
            settings, self.outside.world(), engines, [self.witness], hung_after_s=HUNG_AFTER_S
        )
        self.outside.follow(self.house)
        with self.house:
            self.until_in(Place.IDLE)
            yield self
            for trouble in self.trouble.values():
                trouble.gate.set()

    def build(self, part, engine):
        """What the workshop does."""
        self.built.append(part)
        if part in self.unbuildable:
            raise self.unbuildable[part]
        return engine

    def until(self, happened, value=SILENT):
        self.outside.until(happened, value)

    def until_in(self, place, value=SILENT):
        """Until it is there, or has been since it was where it was waited for last."""
        places, looked = self.witness.places, self._looked
        self.until(lambda: places[-1:] == [place] or place in places[looked:], value)
        self._looked = len(places) - places[::-1].index(place)

    def until_over(self, turns=1):
        self.until(lambda: len(self.witness.turns) >= turns)

    def wake(self):
        self.outside.wake(lambda: self.witness.places[-1] is Place.LISTENING)
        self.until_in(Place.LISTENING)  # what is waited for next is another one

    def talk(self):
        self.wake()
        for _ in range(40):
            self.outside.step(VOICE)

    def ask(self, text):
        self.house.post(ev.Ask(time.monotonic(), text))

    @property
    def spoken(self):
        return [record.played for record in self.witness.turns]


@pytest.fixture
def scene(monkeypatch):
    scene = Scene()
    t = scene.trouble
    engines = {
        "echo": lambda: scene.build("listen", tiny.no_echo(Canceller(t["listen"]))),
        "detector": tiny.Loudness,
        "wake": tiny.Phrase,
        "recogniser": lambda: scene.build("recognise", Recogniser(t["recognise"])),
        "end_of_turn": lambda: scene.build("judge_end", Judge(t["judge_end"])),
        "language_model": lambda: scene.build("think", Model(t["think"])),
        "synthesiser": lambda: scene.build("speak", Voice(t["speak"])),
    }
    for name, make in engines.items():
        monkeypatch.setattr(Workshop, name, lambda self, make=make: make())
    monkeypatch.setattr(stage_module, "HEARTBEAT_S", 0.05)
    yield scene
    for trouble in t.values():
        trouble.gate.set()


# -- an engine thread raises or hangs -----------------------------------------------------


@pytest.mark.parametrize("part", PARTS)
def test_an_engine_that_raises_is_built_again_and_the_turn_goes_on(scene, part):
    with scene.living():
        scene.trouble[part].next = [ValueError("out of its mind")]
        scene.talk()
        scene.until_over()
    assert Place.RECOVERING in scene.witness.places
    assert scene.built == [part]
    assert scene.witness.turns[-1].heard == QUESTION
    assert scene.spoken[-1] == f"{QUESTION}. It is wide."


def test_nobody_waits_for_a_judge_that_hangs(scene):
    with scene.living():
        scene.trouble["judge_end"].next = ["hang"]
        scene.talk()
        scene.until_over()
        assert scene.spoken == [f"{QUESTION}. It is wide."]
        scene.until(lambda: scene.built == ["judge_end"])


@pytest.mark.parametrize("part", [part for part in PARTS if part != "judge_end"])
def test_an_engine_that_hangs_is_left_behind_and_the_turn_goes_on(scene, part, caplog):
    with scene.living():
        scene.trouble[part].next = ["hang"]
        scene.wake() if part != "listen" else scene.until(scene.trouble[part].hangs.is_set)
        for _ in range(40):
            scene.outside.step(VOICE)
        if part == "listen":
            scene.until_in(Place.IDLE)
            scene.talk()
        scene.until_over()
        assert f"stage {part} hangs in its engine; its thread is left behind" in caplog.text
        played, turns = scene.outside.played, len(scene.witness.turns)
        scene.trouble[part].gate.set()
        for _ in range(50):
            scene.outside.step()
    assert scene.built == [part]
    assert scene.spoken[-1] == f"{QUESTION}. It is wide."
    assert (scene.outside.played, len(scene.witness.turns)) == (played, turns), "late, but heard"


def test_an_engine_that_fails_twice_in_one_turn_is_excused(scene):
    with scene.living():
        scene.trouble["think"].next = [ValueError("once"), ValueError("twice")]
        scene.ask("what is new")
        scene.until_over()
    assert scene.built == ["think", "think"]
    assert "what is new" not in scene.spoken[-1]
    assert scene.spoken[-1] == scene.house._core.lexicon.phrases["unavailable"]


def test_a_part_without_which_nothing_works_ends_the_process_when_it_cannot_be_built(scene):
    scene.unbuildable["recognise"] = ModelError("the model is gone", "fetch it again")
    with scene.living(replace(SETTINGS, timeouts=Timeouts(faulted_s=1.0))):
        scene.trouble["recognise"].next = [ValueError("dead")]
        scene.talk()
        scene.until(lambda: scene.house.wait(0.0))
    assert Place.FAULTED in scene.witness.places
    assert scene.house.status == 70


# -- the language model -----------------------------------------------------------------


@pytest.mark.parametrize("error", [EngineError("out of memory"), MemoryError()])
def test_a_model_out_of_memory_is_asked_three_times_more_and_then_excused(scene, error):
    with scene.living():
        scene.trouble["think"].next = [error] * 4
        scene.ask("what is new")
        scene.until_over()
        scene.ask("and now")
        scene.until_over(2)
    assert scene.spoken[0] == scene.house._core.lexicon.phrases["unavailable"]
    assert scene.spoken[1] == "and now. It is wide."
    assert set(scene.built) == {"think"}
    assert Place.RECOVERING not in scene.witness.places


def test_without_its_model_the_device_still_speaks_and_is_whole_when_the_model_is_back(scene):
    with scene.living():
        scene.unbuildable["think"] = ModelError("the model is gone", "fetch it again")
        scene.trouble["think"].next = [ValueError("dead")]
        scene.ask("what is new")
        scene.until_over()
        assert scene.spoken == [scene.house._core.lexicon.phrases["unavailable"]]
        before = scene.witness.places.count(Place.PLAYING)
        scene.house.post(ev.Say(time.monotonic(), "The tea is ready."))
        scene.until(lambda: scene.witness.places.count(Place.PLAYING) > before)
        scene.unbuildable.clear()
        while "and now. It is wide." not in scene.spoken:  # it may be on its way back still
            scene.ask("and now")
            scene.until_over(len(scene.witness.turns) + 1)
    assert Place.FAULTED not in scene.witness.places


# -- the voice ------------------------------------------------------------------------------


def test_an_answer_that_cannot_be_spoken_is_a_sound_and_stands_in_the_record(scene, monkeypatch):
    chimes = []
    with scene.living():
        monkeypatch.setattr(scene.house.play, "chime", chimes.append)
        scene.trouble["speak"].next = [EngineError("no voice")]
        scene.ask("what is new")
        scene.until_over()
        scene.until_in(Place.LISTENING)
        scene.ask("and now")
        scene.until_over(2)
    assert "error" in chimes
    assert scene.witness.turns[0].answered.startswith("what is new.")
    assert scene.spoken[0] == ""
    assert scene.spoken[1].endswith("and now. It is wide.")
    assert scene.built == ["speak"]


def test_without_a_voice_the_device_still_listens_and_answers_in_the_record(scene):
    scene.unbuildable["speak"] = ModelError("the voice is gone", "fetch it again")
    with scene.living():
        scene.trouble["speak"].next = [ValueError("dead")]
        scene.ask("what is new")
        scene.until_over()
        assert scene.house.wait(0.0) is False
        scene.until_in(Place.LISTENING)
    assert scene.witness.turns[-1].answered.startswith("what is new")
    assert scene.spoken[-1] == ""


# -- devices ---------------------------------------------------------------------------------


def idle(scene):
    pass


def listening(scene):
    scene.wake()


def thinking(scene):
    scene.trouble["think"].next = ["hang"]
    scene.ask("what is new")
    scene.until(scene.trouble["think"].hangs.is_set)


def speaking(scene):
    scene.ask("what is new " * 20)
    scene.until_in(Place.PLAYING)


def muted(scene):
    scene.house.post(ev.Mute(time.monotonic()))
    scene.until_in(Place.SUSPENDED)


@pytest.mark.parametrize("device", Device)
@pytest.mark.parametrize("state", [idle, listening, thinking, speaking])
def test_a_device_that_is_lost_in_any_state_is_opened_again_and_it_goes_on(scene, state, device):
    with scene.living():
        state(scene)
        before = scene.witness.places[-1]
        scene.outside.unplug(device)
        scene.until_in(Place.RECOVERING)
        scene.outside.plug_in()
        scene.until_in(before)
        scene.trouble["think"].gate.set()
        if state in (thinking, speaking):
            scene.until_over()
            assert scene.spoken[-1].endswith("It is wide.")
        scene.ask("and now")
        scene.until(lambda: scene.spoken[-1:] == ["and now. It is wide."])


def test_a_microphone_that_is_lost_while_muted_is_opened_when_it_is_wanted(scene):
    with scene.living():
        muted(scene)
        scene.outside.unplug(Device.MICROPHONE)
        scene.outside.plug_in()
        scene.house.post(ev.Unmute(time.monotonic()))
        scene.until_in(Place.IDLE)
        scene.wake()


def test_a_device_that_stays_away_is_a_fault_and_looked_for_again(scene):
    short = replace(SETTINGS, timeouts=Timeouts(recovering_s=1.0, faulted_s=1.0))
    with scene.living(short):
        scene.outside.unplug(Device.SPEAKER)
        scene.until_in(Place.FAULTED)
        scene.outside.plug_in()
        scene.until_in(Place.IDLE)


# -- the breaker, and what nobody foresaw ------------------------------------------------------


def test_three_faults_of_one_kind_open_the_breaker_and_stop_the_building(scene):
    calm = RecoveryTuning(breaker_open_s=1.0)
    with scene.living(Settings(recovery=calm)):
        scene.trouble["listen"].next = [ValueError(n) for n in "123"]
        scene.until_in(Place.FAULTED)
        assert scene.built == ["listen", "listen"]
        scene.until_in(Place.IDLE)
        assert scene.built == ["listen"] * 3
        scene.talk()
        scene.until_over()


@pytest.mark.parametrize("before", ["think", "speak"])
def test_an_unforeseen_error_is_excused_and_the_device_goes_on(scene, monkeypatch, before):
    """It happens to whoever hands work to that stage: the intents' thread, or the driver's."""
    with scene.living():
        stage = getattr(scene.house, before)
        post = stage.post

        def stumble(command):
            monkeypatch.setattr(stage, "post", post)
            raise ZeroDivisionError("nobody foresaw it")

        monkeypatch.setattr(stage, "post", stumble)
        scene.ask("what is new")
        scene.until_over()
        scene.ask("and now")
        scene.until(lambda: scene.spoken[-1:] == ["and now. It is wide."])


# -- settings that change -----------------------------------------------------------------------


def test_other_settings_are_in_force_at_once_and_engines_when_nobody_talks(scene):
    with scene.living():
        speaking(scene)
        changed = scene.house.reload(
            replace(SETTINGS, tts=Tts(length_scale=1.5), activation=["always"])
        )
        assert changed.parts == ("speak",)
        assert scene.built == []
        scene.until_over()
        assert scene.spoken[-1].endswith("It is wide."), "the conversation was not dropped"
        scene.until(lambda: scene.built == ["speak"])
        scene.ask("and now")
        scene.until(lambda: scene.spoken[-1:] == ["and now. It is wide."])
    assert scene.house.settings.tts.length_scale == 1.5
    assert Place.RECOVERING not in scene.witness.places


def test_an_engine_that_fails_while_another_waits_to_take_its_place_is_built_at_once(scene):
    settings = replace(SETTINGS, timeouts=Timeouts(follow_up_s=1.0))
    with scene.living(settings):
        speaking(scene)
        scene.house.reload(replace(settings, tts=Tts(length_scale=1.5)))
        scene.until_over()
        scene.trouble["speak"].next = [ValueError("out of its mind")]
        scene.ask("and now")
        scene.until(lambda: "and now. It is wide." in scene.spoken[-1])
        assert Place.RECOVERING in scene.witness.places
        assert scene.built == ["speak"]
        scene.until(lambda: len(scene.built) == 2)
    assert Place.FAULTED not in scene.witness.places


def test_an_engine_that_cannot_be_built_of_the_new_settings_leaves_the_old_one_at_work(
    scene, caplog
):
    scene.unbuildable["speak"] = ModelError("the voice is broken", "fetch it again")
    with scene.living():
        scene.house.reload(replace(SETTINGS, tts=Tts(length_scale=1.5)))
        scene.until(lambda: "speak keeps its old engine: the voice is broken" in caplog.text)
        scene.ask("and now")
        scene.until(lambda: scene.spoken[-1:] == ["and now. It is wide."])


def test_another_policy_brings_the_judge_that_it_needs(scene):
    settings = replace(SETTINGS, turn=Turn())
    with scene.living(settings):
        changed = scene.house.reload(SETTINGS)
        assert changed.parts == ("judge_end",)
        scene.until(lambda: scene.built == ["judge_end"])
        scene.trouble["judge_end"].next = [ValueError("it was asked")]
        scene.talk()
        scene.until(lambda: scene.built == ["judge_end"] * 2)
        scene.until_over()


def test_a_model_that_is_not_there_is_refused_and_nothing_changes(scene):
    with scene.living():
        before = scene.house.settings
        with pytest.raises(ModelError):
            scene.house.reload(replace(SETTINGS, tts=Tts(voice="/no/such/voice.onnx")))
        assert scene.house.settings is before


# -- the supervisor alone ------------------------------------------------------------------------


def test_a_process_that_stood_still_is_no_reason_to_call_its_stages_hung():
    class Still:
        def silent_s(self, now):
            return 100.0

    class Part:
        stage = Still()

    now = 0.0
    told = []
    supervisor = Supervisor({"think": Part()}, told.append, clock=lambda: now)
    now = 100.0
    supervisor.look()
    assert told == []


def test_a_stage_is_told_of_once(scene):
    faults = []
    with scene.living():
        post = scene.house._supervisor._post
        scene.house._supervisor._post = lambda e: (faults.append(e), post(e))
        thinking(scene)
        scene.until(lambda: scene.built == ["think"])
        for _ in range(20):
            scene.outside.step()
    kinds = [event.kind for event in faults if isinstance(event, ev.Fault)]
    assert kinds == [FaultKind.ENGINE]
