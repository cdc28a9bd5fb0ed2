"""Where models lie, and the path that an engine is given for a name in the configuration."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from edgevoice.errors import ModelError
from edgevoice.models.catalogue import Entry, Role, catalogue, hint

SYSTEM_DIRECTORY = Path("/var/lib/edgevoice/models")


def models_directory() -> Path:
    """`$EDGEVOICE_MODELS`, else the system's directory if it can be seen, else the user's cache."""
    if named := os.environ.get("EDGEVOICE_MODELS"):
        return Path(named).expanduser().absolute()
    # The installed one is seen by root and the group edgevoice; Path.is_dir() would raise.
    if os.path.isdir(SYSTEM_DIRECTORY):
        return SYSTEM_DIRECTORY
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "edgevoice" / "models"


def resolve(name: str, role: Role | str, directory: Path | None = None) -> Path:
    """Path of the file or directory that the engine of ``role`` loads for ``name``.

    ``name`` is a name in the catalogue, a path, or the name of something in the models
    directory.  Sizes are compared with the catalogue's, so that a truncated file is
    reported here and not by an engine in the middle of a conversation.

    Raises `ModelError` when it is missing, truncated or of another role.
    """
    role = Role(role)
    directory = directory or models_directory()
    if entry := catalogue().get(name):
        return _catalogued(entry, role, directory)
    for path in (Path(os.path.expanduser(name)), directory / name):
        if os.path.lexists(path):
            return _foreign(path, role)
    raise ModelError(
        f"the {role} model '{name}' is neither in the catalogue nor a path", hint(name)
    )


def wrong_sizes(entry: Entry, directory: Path) -> list[str]:
    """What is wrong with the files of ``entry`` at a glance, one line each."""
    found = (_wrong_size(directory / entry.folder / file.path, file.size) for file in entry.files)
    return [line for line in found if line]


def _catalogued(entry: Entry, role: Role, directory: Path) -> Path:
    if entry.role is not role:
        raise ModelError(f"'{entry.name}' is a model for {entry.role}", f"one for {role} is needed")
    if wrong := wrong_sizes(entry, directory):
        raise ModelError(
            f"the {role} model '{entry.name}': {wrong[0]}",
            f"run 'edgevoice models fetch {entry.name}'",
        )
    return directory / entry.folder / entry.main


def _wrong_size(path: Path, size: int) -> str:
    try:
        found = path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return f"{path} is missing"
    except OSError as error:
        return f"{path} cannot be read ({error.strerror})"
    return "" if found == size else f"{path} has {found} bytes instead of {size}"


def _foreign(path: Path, role: Role) -> Path:
    """A model of the user's own: nothing is pinned, but one kind can be told from another."""
    try:
        fits = _KINDS[role](path)
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from error
    if not fits:
        raise ModelError(f"{path} is not {_LOOKS[role]}", "name another file, or fetch it again")
    return path


def _is_gguf(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"GGUF"


def _is_onnx(path: Path) -> bool:
    return path.suffix == ".onnx" and path.is_file() and path.stat().st_size > 0


def _is_voice(path: Path) -> bool:
    return _is_onnx(path) and path.with_name(f"{path.name}.json").is_file()


def _is_vosk(path: Path) -> bool:
    return (path / "am" / "final.mdl").is_file()


def _is_features(path: Path) -> bool:
    return all(_is_onnx(path / f"{name}.onnx") for name in ("melspectrogram", "embedding_model"))


_KINDS: dict[Role, Callable[[Path], bool]] = {
    Role.ASR: _is_vosk,
    Role.LLM: _is_gguf,
    Role.TTS: _is_voice,
    Role.WAKE: _is_onnx,
    Role.WAKE_FEATURES: _is_features,
    Role.END_OF_TURN: _is_onnx,
}

_LOOKS: dict[Role, str] = {
    Role.ASR: "a Vosk model (a directory with am/final.mdl in it)",
    Role.LLM: "a GGUF file",
    Role.TTS: "a Piper voice (an .onnx file with its .onnx.json beside it)",
    Role.WAKE: "an ONNX file",
    Role.WAKE_FEATURES: "a directory with melspectrogram.onnx and embedding_model.onnx",
    Role.END_OF_TURN: "an ONNX file",
}
