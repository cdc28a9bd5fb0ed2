import pytest

from tests.adapters.conftest import card, running_card
from tests.system.house import House, Wire

__all__ = ["card", "running_card"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "control.sock"


@pytest.fixture
def house(path):
    with House(path).running() as house:
        yield house


@pytest.fixture
def wire(house):
    wire = Wire(house.path)
    yield wire
    wire.close()
