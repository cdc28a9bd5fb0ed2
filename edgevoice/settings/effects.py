"""What a change of each key takes: nothing, an engine built again, or a restart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from edgevoice.settings.keys import KEYS, TOOLS, value_of
from edgevoice.settings.schema import Settings

AT_ONCE = frozenset(
    {
        "turn", "barge_in", "timeouts", "dead_air", "button", "history", "recovery",
        "activation", "language", "profile", "privacy", "log", "tools",
        "audio.earcons", "audio.volume",
        "wake_word.threshold", "wake_word.threshold_while_speaking", "wake_word.patience",
    }
)  # fmt: skip
"""Sections and keys that are read whenever they are needed."""

REBUILT: Mapping[str, str] = MappingProxyType(
    {
        "audio.echo": "listen",
        "audio.delay_ms": "listen",
        "wake_word.model": "listen",
        "recogniser": "recognise",
        "turn.policy": "judge_end",
        "llm": "think",
        "history.context_tokens": "think",
        "tts": "speak",
    }
)
"""Sections and keys that an engine is built with, and the stage that runs it."""


@dataclass(frozen=True)
class Changes:
    """What differs between two configurations: dotted keys, by what each change takes."""

    at_once: tuple[str, ...] = ()
    rebuilt: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """The stages that need engines built again."""
        return tuple(sorted({part for key in self.rebuilt if (part := _part(key))}))

    def __str__(self) -> str:
        """One line, without the values."""
        told = (
            ("in force", self.at_once),
            ("as soon as nobody talks", self.rebuilt),
            ("after a restart", self.restart),
        )
        return "; ".join(f"{when}: {', '.join(keys)}" for when, keys in told if keys) or "no change"


def changes(old: Settings, new: Settings) -> Changes:
    """The keys that ``new`` changes.

    A key nobody has placed takes a restart: that is never wrong.
    """
    changed = [key for key in KEYS if value_of(old, key) != value_of(new, key)]
    if old.tools != new.tools:
        changed.append(TOOLS)
    rebuilt = tuple(key for key in changed if _part(key))
    at_once = tuple(key for key in changed if not _part(key) and _named(key, AT_ONCE))
    return Changes(at_once, rebuilt, tuple(k for k in changed if k not in (*at_once, *rebuilt)))


def _part(key: str) -> str | None:
    return REBUILT.get(key) or REBUILT.get(_section(key))


def _named(key: str, names: frozenset[str]) -> bool:
    return key in names or _section(key) in names


def _section(key: str) -> str:
    return key.rpartition(".")[0]
