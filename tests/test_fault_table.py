"""The fault table of the documentation is complete, and what it calls proven is tested."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TABLE = (ROOT / "docs" / "faults.md").read_text()
ROWS = TABLE.split("\n## ")[1:]
COLUMNS = ["What happens", "Light", "Journal", "What to do", "Proven by"]


@cache
def names_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.splitlines()[0])
def test_every_row_is_complete_and_its_tests_exist(row):
    assert re.findall(r"^- \*\*(.+?):\*\*", row, re.MULTILINE) == COLUMNS
    proofs = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", row)
    assert proofs
    for path, name in proofs:
        assert name in names_in(path), f"{path} has no {name}"


def test_every_test_that_is_named_is_named_in_a_way_that_is_checked():
    assert len(re.findall("tests/", TABLE)) == len(
        re.findall(r"`tests/[\w/]+\.py::test_\w+`", TABLE)
    )
