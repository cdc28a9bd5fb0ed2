"""What a reload makes of each key."""

from dataclasses import replace

from edgevoice.settings.effects import AT_ONCE, REBUILT, Changes, changes
from edgevoice.settings.keys import KEYS, SECTIONS, TOOLS
from edgevoice.settings.schema import Audio, Llm, Settings, Tts, UserTool


def test_every_name_is_a_key_or_a_section():
    for name in (*AT_ONCE, *REBUILT):
        assert name in KEYS or name in SECTIONS or name == TOOLS, name


def test_everything_the_core_decides_by_is_in_force_at_once():
    sections = {"turn", "barge_in", "timeouts", "dead_air", "button", "history", "recovery"}
    assert sections | {"activation", "language"} <= AT_ONCE


def test_changes_are_told_by_what_they_take():
    old = Settings()
    new = replace(
        old,
        activation=["button"],
        audio=Audio(volume=50, period_ms=20, echo="none"),
        llm=Llm(max_tokens=99),
        tts=Tts(voice="other"),
    )
    changed = changes(old, new)
    assert changed.at_once == ("activation", "audio.volume")
    assert changed.rebuilt == ("audio.echo", "llm.max_tokens", "tts.voice")
    assert changed.restart == ("audio.period_ms",)
    assert changed.parts == ("listen", "speak", "think")
    assert str(changed) == (
        "in force: activation, audio.volume; "
        "as soon as nobody talks: audio.echo, llm.max_tokens, tts.voice; "
        "after a restart: audio.period_ms"
    )


def test_the_window_of_the_model_is_a_key_of_the_history_and_takes_another_model():
    old = Settings()
    new = replace(old, history=replace(old.history, context_tokens=1024))
    assert changes(old, new) == Changes(rebuilt=("history.context_tokens",))


def test_other_tools_are_there_at_once():
    lamp = UserTool(name="lamp", description="Switch the lamp.", command=("lamp",))
    assert changes(Settings(), Settings(tools=(lamp,))) == Changes(at_once=("tools",))


def test_nothing_changed():
    assert str(changes(Settings(), Settings())) == "no change"
