"""What became of each changed function of the core: ``python -m tests.mutants``, after mutmut.

A mutant that mypy refuses never gets as far as a test and does not count.  One is
killed when a test fails, or never comes to an end.  One that survives needs a
judgement in `docs/mutants.md`; the result is 1 when one has none, or when fewer
than `WANTED` were killed of those that count.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

WANTED = 0.90
JUDGED = Path(__file__).parents[1] / "docs" / "mutants.md"
_DEAD = ("killed", "timeout", "segfault")
_REFUSED = "caught by type check"
_JUDGED_LINE = re.compile(r"^- (`.+)$", re.M)


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
    yield "| module | mutants | refused by mypy | killed | survived | killed of the rest |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for module, of in sorted(by_module.items(), key=lambda item: (item[0] == "all", item[0])):
        dead = sum(of[status] for status in _DEAD)
        tried = of.total() - of[_REFUSED]
        share = f"{dead / tried:.1%}" if tried else "–"
        yield f"| {module} | {of.total()} | {of[_REFUSED]} | {dead} | {tried - dead} | {share} |"


def main() -> int:
    """Print the table, and every survivor that nobody has judged."""
    found = [mutant for mutant in mutants() if mutant.status != "not checked"]
    if not found:
        sys.exit("no mutant was run: make mutants")
    print(*table(found), sep="\n")
    tried = [mutant for mutant in found if mutant.status != _REFUSED]
    survivors = [mutant for mutant in tried if mutant.status not in _DEAD]
    alive = {mutant.line() for mutant in survivors}
    judged = set(_JUDGED_LINE.findall(JUDGED.read_text(encoding="utf-8")))
    for heading, lines in (("not judged", alive - judged), ("judged, but dead", judged - alive)):
        if lines:
            print(f"\n{heading}:", *sorted(lines), sep="\n- ")
    too_many = len(survivors) > (1 - WANTED) * len(tried)
    return int(too_many or bool(alive - judged))


if __name__ == "__main__":
    sys.exit(main())
