"""The ledger says what the core does today."""

import pytest

from tests.core.ledger import CHAPTERS, path_of, text


@pytest.mark.parametrize("name", CHAPTERS)
def test_everything_does_what_is_written_down(name):
    hint = "the core decides otherwise now; if that is meant: python -m tests.traces"
    assert text(name) == path_of(name).read_text(encoding="utf-8"), hint
