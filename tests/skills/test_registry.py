import json
import logging

import pytest

from edgevoice.errors import ConfigError
from edgevoice.ports import Outcome
from edgevoice.skills.registry import Registry, Tool, parameters

STATE = parameters(("state",), state={"enum": ["on", "off"]})


class Calm:
    def cancelled(self):
        return False

    def beat(self):
        pass


def registry(run=lambda arguments, task: Outcome("done")):
    tools = Registry()
    tools.add(Tool("lamp", "Switch the lamp.", run, STATE))
    return tools


def error(outcome):
    return json.loads(outcome.result)["error"]


def test_a_tool_runs_with_arguments_that_fit():
    seen = []
    tools = registry(lambda arguments, task: seen.append(arguments) or Outcome("on", "It is on."))
    assert tools.run("lamp", '{"state": "on"}', Calm()) == Outcome("on", "It is on.")
    assert seen == [{"state": "on"}]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "must be object"),
        ("{}", "must contain"),
        ('{"state": "green"}', "must be one of"),
        ('{"state": "on", "more": 1}', "must not contain"),
    ],
)
def test_bad_arguments_are_an_error_result_and_nothing_runs(arguments, what):
    tools = registry(lambda arguments, task: pytest.fail("it ran"))
    assert what in error(tools.run("lamp", arguments, Calm()))


def test_an_unknown_tool_is_an_error_result():
    assert "no tool named door" in error(registry().run("door", "{}", Calm()))


def test_what_a_tool_raises_is_a_result_and_its_text_is_in_no_log(caplog):
    def fail(arguments, task):
        raise RuntimeError("the secret word")

    with caplog.at_level(logging.DEBUG):
        outcome = registry(fail).run("lamp", '{"state": "on"}', Calm())
    assert error(outcome) == "RuntimeError: the secret word"
    assert "secret" not in caplog.text


def test_a_name_is_taken_once():
    tools = registry()
    with pytest.raises(ConfigError, match="lamp"):
        tools.add(Tool("lamp", "Another.", lambda a, t: Outcome()))


def test_a_schema_that_is_none_is_one_clear_error():
    with pytest.raises(ConfigError, match="tool lamp: its parameters are no JSON schema"):
        Registry().add(Tool("lamp", "", lambda a, t: Outcome(), {"type": "nonsense"}))
