from pathlib import Path

import pytest

from tests.traceability import CHAPTERS, proofs, proving, table

COMMITTED = Path(__file__).parent.parent / "docs" / "traceability.md"
CRITERIA = [criterion for chapter in CHAPTERS.values() for criterion in chapter]


def test_the_documentation_holds_the_table_of_today():
    hint = "run: python -m tests.traceability > docs/traceability.md"
    assert COMMITTED.read_text(encoding="utf-8") == table(), hint


@pytest.mark.parametrize("criterion", CRITERIA, ids=lambda c: c.name)
def test_every_criterion_has_a_test(criterion):
    assert proving(criterion, proofs()), f"no test is named {criterion.prefix}…"


def test_every_acceptance_test_proves_a_criterion():
    proven = {proof for criterion in CRITERIA for proof in proving(criterion, proofs())}
    assert [proof.name for proof in proofs() if proof not in proven] == []
