#!/usr/bin/env bash
# Sets this checkout up: Debian packages, .venv, llama.cpp for this machine, models.
#
#   tools/setup.sh          what it takes to run
#   tools/setup.sh --dev    and what it takes to test
#
# It may be run again at any time and after any interruption.  When nothing has changed
# it does nothing; what is long (llama.cpp, models) is kept outside the checkout.
#
#   PYTHON            the Python to use, 3.11 or newer
#   EDGEVOICE_WHEELS  where built wheels are kept (~/.cache/edgevoice/wheels)
#   EDGEVOICE_MODELS  where models are kept (~/.cache/edgevoice/models)
set -euo pipefail
cd "$(dirname "$0")/.."

readonly TOOL=setup LOG=.cache/setup.log VENV=.venv
readonly WHEELS=${EDGEVOICE_WHEELS:-${XDG_CACHE_HOME:-$HOME/.cache}/edgevoice/wheels}
PYTHON=${PYTHON:-python3 python3.13 python3.11 python3.12}
. tools/lib.sh

readonly DEV_PACKAGES=(
    pulseaudio pulseaudio-utils libasound2-plugins alsa-utils
    systemd systemd-container           # the unit, looked at and run
)

main() {
    case "${1:-}" in
        '' | --dev) ;;
        *) die $USAGE "unknown option '$1'; the only one is --dev" ;;
    esac
    mkdir -p .cache "$WHEELS"
    one_at_a_time .cache/setup.lock

    is_done run || install_for_running
    if [[ ${1:-} == --dev ]]; then
        is_done dev || install_for_testing
    fi
    .venv/bin/edgevoice models fetch
}

fingerprint() { cat requirements/*.lock pyproject.toml tools/setup.sh tools/lib.sh | sha256sum; }

# The interpreter is tried as well: an upgrade of the system may have taken it away.
is_done() {
    [[ $(cat ".venv/.done-$1" 2>/dev/null) == "$(fingerprint)" ]] && .venv/bin/python -c '' 2>/dev/null
}

mark_done() { fingerprint >".venv/.done-$1"; }

install_for_running() {
    : >"$LOG"
    debian_packages "${RUN_PACKAGES[@]}" || die $UNAVAILABLE "$(last_error)"
    install_requirements
    pip_install --no-build-isolation --editable .
    mark_done run
}

install_for_testing() {
    say 'installing what the tests need'
    if ! debian_packages "${DEV_PACKAGES[@]}"; then
        [[ ${CI:-} != true ]] || die $UNAVAILABLE "$(last_error)"
        say "tests on a private PulseAudio will be skipped: $(last_error)"
    fi
    pip_locked --only-binary=:all: dev
    mark_done dev
}

main "$@"
