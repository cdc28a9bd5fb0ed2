"""What became of each changed function of the core: ``python -m tests.mutants``, after mutmut.

It writes `docs/mutants.md`: how many were killed, and each that survived with the judgement that
stands behind its line there.  A mutant that mypy refuses never gets as far as a test and does not
count; one is killed when a test fails, or never comes to an end.  The result is 1 when a survivor
has no judgement, or when fewer than `WANTED` were killed of those that count.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

WANTED = 0.90
PAGE = Path(__file__).parents[1] / "docs" / "mutants.md"
UNJUDGED = "**not judged**"
_DEAD = ("killed", "timeout", "segfault")
_REFUSED = "caught by type check"
_UNTRIED = "not checked"
_JUDGED_LINE = re.compile(r"^- (`.+`) — (.+)$", re.M)
_INTRODUCTION = """\
# Mutants of the core

`make mutants` changes every function of `edgevoice/core/`, one change at a time (mutmut), and runs
the tests of the core. This page is what came of it; `python -m tests.mutants` writes it, and keeps
what is said behind each survivor. A change that mypy refuses is none that a test must find: `make
lint` fails on it.
"""


@dataclass(frozen=True)
class Mutant:
    """One change of one function, and what became of it."""

    name: str
    path: Path
    status: str

    @property
    def module(self) -> str:
        """As it is called inside the core."""
        return self.name.removeprefix("edgevoice.core.").rpartition(".")[0]

    @property
    def function(self) -> str:
        """With its class, if it has one."""
        mangled = self.name.rpartition(".")[2].partition("__mutmut_")[0]
        return mangled.removeprefix("x_").removeprefix("xǁ").replace("ǁ", ".")

    def line(self) -> str:
        """As `docs/mutants.md` names it: the function, the code and what it was changed to."""
        from mutmut.mutation.diff_apply import get_diff_for_mutant

        diff = get_diff_for_mutant(self.name, path=self.path).splitlines()[3:]
        old, new = (_joined(diff, sign) for sign in "-+")
        return f"`{self.module}.{self.function}`: `{old}` → `{new}`"


def _joined(diff: list[str], sign: str) -> str:
    return " ".join(line[1:].strip() for line in diff if line.startswith(sign)) or "(nothing)"


def mutants() -> Iterator[Mutant]:
    """All of the last run."""
    from mutmut.mutation.data import SourceFileMutationData
    from mutmut.stats import status_by_exit_code
    from mutmut.utils.file_utils import walk_mutatable_files

    for path in sorted(walk_mutatable_files()):
        data = SourceFileMutationData(path=path)
        data.load()
        for name, code in data.exit_code_by_key.items():
            yield Mutant(name, path, status_by_exit_code[code])


def table(found: list[Mutant]) -> Iterator[str]:
    """How many were killed, module by module."""
    by_module: dict[str, Counter[str]] = defaultdict(Counter)
    for mutant in found:
        by_module[mutant.module][mutant.status] += 1
        by_module["all"][mutant.status] += 1
    yield "| module | mutants | refused by mypy | killed | by timeout | survived | killed of rest |"
    yield f"| --- {'| ---: ' * 6}|"
    for module, of in sorted(by_module.items(), key=lambda item: (item[0] == "all", item[0])):
        dead = sum(of[status] for status in _DEAD)
        tried = of.total() - of[_REFUSED]
        share = f"{dead / tried:.1%}" if tried else "–"
        cells = (module, of.total(), of[_REFUSED], dead, of["timeout"], tried - dead, share)
        yield f"| {' | '.join(map(str, cells))} |"


def survivors(alive: list[Mutant], reasons: dict[str, str]) -> Iterator[str]:
    """Each with its judgement, module by module."""
    for module, group in groupby(alive, key=lambda mutant: mutant.module):
        yield f"\n### {module}\n"
        for line in sorted({mutant.line() for mutant in group}):
            yield f"- {line} — {reasons.pop(line, UNJUDGED)}"


def page(found: list[Mutant], alive: list[Mutant], untried: int) -> Iterator[str]:
    """All of `docs/mutants.md`; judgements of what was not tried again are kept."""
    reasons = dict(_JUDGED_LINE.findall(PAGE.read_text(encoding="utf-8")))
    yield from (_INTRODUCTION, *table(found), "")
    if untried:
        yield f"The run was stopped: {untried} mutants have not been tried yet.\n"
    yield from ("## What survives, and why", *survivors(alive, reasons))
    if untried and reasons:
        yield "\n### Judged before and not tried again yet\n"
        yield from (f"- {line} — {reason}" for line, reason in reasons.items())


def main() -> int:
    """Write the page."""
    made = list(mutants())
    found = [mutant for mutant in made if mutant.status != _UNTRIED]
    if not found:
        sys.exit("no mutant was run: make mutants")
    tried = [mutant for mutant in found if mutant.status != _REFUSED]
    alive = sorted((m for m in tried if m.status not in _DEAD), key=lambda m: m.module)
    untried = len(made) - len(found)
    text = "\n".join((*page(found, alive, untried), ""))
    PAGE.write_text(text, encoding="utf-8")
    print(*table(found), sep="\n")
    unjudged = text.count(UNJUDGED)
    print(f"{untried} not tried, {len(alive)} survived, {unjudged} of them not judged: {PAGE.name}")
    return int(untried > 0 or unjudged > 0 or len(alive) > (1 - WANTED) * len(tried))


if __name__ == "__main__":
    sys.exit(main())
