"""What a check found: a verdict, what is so, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """How it is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    SKIPPED = "skipped"
    """It could not be looked at here; the finding says why."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor."""

    check: str
    verdict: Verdict
    what: str
    todo: str = ""
    figures: dict[str, float] = field(default_factory=dict)
    """What was measured, for programs; the names have the units in them."""

    def lines(self) -> list[str]:
        """For people: what is so, and under it what to do."""
        told = [f"{self.verdict:8} {self.check:14} {self.what}"]
        return [*told, f"{'':24}→ {self.todo}"] if self.todo else told

    def entry(self) -> dict[str, Any]:
        """For programs."""
        return {
            "check": self.check,
            "verdict": self.verdict.value,
            "what": self.what,
            "todo": self.todo,
            "figures": self.figures,
        }


def ok(check: str, what: str, **figures: float) -> Finding:
    """All is well."""
    return Finding(check, Verdict.OK, what, figures=figures)


def warn(check: str, what: str, todo: str, **figures: float) -> Finding:
    """It works, but not as well as it could."""
    return Finding(check, Verdict.WARN, what, todo, figures)


def fail(check: str, what: str, todo: str, **figures: float) -> Finding:
    """It cannot work like this."""
    return Finding(check, Verdict.FAIL, what, todo, figures)


def skipped(check: str, why: str) -> Finding:
    """It could not be looked at."""
    return Finding(check, Verdict.SKIPPED, why)
