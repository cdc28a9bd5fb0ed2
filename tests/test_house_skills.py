"""Skills in the whole house: tools that misbehave, tools that change, tools that a model calls."""

import json
import sys
import time
from dataclasses import replace

import pytest

from edgevoice import app, skillset
from edgevoice.core import events as ev
from edgevoice.core.lexicon import lexicon
from edgevoice.core.table import Place
from edgevoice.engines import Workshop
from edgevoice.errors import ConfigError
from edgevoice.ports import Call
from edgevoice.settings.schema import Llm, Parameter, Settings, UserTool
from tests import test_app as tiny

FAILED = lexicon("en").phrases["tool_failed"]


def tool(name, code, **more):
    """A command of the owner's that is called by its name."""
    return UserTool(
        name=name,
        description=f"Do {name}.",
        command=(sys.executable, "-c", code),
        sentences=(name,),
        **more,
    )


class Living:
    """A house and who talks to it by typing."""

    def __init__(self, state):
        self.outside = tiny.Outside()
        self.witness = tiny.Witness(self.outside.log)
        self.engines = tiny.engines()
        self.state = state

    def house(self, *tools, **settings):
        self.settings = Settings(tools=tools, **settings)
        self.device = app.EdgeVoice(
            self.settings, self.outside.world(), self.engines, [self.witness], state=self.state
        )
        return self.outside.follow(self.device)

    def at_rest(self):
        self.outside.until(lambda: self.witness.places[-1:] in ([Place.IDLE], [Place.LISTENING]))

    def ask(self, text):
        """What it answers."""
        self.at_rest()
        self.device.post(ev.Ask(time.monotonic(), text))
        self.outside.until(lambda: text in [turn.heard for turn in self.witness.turns])
        return self.witness.turns[-1].played

    def knows_the_time(self):
        return self.ask("what time is it").startswith("It is")


@pytest.fixture
def living(tmp_path):
    return Living(tmp_path)


MISBEHAVING = {
    "one that raises": "raise ValueError('secret')",
    "one that hangs": "import time; time.sleep(600)",
    "one that is killed": "import os; os.kill(os.getpid(), 9)",
    "ten megabytes": "print('x' * 10_000_000)",
    "no json": "print('{\"result\": ')",
}


@pytest.mark.parametrize("what", MISBEHAVING)
def test_a_tool_that_misbehaves_harms_nothing(living, what):
    output = "json" if what == "no json" else "text"
    bad = tool("misbehave", MISBEHAVING[what], timeout_s=1.0, output=output)
    with living.house(bad) as house:
        said = living.ask("misbehave")
        if what == "ten megabytes":
            assert 0 < said.count("x") <= 1000
        else:
            assert said == FAILED
        assert living.knows_the_time()
        assert house.tools._calls == {}
    assert Place.RECOVERING not in living.witness.places
    assert Place.FAULTED not in living.witness.places


def test_a_slow_tool_tells_its_progress_and_ends_when_it_is_called_off(living, tmp_path):
    slow = tool(
        "backup",
        f"import time; open({str(tmp_path / 'began')!r}, 'w'); time.sleep(600)",
        long_running=True,
        timeout_s=300.0,
    )
    with living.house(slow) as house:
        living.at_rest()
        house.post(ev.Ask(time.monotonic(), "backup"))
        spoken = lexicon("en").progress[0]
        living.outside.until(lambda: spoken in [turn.played for turn in living.witness.turns])
        living.outside.until((tmp_path / "began").exists)
        house.post(ev.EndConversation(time.monotonic()))
        living.outside.until(lambda: house.tools._calls == {})
        assert living.knows_the_time()


def test_other_tools_and_another_language_are_in_force_without_a_restart(living):
    with living.house() as house:
        living.ask("set a tea timer for one hour")
        lamp = tool("lamp on", "print('The lamp is on.')")
        lamp = replace(lamp, name="lamp")
        changed = house.reload(replace(living.settings, tools=(lamp,)))
        assert changed.at_once == ("tools",)
        assert living.ask("lamp on") == "The lamp is on."
        assert "tea" in living.ask("what timers are running"), "the timers are the same"
        house.reload(replace(living.settings, language="de"))
        assert living.ask("wie spät ist es").startswith("Es ist")
        assert "tea" in living.ask("welche timer laufen")


def test_a_broken_tool_is_refused_and_nothing_has_changed(living):
    with living.house() as house:
        broken = replace(tool("lamp", "pass"), sentences=("(lamp",))
        with pytest.raises(ConfigError, match="lamp"):
            house.reload(replace(living.settings, tools=(broken,), language="de"))
        assert house.settings.language == "en"
        assert living.knows_the_time()


class Caller:
    """A model that calls the lamp, wrong at first, and tells what came of it."""

    def __init__(self):
        self.tools = ()
        self.prompts = []

    def prefill(self, messages, cancelled):
        pass

    def anticipate(self, messages, tokens, cancelled):
        return iter(())

    def whole(self, messages, cancelled):
        return None

    def reply(self, messages, cancelled):
        self.prompts.append(messages)
        results = [line for m in messages if m.role == "tool" for line in m.text.split("\n")]
        if len(results) < 2:
            yield Call("lamp", {"state": ("maybe", "on")[len(results)]})
        else:
            yield "It is bright now."


LAMP = UserTool(
    name="lamp",
    description="Switch the lamp.",
    command=(sys.executable, "-c", "import sys; print('lamp', sys.argv[1])", "{state}"),
    parameters={"state": Parameter(choices=("on", "off"))},
)


def test_a_model_calls_a_tool_and_learns_what_is_wrong_with_its_arguments(living):
    model = living.engines.model = Caller()
    living.engines.model_uses_tools = True
    with living.house(LAMP, llm=Llm(tools="on")):
        assert living.ask("it is dark in here") == "It is bright now."
    assert "lamp" in [offer.name for offer in model.tools]
    results = [m.text for m in model.prompts[-1] if m.role == "tool"]
    wrong, right = "\n".join(results).split("\n")
    assert "state" in json.loads(wrong)["error"]
    assert right == "lamp on"


def test_a_model_that_is_not_trusted_with_tools_does_not_get_to_know_them(living):
    model = living.engines.model = Caller()
    model.reply = lambda messages, cancelled: iter(["It is dark."])
    with living.house(LAMP):
        assert living.ask("it is dark in here") == "It is dark."
    assert model.tools == ()


@pytest.mark.parametrize("trusted", [True, False])
def test_a_model_is_told_of_other_tools_by_being_built_again(living, monkeypatch, trusted):
    fresh = Caller()
    monkeypatch.setattr(Workshop, "language_model", lambda self: fresh)
    monkeypatch.setattr(Workshop, "model_uses_tools", trusted)
    living.engines.model_uses_tools = trusted
    living.engines.model = Caller()
    with living.house() as house:
        living.at_rest()
        house.reload(replace(living.settings, tools=(LAMP,)))
        if trusted:
            living.outside.until(lambda: "lamp" in [offer.name for offer in fresh.tools])
        else:
            assert living.knows_the_time()
            assert house.think._model is living.engines.model


@pytest.mark.parametrize(
    ("said", "long", "limit_s"), [(0.0, False, 10.0), (0.0, True, 300.0), (7.0, True, 7.0)]
)
def test_how_long_a_command_may_take_when_nothing_is_said(said, long, limit_s):
    settings = UserTool("lamp", "", ["true"], timeout_s=said, long_running=long)
    assert skillset._command(settings, Settings().timeouts.task_s).timeout_s == limit_s
