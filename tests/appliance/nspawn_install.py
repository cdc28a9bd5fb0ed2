"""The package and `make install` in a machine of their own: installed, upgraded, removed, purged.

Not collected by default: ``pytest tests/appliance/nspawn_install.py``, as make test-appliance does
after `make deb`.  The machine has neither network nor sound card: the service waits for one.  The
checks stand in the order in which they are made.
"""

import subprocess
from pathlib import Path

import pytest

from edgevoice.models.paths import models_directory
from tests.adapters.engines import model
from tests.appliance.nspawn import Machine, machine, missing

pytestmark = [pytest.mark.engines, pytest.mark.systemd, pytest.mark.timeout(900)]

HOUSE = Path(__file__).parents[2]
TREE = HOUSE / "build" / "deb"
CONFIG = "/etc/edgevoice/edgevoice.yaml"
OURS = "audio: {volume: 55}\n"

# Where programs are installed; elsewhere this machine's own work goes on.
PLACES = "/etc /opt /usr /var/lib"


@pytest.fixture(scope="module")
def debs(tmp_path_factory):
    """The package, and a newer one with another sample of the configuration."""
    if not (TREE / "DEBIAN" / "control").is_file():
        pytest.skip("no package yet: make deb")
    there = tmp_path_factory.mktemp("debs")
    tree = there / "tree"
    subprocess.run(["cp", "-r", "--reflink=auto", TREE, tree], check=True)
    pack(tree, there / "old.deb")
    control = tree / "DEBIAN" / "control"
    control.write_text(control.read_text().replace("\nVersion: ", "\nVersion: 9"))
    with (tree / CONFIG[1:]).open("a") as sample:
        sample.write("# newer\n")
    pack(tree, there / "new.deb")
    return there


def pack(tree: Path, deb: Path) -> None:
    command = ["dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, deb]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def appliance(debs, tmp_path_factory):
    if lack := missing():
        pytest.skip(lack)
    model("smollm2-135m-instruct-q4_1", "llm")
    binds = {HOUSE: "/mnt/house", models_directory(): "/mnt/models", debs: "/mnt/debs"}
    with machine(binds, tmp_path_factory.mktemp("machine") / "console") as running:
        # Containers of this machine's own kind may forbid to start services.
        running.run("rm", "-f", "/usr/sbin/policy-rc.d")
        yield running


def ok(machine: Machine, script: str) -> str:
    done = machine.run("bash", "-c", script)
    assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def everything(machine: Machine) -> set[str]:
    """Every file, user and group there is, but for what dpkg notes of itself."""
    files = ok(machine, f"find {PLACES} -path /var/lib/dpkg -prune -o -print")
    return set((files + ok(machine, "getent passwd; getent group")).splitlines())


def service(machine: Machine) -> str:
    return machine.show("edgevoice.service", "ActiveState")["ActiveState"]


@pytest.fixture(scope="module")
def before(appliance):
    # On Raspberry Pi OS they are there before, and other programs may use them: they stay.
    ok(appliance, "groupadd --system gpio; groupadd --system spi")
    return everything(appliance)


@pytest.fixture(scope="module")
def installed(appliance, before):
    return install(appliance, "old")


def install(machine: Machine, which: str) -> str:
    return ok(
        machine, f"DEBIAN_FRONTEND=noninteractive dpkg --force-confold -i /mnt/debs/{which}.deb"
    )


def test_without_a_network_it_installs_and_says_what_is_missing(appliance, installed):
    assert "dpkg-reconfigure edgevoice" in installed
    assert ok(appliance, "systemctl is-enabled edgevoice") == "enabled\n"
    told = ok(appliance, "journalctl --sync; journalctl -u edgevoice -o cat")
    assert appliance.show("edgevoice", "ExecMainStatus")["ExecMainStatus"] == "66", told


def test_with_its_models_it_looks_for_a_microphone(appliance, installed):
    ok(appliance, "cp -r /mnt/models/. /var/lib/edgevoice/models")
    ok(appliance, "chown -R edgevoice: /var/lib/edgevoice && dpkg-reconfigure edgevoice")
    assert service(appliance) == "activating"


def test_the_program_and_its_files_belong_to_root(appliance, installed):
    strangers = "find /opt/edgevoice /usr/lib/systemd/system/edgevoice* ! -user root -print -quit"
    assert ok(appliance, strangers) == ""
    writable = "find /opt/edgevoice -perm /022 ! -type l -print -quit"
    assert ok(appliance, writable) == ""
    assert ok(appliance, "edgevoice config check 2>&1").count("\n") == 1


def test_an_upgrade_takes_a_new_sample_where_nobody_wrote(appliance, installed):
    install(appliance, "new")
    assert ok(appliance, f"tail -n 1 {CONFIG}") == "# newer\n"


def test_an_upgrade_keeps_what_the_owner_wrote(appliance, installed):
    appliance.write(CONFIG, OURS)
    install(appliance, "old")
    assert ok(appliance, f"cat {CONFIG}") == OURS
    assert service(appliance) == "activating"


def test_an_upgrade_keeps_it_switched_off(appliance, installed):
    ok(appliance, "systemctl disable edgevoice")
    install(appliance, "new")
    assert appliance.run("systemctl", "is-enabled", "edgevoice").stdout == "disabled\n"
    ok(appliance, "systemctl enable edgevoice")


def test_a_removal_leaves_configuration_and_models(appliance, installed):
    ok(appliance, "gpasswd --add nobody edgevoice")
    ok(appliance, "dpkg --remove edgevoice")
    assert service(appliance) == "inactive"
    assert ok(appliance, f"cat {CONFIG}") == OURS
    assert ok(appliance, "ls /var/lib/edgevoice/models")
    assert appliance.run("test", "-e", "/opt/edgevoice").returncode != 0


def test_a_purge_leaves_nothing(appliance, before, installed):
    ok(appliance, "dpkg --purge edgevoice")
    assert everything(appliance) - before == set()


@pytest.fixture(scope="module")
def made(appliance, before):
    """By make install, with the program as the package has it, so that nothing is fetched."""
    ok(appliance, "dpkg --purge edgevoice")
    ok(appliance, "mkdir -p /opt/edgevoice")
    program = "/mnt/house/build/deb/opt/edgevoice/.venv"
    ok(appliance, f"cp -r --preserve=timestamps {program} /opt/edgevoice")
    return make(appliance)


def make(machine: Machine, what: str = "install") -> str:
    return ok(machine, f"cd /mnt/house && EDGEVOICE_MODELS=/mnt/models make --silent {what} 2>&1")


def test_make_install_brings_it_up(appliance, made):
    ok(appliance, "gpasswd --add nobody edgevoice")
    assert "done, but it does not listen yet" in made  # there is no microphone
    assert service(appliance) == "activating"
    assert ok(appliance, "systemctl is-enabled edgevoice") == "enabled\n"


def test_make_install_again_changes_nothing(appliance, made):
    before = everything(appliance)
    make(appliance)
    assert everything(appliance) == before


def test_make_install_keeps_what_the_owner_wrote_and_lays_a_new_sample_beside(appliance, made):
    appliance.write(CONFIG, OURS)
    make(appliance)
    assert appliance.run("test", "-e", f"{CONFIG}.new").returncode != 0
    ok(appliance, "echo '# older' >>/opt/edgevoice/config/edgevoice.yaml")
    assert f"{CONFIG}.new" in make(appliance)
    assert ok(appliance, f"cat {CONFIG}") == OURS
    assert ok(appliance, f"cat {CONFIG}.new") == (HOUSE / "config" / "edgevoice.yaml").read_text()


def test_make_uninstall_leaves_configuration_and_models(appliance, made):
    make(appliance, "uninstall")
    assert service(appliance) == "inactive"
    assert ok(appliance, f"cat {CONFIG}") == OURS
    assert ok(appliance, "ls /var/lib/edgevoice/models")
    left = {path for path in everything(appliance) if "edgevoice" in path}
    allowed = ("/etc/edgevoice", "/var/lib/edgevoice", "edgevoice:", "audio:", "gpio:", "spi:")
    assert [path for path in left if not path.startswith(allowed)] == []


def test_make_uninstall_with_purge_leaves_nothing(appliance, before, made):
    make(appliance, "uninstall PURGE=1")
    assert everything(appliance) - before == set()
