import subprocess
import sys
from pathlib import Path

import pytest

from edgevoice import diagram
from edgevoice.core.table import TABLE, Place, State

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize(
    ("file", "drawn"), [("states.svg", diagram.svg), ("states.mmd", diagram.mermaid)]
)
def test_the_documentation_holds_what_is_drawn_from_the_table(file, drawn):
    format = {"svg": "svg", "mmd": "mermaid"}[file.rpartition(".")[2]]
    hint = f"run: python -m edgevoice states --format {format} > docs/{file}"
    assert (DOCS / file).read_text(encoding="utf-8") == drawn(), hint


def test_every_state_is_in_the_picture():
    assert all(f">{state.name}<" in diagram.svg() for state in State)


def test_the_printed_table_has_a_line_for_every_row():
    lines = diagram.table().splitlines()
    assert len([line for line in lines if line.startswith("    ")]) == sum(
        len(rows) for rows in TABLE.values()
    )
    assert all(any(line.startswith(place.value) for line in lines) for place in Place)


def test_the_command_prints_it():
    command = [sys.executable, "-m", "edgevoice", "states", "--format", "mermaid"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == diagram.mermaid()
