"""Commands of the owner's, with real processes: whatever they do harms nothing."""

import json
import os
import sys
import time

import pytest

from edgevoice.skills.commands import MAX_OUTPUT, CommandError, Limits, run
from edgevoice.skills.registry import Registry, parameters
from edgevoice.skills.user import CommandTool


def limits(timeout_s=20.0, directory="", **environment):
    return Limits(timeout_s, directory, environment)


def python(code, *arguments):
    return [sys.executable, "-c", code, *arguments]


def never():
    return False


class Task:
    def __init__(self):
        self.beats = 0

    def cancelled(self):
        return False

    def beat(self):
        self.beats += 1


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # One that is dead and not yet fetched by its parent does nothing any more.
    return "Z" not in open(f"/proc/{pid}/stat").read().split(")")[1].split()[0]


def tool(code, **more):
    literal = code.replace("{", "{{").replace("}", "}}")
    return CommandTool("lamp", "", python(literal), parameters(), **more).tool()


def called(code, **more):
    tools = Registry()
    tools.add(tool(code, **more))
    return tools.run("lamp", "{}", Task())


def test_what_it_prints_is_the_result():
    assert run(["echo", "hello"], limits(), never) == "hello\n"


def test_no_shell_sees_an_argument():
    assert run(["echo", "$HOME; rm -rf *", "`id`"], limits(), never) == "$HOME; rm -rf * `id`\n"


def test_ten_megabytes_are_read_and_not_kept():
    text = run(python("print('x' * 10_000_000)"), limits(), never)
    assert len(text) == MAX_OUTPUT


def test_one_that_hangs_is_ended_with_its_children(tmp_path):
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n"
        "time.sleep(600)"
    )
    with pytest.raises(CommandError, match="too long"):
        run(python(code), limits(timeout_s=3), never)
    child = int((tmp_path / "pid").read_text())
    for _ in range(200):
        if not alive(child):
            break
        time.sleep(0.02)
    assert not alive(child)


def test_a_child_that_keeps_the_output_open_keeps_nobody():
    code = (
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print('done')"
    )
    assert run(python(code), limits(), never) == "done\n"


def test_one_that_ignores_the_polite_signal_is_ended_all_the_same():
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    with pytest.raises(CommandError, match="too long"):
        run(python(code), limits(timeout_s=0.5), never)


def test_one_that_prints_for_ever_is_ended():
    with pytest.raises(CommandError, match="too long"):
        run(["yes"], limits(timeout_s=0.5), never)


def test_a_call_that_is_called_off_ends_at_once():
    with pytest.raises(CommandError, match="called off"):
        run(["sleep", "600"], limits(), lambda: True)


def test_one_that_closes_its_output_and_goes_on_is_waited_for():
    code = "import os, time; os.close(1); time.sleep(0.2)"
    assert run(python(code), limits(), never) == ""


def test_it_reads_no_keyboard():
    assert run(["cat"], limits(), never) == ""


def test_its_environment_is_clean(monkeypatch):
    monkeypatch.setenv("SECRET", "word")
    monkeypatch.setenv("LANG", "C.UTF-8")
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    seen = json.loads(run(python(code), limits(LAMP="kitchen"), never))
    assert seen["LAMP"] == "kitchen"
    assert seen["LANG"] == "C.UTF-8"
    assert "SECRET" not in seen
    assert set(seen) <= {"PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LAMP"}


@pytest.mark.parametrize("command", [["/nowhere/program"], ["/"], ["a\0b"]])
def test_one_that_cannot_be_started_is_one_clear_error(command):
    with pytest.raises(CommandError, match="cannot be started"):
        run(command, limits(), never)


@pytest.mark.parametrize(
    "code",
    [
        "raise SystemExit(3)",
        "import os; os.kill(os.getpid(), 9)",
        "import time; time.sleep(600)",
    ],
)
def test_every_failure_is_an_error_result(code):
    assert "error" in json.loads(called(code, timeout_s=2.0).result)


@pytest.mark.parametrize("printed", ["{", "", "7", "[1]", "nan nan", "[" * 50_000])
def test_bad_json_is_an_error_result(printed):
    outcome = called(f"print({printed!r})", is_json=True)
    assert "printed no JSON" in json.loads(outcome.result)["error"]


def test_json_tells_the_model_one_thing_and_the_user_another():
    printed = json.dumps({"result": {"lux": 7}, "say": "It is **dim**. 💡"})
    outcome = called(f"print({printed!r})", is_json=True)
    assert json.loads(outcome.result) == {"lux": 7}
    assert outcome.spoken == "It is dim."


def test_text_is_the_result_and_a_confirmation_is_said():
    assert called("print('on')").result == "on"
    assert called("print('on')").spoken == ""
    assert called("print('on')", say="The lamp is on.").spoken == "The lamp is on."


def test_output_that_is_no_text_does_no_harm():
    assert called("import os; os.write(1, b'\\xff\\xfe ok')").result.endswith("ok")


def test_values_stand_for_their_names_and_stay_one_argument():
    lamp = CommandTool(
        "lamp",
        "",
        python("import sys; print(sys.argv[1:])", "--state={state}", "{level}", "{room}"),
        parameters(
            ("state",), state={"type": "string"}, level={"type": "integer"}, room={"type": "string"}
        ),
    )
    tools = Registry()
    tools.add(lamp.tool())
    outcome = tools.run("lamp", '{"state": "on; off {x}", "level": 7}', Task())
    assert outcome.result == "['--state=on; off {x}', '7', '']"


def test_a_value_cannot_become_an_option():
    lamp = CommandTool("lamp", "", ["echo", "{s}"], parameters(s={"type": "string"}))
    tools = Registry()
    tools.add(lamp.tool())
    assert "must not begin" in tools.run("lamp", '{"s": "--help"}', Task()).result


def test_what_it_prints_shows_that_it_lives():
    task = Task()
    tools = Registry()
    tools.add(tool("print('a', flush=True); print('b')"))
    tools.run("lamp", "{}", task)
    assert task.beats >= 1


def test_it_runs_in_a_directory_of_its_own_that_goes_away():
    where = called("import os; open('left', 'w'); print(os.getcwd())").result
    assert "edgevoice-tool-" in where
    assert not os.path.exists(where)
