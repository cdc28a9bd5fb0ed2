from __future__ import annotations

import errno
import fcntl
import io
import os
import threading
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from edgevoice.errors import ConfigError, EdgeVoiceError, FetchError, OutputError
from edgevoice.models import transfer
from edgevoice.models.catalogue import Entry, Loose, Packaged, Zipped
from edgevoice.models.fetch import Fetcher, extract, fetch_all, sources_in_order
from edgevoice.models.transfer import ATTEMPTS, BLOCK, SourceError
from edgevoice.models.verify import State, state_of
from tests.models.conftest import CONTENT, contents
from tests.models.server import FileServer

MakeEntry = Callable[..., Entry]


def fetch(entry: Entry, directory: Path) -> list[str]:
    said: list[str] = []
    fetch_all([entry], directory, said.append)
    return said


def no_wheel(requirement: str, into: Path) -> Path:
    raise AssertionError(f"{requirement} was asked for")


def part_of(entry: Entry, directory: Path) -> Path:
    path = directory / ".partial" / f"{entry.files[0].sha256}.part"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def zipped(root: str = "top/", content: dict[str, bytes] = CONTENT) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in content.items():
            archive.writestr(f"{root}{path}", data)
    return buffer.getvalue()


def in_one_line(error: EdgeVoiceError) -> bool:
    return bool(str(error)) and "\n" not in str(error)


def test_files_arrive_and_are_known_to_be_intact(entry: Entry, tmp_path: Path) -> None:
    fetch(entry, tmp_path)
    assert contents(entry, tmp_path) == CONTENT
    assert state_of(entry, tmp_path) is State.READY
    assert not (tmp_path / ".partial").exists()


def test_an_intact_cache_is_never_downloaded_twice(
    entry: Entry, server: FileServer, tmp_path: Path
) -> None:
    fetch(entry, tmp_path)
    server.served.asked.clear()
    assert fetch(entry, tmp_path) == []
    assert server.served.asked == []


def test_an_intact_cache_is_not_even_read(
    entry: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch(entry, tmp_path)

    def read(path: Path, advance: object) -> str:
        raise AssertionError(f"{path} was read")

    monkeypatch.setattr("edgevoice.models.verify.sha256_of", read)
    assert fetch(entry, tmp_path) == []


@pytest.mark.parametrize("stamped", [True, False], ids=["touched", "copied by the user"])
def test_right_files_without_a_stamp_that_fits_are_read_and_not_downloaded(
    entry: Entry, server: FileServer, tmp_path: Path, stamped: bool
) -> None:
    if stamped:
        fetch(entry, tmp_path)
    for path, data in CONTENT.items():
        file = tmp_path / entry.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        os.utime(file, (1, 1))
    server.served.asked.clear()
    assert state_of(entry, tmp_path) is State.UNVERIFIED
    assert fetch(entry, tmp_path) == []
    assert server.served.asked == []
    assert state_of(entry, tmp_path) is State.READY


def test_only_what_is_damaged_is_fetched_again(
    entry: Entry, server: FileServer, tmp_path: Path
) -> None:
    fetch(entry, tmp_path)
    damaged = tmp_path / entry.folder / "conf/model.json"
    damaged.write_bytes(bytes(len(CONTENT["conf/model.json"])))
    server.served.asked.clear()
    fetch(entry, tmp_path)
    assert contents(entry, tmp_path) == CONTENT
    assert [path for path, _ in server.served.asked] == ["/conf/model.json"]


def test_a_transfer_that_breaks_goes_on_where_it_broke(
    entry: Entry, server: FileServer, tmp_path: Path
) -> None:
    server.served.breaks_after = [BLOCK]
    fetch(entry, tmp_path)
    assert contents(entry, tmp_path) == CONTENT
    assert [range_ for _, range_ in server.served.asked] == [None, f"bytes={BLOCK}-", None]


def test_a_transfer_that_breaks_unnoticed_goes_on_where_it_broke(
    entry: Entry, server: FileServer, tmp_path: Path
) -> None:
    server.served.breaks_after = [BLOCK]
    server.served.hides_length = True
    fetch(entry, tmp_path)
    assert [range_ for _, range_ in server.served.asked] == [None, f"bytes={BLOCK}-", None]


def test_what_arrived_before_giving_up_is_kept_for_the_next_run(
    entry: Entry, server: FileServer, tmp_path: Path
) -> None:
    server.served.breaks_after = [BLOCK] * ATTEMPTS
    with pytest.raises(FetchError) as caught:
        fetch(entry, tmp_path)
    assert caught.value.status == 69
    assert in_one_line(caught.value)
    assert part_of(entry, tmp_path).stat().st_size == BLOCK * ATTEMPTS
    server.served.asked.clear()
    fetch(entry, tmp_path)
    assert server.served.asked[0] == ("/model.onnx", f"bytes={BLOCK * ATTEMPTS}-")
    assert contents(entry, tmp_path) == CONTENT


def test_a_server_without_ranges_sends_the_whole_again(
    entry: Entry, server: FileServer, tmp_path: Path
) -> None:
    server.served.breaks_after = [BLOCK]
    server.served.ignores_range = True
    fetch(entry, tmp_path)
    assert contents(entry, tmp_path) == CONTENT


@pytest.mark.parametrize("length", [1000, 300_000, 300_001], ids=["some", "all", "too much"])
def test_rubbish_from_an_earlier_run_is_thrown_away(
    entry: Entry, tmp_path: Path, length: int
) -> None:
    part_of(entry, tmp_path).write_bytes(bytes(length))
    fetch(entry, tmp_path)
    assert contents(entry, tmp_path) == CONTENT


def test_an_interruption_between_arrival_and_renaming_does_no_harm(
    entry: Entry, server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(descriptor: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(transfer.os, "fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fetch(entry, tmp_path)
    assert state_of(entry, tmp_path) is State.MISSING
    server.served.asked.clear()
    fetch(entry, tmp_path)
    assert contents(entry, tmp_path) == CONTENT
    assert [path for path, _ in server.served.asked] == ["/conf/model.json"]


@pytest.mark.parametrize("bad", [None, bytes(300_000), b"short", bytes(300_001)])
def test_a_source_without_the_right_bytes_gives_way_to_the_next(
    make_entry: MakeEntry, server: FileServer, tmp_path: Path, bad: bytes | None
) -> None:
    entry = make_entry(Loose(f"{server.base}bad/"), Loose(server.base))
    if bad is not None:
        server.served.files["bad/model.onnx"] = bad
    said = fetch(entry, tmp_path)
    assert contents(entry, tmp_path) == CONTENT
    assert len([line for line in said if "ready" not in line]) == 1


def test_a_page_that_says_no_does_not_spoil_what_has_arrived(
    entry: Entry, server: FileServer, tmp_path: Path
) -> None:
    part_of(entry, tmp_path).write_bytes(CONTENT["model.onnx"][:BLOCK])
    del server.served.files["model.onnx"]
    with pytest.raises(FetchError, match="answers 404 Not Found") as caught:
        fetch(entry, tmp_path)
    assert in_one_line(caught.value)
    assert part_of(entry, tmp_path).read_bytes() == CONTENT["model.onnx"][:BLOCK]


def test_wrong_bytes_never_get_the_name_of_the_model(
    entry: Entry, server: FileServer, tmp_path: Path
) -> None:
    server.served.files["model.onnx"] = bytes(300_000)
    with pytest.raises(FetchError, match="sha256") as caught:
        fetch(entry, tmp_path)
    assert caught.value.status == 69
    assert in_one_line(caught.value)
    assert not (tmp_path / entry.folder).exists()


def test_a_dead_host_is_asked_once_in_a_run(
    make_entry: MakeEntry, server: FileServer, dead_base: str, tmp_path: Path
) -> None:
    sources = Loose(dead_base), Loose(server.base)
    said: list[str] = []
    fetch_all([make_entry(*sources), make_entry(*sources, name="other")], tmp_path, said.append)
    assert len([line for line in said if "cannot be reached" in line]) == 1


def test_with_dead_hosts_alone_each_model_fails_in_one_line(
    make_entry: MakeEntry, dead_base: str, tmp_path: Path
) -> None:
    entry = make_entry(Loose(dead_base))
    with Fetcher(tmp_path, lambda line: None) as fetcher:
        for _ in range(2):
            with pytest.raises(FetchError, match=r"can(not)? be reached") as caught:
                fetcher.fetch(entry)
            assert in_one_line(caught.value)


def test_an_archive_is_unpacked(make_entry: MakeEntry, server: FileServer, tmp_path: Path) -> None:
    server.served.files["model.zip"] = zipped()
    entry = make_entry(Zipped(f"{server.base}model.zip", "top/"))
    fetch(entry, tmp_path)
    assert contents(entry, tmp_path) == CONTENT
    assert not (tmp_path / ".partial").exists()


@pytest.mark.parametrize(
    "archive",
    [b"no zip", zipped()[:-100], zipped("elsewhere/"), zipped(content={"model.onnx": bytes(9**6)})],
    ids=["no zip", "truncated", "file missing", "too big a file"],
)
def test_a_damaged_archive_gives_way_to_the_next_source(
    make_entry: MakeEntry, server: FileServer, tmp_path: Path, archive: bytes
) -> None:
    server.served.files["model.zip"] = archive
    fetch(make_entry(Zipped(f"{server.base}model.zip", "top/"), Loose(server.base)), tmp_path)
    assert contents(make_entry(), tmp_path) == CONTENT


def test_a_member_far_too_big_is_not_unpacked_to_its_end(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(zipped("", {"bomb": bytes(9**6)}))) as archive:
        extract(archive, "bomb", tmp_path / "part", 1000)
    assert (tmp_path / "part").stat().st_size == 1001


def test_a_wheel_is_fetched_once_for_all_its_models(make_entry: MakeEntry, tmp_path: Path) -> None:
    asked = []

    def download(requirement: str, into: Path) -> Path:
        asked.append(requirement)
        (into / "data.whl").write_bytes(zipped("package/data/"))
        return into / "data.whl"

    source = Packaged("package==1.0", "package/data/")
    entries = [make_entry(source), make_entry(source, name="other")]
    with Fetcher(tmp_path, lambda line: None, download) as fetcher:
        assert [fetcher.fetch(entry) for entry in entries] == [True, True]
    assert asked == ["package==1.0"]
    assert contents(entries[1], tmp_path) == CONTENT
    assert not (tmp_path / ".partial").exists()


def test_the_package_is_the_last_resort(entry: Entry, tmp_path: Path) -> None:
    entry = replace(entry, sources=(*entry.sources, Packaged("package==1.0", "")))
    with Fetcher(tmp_path, lambda line: None, no_wheel) as fetcher:
        assert fetcher.fetch(entry)


def test_the_order_of_sources_can_be_given(
    make_entry: MakeEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    maker, package = Loose("http://maker/"), Packaged("package==1.0", "")
    entry = make_entry(maker, package)
    assert sources_in_order(entry) == [maker, package]
    monkeypatch.setenv("EDGEVOICE_MODEL_SOURCES", "packages, makers")
    assert sources_in_order(entry) == [package, maker]
    monkeypatch.setenv("EDGEVOICE_MODEL_SOURCES", "packages")
    assert sources_in_order(entry) == [package]
    monkeypatch.setenv("EDGEVOICE_MODEL_SOURCES", "friends")
    with pytest.raises(ConfigError, match="friends"):
        sources_in_order(entry)


def test_a_failing_pip_is_one_line_of_the_reason(make_entry: MakeEntry, tmp_path: Path) -> None:
    def download(requirement: str, into: Path) -> Path:
        raise SourceError(f"{requirement}: no matching distribution")

    entry = make_entry(Packaged("package==1.0", ""))
    with (
        Fetcher(tmp_path, lambda line: None, download) as fetcher,
        pytest.raises(FetchError, match="no matching distribution") as caught,
    ):
        fetcher.fetch(entry)
    assert in_one_line(caught.value)


def test_a_full_disk_is_one_line(
    entry: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(transfer.os, "fsync", full)
    with pytest.raises(OutputError, match="No space left") as caught:
        fetch(entry, tmp_path)
    assert caught.value.status == 73
    assert in_one_line(caught.value)


def test_a_directory_that_cannot_be_made_is_one_line(entry: Entry, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="Not a directory") as caught:
        fetch(entry, tmp_path / "file" / "models")
    assert caught.value.status == 73
    assert in_one_line(caught.value)


def test_a_second_fetch_says_that_it_waits(entry: Entry, tmp_path: Path) -> None:
    with (tmp_path / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        said = []

        def say(line: str) -> None:
            said.append(line)
            fcntl.flock(lock, fcntl.LOCK_UN)

        with Fetcher(tmp_path, say) as fetcher:
            assert fetcher.fetch(entry)
    assert "waiting" in said[0]


def test_fetches_at_the_same_time_download_once(
    entry: Entry, server: FileServer, tmp_path: Path
) -> None:
    threads = [threading.Thread(target=fetch, args=(entry, tmp_path)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert contents(entry, tmp_path) == CONTENT
    assert len(server.served.asked) == len(CONTENT)
