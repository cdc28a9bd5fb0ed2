"""``edgevoice config``: check, show, schema."""

from pathlib import Path

import pytest

from edgevoice.cli.main import main
from edgevoice.settings import loader, render

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.yaml"
    path.write_text("llm:\n  threads: 2\n  max_tokens: 99\n")
    return path


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.yaml"
    path.write_text("llm: {threads: many}\n")
    return path


def test_a_right_file_is_said_to_be_right(good: Path, capsys: Captured) -> None:
    assert main(["config", "check", str(good)]) == 0
    assert capsys.readouterr().out == f"{good}: no errors, 2 keys set\n"


def test_the_file_named_goes_before_the_option(good: Path, bad: Path, capsys: Captured) -> None:
    assert main(["--config", str(bad), "config", "check", str(good)]) == 0
    assert main(["--config", str(bad), "config", "check"]) == 78


@pytest.mark.parametrize("position", range(3))
def test_the_option_stands_before_or_after_the_command(
    position: int, good: Path, capsys: Captured
) -> None:
    arguments = ["config", "show"]
    arguments[position:position] = ["--config", str(good)]
    assert main(arguments) == 0
    assert f"# {good}:2\n" in capsys.readouterr().out


def test_without_a_file_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.delenv("EDGEVOICE_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr(loader, "SYSTEM_FILE", tmp_path / "system.yaml")
    assert main(["config", "check"]) == 0
    told = capsys.readouterr().out
    user = tmp_path / "edgevoice" / "edgevoice.yaml"
    assert told == f"no {tmp_path / 'system.yaml'} and no {user}: the defaults hold\n"


@pytest.mark.parametrize(
    ("arguments", "rendered"),
    [
        ([], render.sample()),
        (["--format", "yaml"], render.sample()),
        (["--format", "markdown"], render.markdown()),
        (["--format", "json"], render.json_schema()),
    ],
)
def test_the_schema_in_each_format(arguments: list[str], rendered: str, capsys: Captured) -> None:
    assert main(["config", "schema", *arguments]) == 0
    assert capsys.readouterr().out == rendered
