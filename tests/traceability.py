"""Which test proves which criterion: ``python -m tests.traceability > docs/traceability.md``.

The criteria are a fixed list; a test proves the one that its name begins with.
What is said of a test is the first line of its docstring, or else its name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent / "acceptance"


@dataclass(frozen=True)
class Criterion:
    """Something the product promises: its name, and how the names of its tests begin."""

    name: str
    prefix: str
    file: str = ""
    """Where all tests of one file prove it, that file."""


@dataclass(frozen=True)
class Proof:
    """A test."""

    file: str
    name: str
    says: str


def _numbered(kind: str, *numbers: int) -> list[Criterion]:
    return [Criterion(f"{kind}-{n:03}", f"test_{kind}_{n:03}_") for n in numbers]


def _named(document: str, prefix: str, names: str) -> list[Criterion]:
    return [
        Criterion(f"{document}: {name.replace('_', ' ')}", f"test_{prefix}_{name}")
        for name in names.split()
    ]


CHAPTERS: dict[str, list[Criterion]] = {
    "Conversation state machine: acceptance criteria": _numbered("AC", *range(1, 9)),
    "Conversation state machine: requirements": [
        *_numbered("REQ", *range(1, 11)),
        *_numbered("PER", *range(1, 5)),
        *_numbered("SEC", 1, 2),
        *_numbered("CON", 2, 3),
        *_numbered("GUD", *range(1, 5)),
        *_numbered("PAT", *range(1, 5)),
        *_numbered("INT", 5),
    ],
    "Interaction: the testing checklist": [
        Criterion(f"Line {n}", f"test_interaction_{n}_") for n in range(1, 7)
    ],
    "Soft-ack": [Criterion("One thinking phase", "test_soft_ack_")],
    "Lifecycle: rows of the transition matrix": _named(
        "Row",
        "lifecycle_matrix",
        "preparing idle listening processing speaking interrupted tool_executing "
        "waiting_for_task error reconnecting terminating any_state_to_error "
        "any_state_to_reconnecting any_state_to_terminating no_row_leads_outside_it",
    ),
    "Lifecycle: timeouts": [
        *_named(
            "Timeout",
            "lifecycle_timeout",
            "preparing idle listening follow_up dead_air first_token processing tool "
            "task_progress task_60_s task_5_min speaking held interrupted suspended muted "
            "reconnecting error terminating",
        ),
        Criterion("Defaults", "test_lifecycle_timeouts_"),
        Criterion("Long results", "test_lifecycle_a_result_"),
    ],
    "EasyTurn": [
        Criterion("Decision tree", "test_", "test_easyturn_decision_tree.py"),
        Criterion("Timing", "test_", "test_easyturn_timing.py"),
    ],
}


def proofs() -> list[Proof]:
    """Every acceptance test, in the order of files and lines."""
    return [proof for path in sorted(HERE.glob("test_*.py")) for proof in _in_file(path)]


def _in_file(path: Path) -> Iterator[Proof]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            said = (ast.get_docstring(node) or "").strip().partition("\n")[0]
            yield Proof(path.name, node.name, said or _sentence(node.name))


def _sentence(name: str) -> str:
    words = name.removeprefix("test_").replace("_", " ")
    return f"{words[0].upper()}{words[1:]}."


def proving(criterion: Criterion, tests: list[Proof]) -> list[Proof]:
    """The tests of a criterion."""
    return [
        proof
        for proof in tests
        if proof.name.startswith(criterion.prefix)
        and (not criterion.file or proof.file == criterion.file)
    ]


def table() -> str:
    """The document."""
    tests = proofs()
    lines = [
        "# Which test proves what",
        "",
        "Made from the names and docstrings of the tests in `tests/acceptance` by",
        "`python -m tests.traceability > docs/traceability.md`; do not edit it by hand.",
    ]
    for title, criteria in CHAPTERS.items():
        lines += [
            "",
            f"## {title}",
            "",
            "| criterion | test | what it shows |",
            "| --- | --- | --- |",
        ]
        for criterion in criteria:
            lines += _rows(criterion, tests)
    return "\n".join(lines) + "\n"


def _rows(criterion: Criterion, tests: list[Proof]) -> Iterator[str]:
    label = criterion.name
    for proof in proving(criterion, tests):
        link = f"[`{proof.name}`](../tests/acceptance/{proof.file})"
        yield f"| {label} | {link} | {proof.says.replace('|', '/')} |"
        label = ""


if __name__ == "__main__":
    print(table(), end="")
