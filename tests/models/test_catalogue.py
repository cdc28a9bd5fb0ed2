from __future__ import annotations

import re
from pathlib import PurePosixPath
from urllib.parse import urlsplit

import pytest

from edgevoice.errors import ModelError
from edgevoice.models.catalogue import (
    Entry,
    Loose,
    Packaged,
    Role,
    Zipped,
    catalogue,
    find,
    starter_set,
)
from edgevoice.models.paths import models_directory
from edgevoice.models.verify import State, state_of, verify

ENTRIES = [pytest.param(entry, id=entry.name) for entry in catalogue().values()]
MAKERS = {"alphacephei.com", "github.com", "huggingface.co"}


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_file_is_pinned_and_stays_below_its_directory(entry: Entry) -> None:
    for file in entry.files:
        path = PurePosixPath(file.path)
        assert not path.is_absolute()
        assert ".." not in path.parts
        assert file.size > 0
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
    assert entry.main in {"", *(file.path for file in entry.files)}
    assert entry.licence


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_first_source_is_the_makers_own(entry: Entry) -> None:
    first, *others = entry.sources
    assert isinstance(first, Loose | Zipped)
    assert urlsplit(first.base if isinstance(first, Loose) else first.url).netloc in MAKERS
    for source in others:
        assert isinstance(source, Packaged)
        assert re.fullmatch(r"[\w-]+==[\w.]+", source.requirement)


def test_the_starter_set_fills_every_role_and_can_come_from_a_registry_alone() -> None:
    assert {entry.role for entry in starter_set()} == set(Role)
    for entry in starter_set():
        assert any(isinstance(source, Packaged) for source in entry.sources)


def test_no_two_models_claim_one_file() -> None:
    claims = [(e.folder, file.path) for e in catalogue().values() for file in e.files]
    assert len(claims) == len(set(claims))


def test_an_unknown_name_is_met_with_the_nearest() -> None:
    with pytest.raises(ModelError, match="did you mean 'alexa'"):
        find("alexia")
    with pytest.raises(ModelError, match="edgevoice models list"):
        find("zzzzzzzz")


@pytest.mark.engines
@pytest.mark.parametrize("entry", [param for param in ENTRIES if param.values[0].starter])
def test_the_starter_models_here_are_the_pinned_ones(entry: Entry) -> None:
    if state_of(entry, models_directory()) is State.MISSING:
        pytest.skip(f"{entry.name} is not in {models_directory()}; run 'edgevoice models fetch'")
    assert verify(entry, models_directory()) == []
