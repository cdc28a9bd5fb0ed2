#!/usr/bin/env bash
# Installs edgevoice as a service of this system, or takes it away.
#
#   tools/install.sh               install, or upgrade; then start
#   tools/install.sh --uninstall   stop, and remove all but configuration, models and user
#   tools/install.sh --purge       these as well
#
# It may be run again at any time and after any interruption; the program that runs is exchanged
# only when the new one is whole.  /etc/edgevoice/edgevoice.yaml is made once and never touched
# again: when its sample changes, the new one is laid beside it as edgevoice.yaml.new.
#
#   DESTDIR           only put files there, for a package or an image of this same system
#   BINDIR            where the command goes (/usr/local/bin)
#   EDGEVOICE_WHEELS  where built wheels are kept (/var/cache/edgevoice/wheels)
#   EDGEVOICE_MODELS  models to copy instead of fetching them, if they are there
#                     (~/.cache/edgevoice/models of the user who called sudo)
set -euo pipefail
cd "$(dirname "$0")/.."

readonly TOOL=install HOME_OF_IT=/opt/edgevoice
readonly DESTDIR=${DESTDIR:+$(realpath -m "$DESTDIR")} BINDIR=${BINDIR:-/usr/local/bin}
# The service must find its Python, so it is the system's and none of somebody's own.
PYTHON=/usr/bin/python3
caller=$(getent passwd "${SUDO_USER:-$(id -un)}" | cut -d: -f6)
readonly caller
if [[ $DESTDIR ]]; then
    readonly WORK=.cache KEPT=$caller/.cache/edgevoice/wheels
else
    readonly WORK=/var/cache/edgevoice KEPT=/var/cache/edgevoice/wheels
fi
readonly WHEELS=${EDGEVOICE_WHEELS:-$KEPT} LOG=$WORK/install.log
readonly VENV=$DESTDIR$HOME_OF_IT/.venv.new
# Debian's helpers, which tell a new service from one that its owner has disabled, ask for whom.
export DPKG_MAINTSCRIPT_PACKAGE=edgevoice
. tools/lib.sh
. tools/service.sh

main() {
    case "${1:-}" in
        '') install_all ;;
        --uninstall) uninstall ;;
        --purge) uninstall && purge ;;
        *) die $USAGE "unknown option '$1'; it may be --uninstall or --purge" ;;
    esac
}

install_all() {
    [[ $DESTDIR ]] || on_this_system
    mkdir -p "$WORK" "$WHEELS"
    one_at_a_time "$WORK/install.lock"
    : >"$LOG"
    debian_packages "${RUN_PACKAGES[@]}" || die $UNAVAILABLE "$(last_error)"
    is_done || install_program
    install_files
    install_configuration
    [[ $DESTDIR ]] || bring_up
}

on_this_system() {
    ((EUID == 0)) || die $NO_PERMISSION 'only root may do this: sudo make install'
    ! is_installed edgevoice ||
        die $USAGE 'the Debian package edgevoice is installed: apt remove edgevoice first'
}

# --- the program ----------------------------------------------------------------------

fingerprint() {
    {
        cat requirements/*.lock pyproject.toml tools/lib.sh tools/install.sh
        find edgevoice -type f -not -path '*/__pycache__/*' -print0 | sort -z | xargs -0 sha256sum
        "$PYTHON" --version
    } | sha256sum
}

is_done() {
    [[ $(cat "${VENV%.new}/.done" 2>/dev/null) == "$(fingerprint)" ]] &&
        "${VENV%.new}/bin/python" -c '' 2>/dev/null
}

# Beside the one that may be running, and in its place when it is whole.
install_program() {
    rm -rf "$VENV"
    mkdir -p "$(dirname "$VENV")"
    take_wheels_of_caller
    install_requirements
    install_package
    move_home
    fingerprint >"$VENV/.done"
    rm -rf "${VENV%.new}.old"
    [[ ! -e ${VENV%.new} ]] || mv "${VENV%.new}" "${VENV%.new}.old"
    mv "$VENV" "${VENV%.new}"
    rm -rf "${VENV%.new}.old"
}

# Half an hour on a Pi, if `make run` has built llama.cpp before.
take_wheels_of_caller() {
    local kept=$caller/.cache/edgevoice/wheels key
    key=$(llama_key)
    [[ -d $kept/$key && ! -e $WHEELS/$key ]] || return 0
    rm -rf "$WHEELS/.copy"
    cp -r "$kept/$key" "$WHEELS/.copy"
    mv "$WHEELS/.copy" "$WHEELS/$key"
}

# From a copy: a build leaves its traces, which would be root's, where its source lies.
install_package() {
    local copy
    copy=$(mktemp -d)
    cp -r pyproject.toml README.md edgevoice "$copy"
    pip_install --no-build-isolation --no-compile "$copy"
    rm -rf "$copy"
}

# The scripts name the place they were made in; the bytecode gets the final name, too.
move_home() {
    say 'compiling'
    grep -lIrF "$VENV" "$VENV/bin" "$VENV/pyvenv.cfg" |
        xargs sed -i "s#$VENV#$HOME_OF_IT/.venv#g"
    find "$VENV/lib" -name direct_url.json -path '*/edgevoice-*' -delete
    # Packages carry files for other Pythons, which do not compile.
    "$VENV/bin/python" -m compileall -q -f -j 0 -s "$VENV" -p "$HOME_OF_IT/.venv" "$VENV/lib" \
        >>"$LOG" 2>&1 || true
}

# --- what lies around it --------------------------------------------------------------

install_files() {
    place_documents
    place systemd/edgevoice.service "/usr/lib/systemd/system/$unit"
    place systemd/sysusers.d/edgevoice.conf /usr/lib/sysusers.d/edgevoice.conf
    place systemd/tmpfiles.d/edgevoice.conf /usr/lib/tmpfiles.d/edgevoice.conf
    place systemd/udev/60-edgevoice.rules /usr/lib/udev/rules.d/60-edgevoice.rules
    local before_253=/usr/lib/systemd/system/$unit.d/before-253.conf
    if (($(systemctl --version | awk 'NR == 1 { print $2 + 0 }') < 253)); then
        place systemd/edgevoice.service.d/before-253.conf "$before_253"
    else
        rm -f "$DESTDIR$before_253"
    fi
    mkdir -p "$DESTDIR$BINDIR"
    ln -sfn "$HOME_OF_IT/.venv/bin/edgevoice" "$DESTDIR$BINDIR/edgevoice"
}

# With what they show and lead to, as the links of one to the other are.
place_documents() {
    local file
    for file in README.md docs/*.md docs/*.svg hardware/*.md hardware/*.svg; do
        place "$file" "$HOME_OF_IT/$file"
    done
}

# place SOURCE TARGET: at once or not at all.
place() {
    install -D -m 644 "$1" "$DESTDIR$2.tmp" || die $UNAVAILABLE "cannot write $DESTDIR$2"
    mv "$DESTDIR$2.tmp" "$DESTDIR$2"
}

install_configuration() {
    local sample=config/edgevoice.yaml there=/etc/edgevoice/edgevoice.yaml
    local last=$HOME_OF_IT/config/edgevoice.yaml
    if [[ ! -e $DESTDIR$there ]]; then
        place "$sample" "$there"
    elif ! cmp -s "$sample" "$DESTDIR$last"; then
        place "$sample" "$there.new"
        say "the sample of the configuration has changed: compare $there.new with yours"
    fi
    place "$sample" "$last"
}

# --- the service ----------------------------------------------------------------------

bring_up() {
    logged prepare_system
    take_models_of_caller
    fetch_models || die $UNAVAILABLE 'the models could not be fetched; run this again'
    logged enable_service
    if start_service >>"$LOG" 2>&1; then
        systemd_runs || say 'systemd does not run here: the service starts at the next boot'
        say 'done: systemctl status edgevoice'
    elif [[ $(systemctl show --property=ActiveState --value "$unit") == activating ]]; then
        say 'done, but it does not listen yet and tries again: journalctl -u edgevoice -n 5'
    else
        die $UNAVAILABLE 'all is installed, but the service does not start: journalctl -u edgevoice'
    fi
}

# Checked by fetch_models like any other.
take_models_of_caller() {
    local kept=${EDGEVOICE_MODELS:-$caller/.cache/edgevoice/models}
    [[ -d $kept ]] || return 0
    cp -r --update --preserve=timestamps "$kept/." "$state/models/"
    rm -rf "$state/models/.lock" "$state/models/.partial"
    chown -R edgevoice: "$state/models"
}

uninstall() {
    on_this_system
    mkdir -p "$WORK"
    : >"$LOG"
    logged stop_service
    rm -rf "$HOME_OF_IT" "$BINDIR/edgevoice" "/usr/lib/systemd/system/$unit" \
        "/usr/lib/systemd/system/$unit.d" /usr/lib/sysusers.d/edgevoice.conf \
        /usr/lib/tmpfiles.d/edgevoice.conf /usr/lib/udev/rules.d/60-edgevoice.rules
    logged forget_service
    say 'removed, but for /etc/edgevoice, models and what was built: make uninstall PURGE=1'
}

purge() {
    purge_system
    say 'these, too; the groups gpio and spi stay, as others may be in them'
}

main "$@"
