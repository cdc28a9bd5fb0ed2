"""What is done when something happens: one function for each rule of the table.

A rule takes the conversation and the event.  It may move to the places its row
names, and gives commands; it decides nothing that another rule decides.
"""

from __future__ import annotations

from collections.abc import Callable

from edgevoice.core.conversation import Conversation
from edgevoice.core.events import Event
from edgevoice.core.rules import away, ear, faults, mind, mouth, owner, tools
from edgevoice.core.table import TABLE

Rule = Callable[[Conversation, Event], None]


def ignore(c: Conversation, event: Event) -> None:
    """Harmless where it arrives."""


def _find(name: str) -> Rule:
    if name == "ignore":
        return ignore
    homes = [m for m in (ear, mind, mouth, tools, owner, away, faults) if name in vars(m)]
    defined = [m for m in homes if getattr(m, name).__module__ == m.__name__]
    assert len(defined) == 1, f"rule {name} must have one home, not {len(defined)}"
    rule: Rule = getattr(defined[0], name)
    return rule


RULES: dict[str, Rule] = {
    row.rule: _find(row.rule) for rows in TABLE.values() for row in rows.values()
}
