# What setting up a checkout (setup.sh) and installing on the system (install.sh) have in common;
# to be sourced by bash with these set:
#
#   TOOL     the name before each line that is said
#   LOG      what commands print
#   VENV     the virtual environment to fill
#   PYTHON   the Pythons to try, the best first
#   WHEELS   where built wheels are kept
# shellcheck shell=bash disable=SC2034,SC2153,SC2154

readonly UNAVAILABLE=69 USAGE=64 NO_PERMISSION=77 # of sysexits.h

readonly RUN_PACKAGES=(
    build-essential cmake pkg-config    # llama.cpp and the packages without wheels
    python3-dev python3-venv
    libsystemd-dev                      # systemd-python
    portaudio19-dev                     # PyAudio
    swig                                # lgpio on Python 3.13
    libatomic1                          # vosk on arm64
    espeak-ng                           # a voice of the demo's talker
)

say() { printf '%s: %s\n' "$TOOL" "$*"; }

die() {
    printf '%s: %s\n' "$TOOL" "$2" >&2
    exit "$1"
}

# one_at_a_time LOCK: waits while another process holds it; ours until the process ends.
one_at_a_time() {
    exec 8>"$1"
    flock --nonblock 8 || { say 'another one is at work; waiting for it' && flock 8; }
}

# --- Debian ---------------------------------------------------------------------------

debian_packages() {
    if ! command -v dpkg-query >/dev/null; then
        say "this is not Debian; what these packages hold must be there: $*"
        return
    fi
    local missing
    mapfile -t missing < <(not_installed "$@")
    ((${#missing[@]})) || return 0
    say "installing Debian packages: ${missing[*]}"
    as_root "${missing[*]}" apt-get -o DPkg::Lock::Timeout=500 update &&
        # Rather no test than a desktop's sound server removed.
        as_root "${missing[*]}" env DEBIAN_FRONTEND=noninteractive apt-get \
            -o DPkg::Lock::Timeout=500 install --yes --no-install-recommends --no-remove \
            "${missing[@]}"
}

not_installed() {
    local package
    for package; do
        is_installed "$package" || echo "$package"
    done
}

# An architecture follows the other where a package is there for several.
is_installed() { [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed* ]]; }

as_root() {
    local packages=$1
    shift
    if ((EUID)); then
        command -v sudo >/dev/null ||
            die $UNAVAILABLE "root must do this first: apt-get install $packages"
        set -- sudo "$@"
    fi
    "$@" >>"$LOG" 2>&1 </dev/null
}

# --- Python ---------------------------------------------------------------------------

make_venv() {
    "$VENV/bin/python" -m pip --version >/dev/null 2>&1 && return
    local python
    python=$(find_python) || die $UNAVAILABLE 'Python 3.11 or newer is needed, with its venv module'
    say "making $VENV with $("$python" --version)"
    rm -rf "$VENV"
    logged "$python" -m venv "$VENV"
}

find_python() {
    local candidate
    for candidate in $PYTHON; do
        if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' \
            2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

# All that edgevoice stands on, from the locks.
install_requirements() {
    make_venv
    say 'installing Python packages'
    pip_locked --only-binary=:all: build
    pip_locked --only-binary=:all: base
    pip_locked --only-binary=:all: nodeps
    # PYPI=1 makes lgpio bring its C library with it, which Debian 12 does not have.
    PYPI=1 pip_locked --no-build-isolation source
    install_llama
}

# pip_locked OPTION NAME: installs requirements/NAME.lock, which is complete in itself.
pip_locked() { pip_install --require-hashes "$1" --requirement "requirements/$2.lock"; }

pip_install() { logged "$VENV/bin/python" -m pip install --no-deps "$@"; }

# --- llama.cpp ------------------------------------------------------------------------

install_llama() {
    local kept wheel
    kept=$WHEELS/$(llama_key)
    (
        flock 9
        compgen -G "$kept/*.whl" >/dev/null || build_llama "$kept"
    ) 9>"$WHEELS/.lock"
    wheel=$(compgen -G "$kept/*.whl")
    pip_install --force-reinstall "$wheel"
    "$VENV/bin/python" -c 'import llama_cpp' >>"$LOG" 2>&1 || {
        rm -rf "$kept"
        die $UNAVAILABLE "the wheel kept in $kept does not load and was removed; run this again"
    }
}

# What a wheel is good for: this source, built so, for this processor and this system's libraries.
llama_key() {
    local version system
    version=$(sed -n 's/^llama-cpp-python==\([^ ]*\).*/\1/p' requirements/llama.lock)
    system=$(. /etc/os-release && echo "$ID${VERSION_ID:-}")
    echo "llama-$version-$(uname -m)-$system-$({
        llama_flags
        cat requirements/llama.lock
        [[ $(uname -m) == x86_64 ]] || grep -m1 '^Features' /proc/cpuinfo
    } | sha256sum | cut -c1-12)"
}

# On x86_64 a native build takes AMX where it is advertised, and dies of an illegal instruction
# on virtual machines that advertise it in vain.  So there each extension is named, if it is there.
llama_flags() {
    local flags='-DLLAVA_BUILD=OFF' pair
    if [[ $(uname -m) == x86_64 ]]; then
        flags+=' -DGGML_NATIVE=OFF'
        for pair in sse4_2:SSE42 avx:AVX avx2:AVX2 bmi2:BMI2 fma:FMA f16c:F16C; do
            grep -qw "${pair%:*}" /proc/cpuinfo || flags+=" -DGGML_${pair#*:}=OFF"
        done
    fi
    echo "$flags"
}

# build_llama DIRECTORY: builds the locked source; the wheel comes to DIRECTORY when it is whole.
build_llama() {
    local work
    rm -rf "$WHEELS"/.build.*
    work=$(mktemp -d "$WHEELS/.build.XXXXXX")
    say 'fetching the source of llama.cpp'
    logged "$VENV/bin/python" -m pip download --no-deps --no-build-isolation --no-binary=:all: \
        --require-hashes --requirement requirements/llama.lock --dest "$work/source"
    # TMPDIR: where /tmp is memory, a Pi has too little of it.
    CMAKE_ARGS=$(llama_flags) CMAKE_BUILD_PARALLEL_LEVEL=$(jobs_that_fit) TMPDIR=$work \
        patiently 'building llama.cpp (once, 5 to 30 minutes)' \
        "$VENV/bin/python" -m pip wheel --verbose --no-deps --no-build-isolation --no-index \
        --no-cache-dir --wheel-dir "$work/wheel" "$work"/source/*
    rm -rf "$1"
    mv "$work/wheel" "$1"
    rm -rf "$work"
}

# As many compilers as there are cores, and a GiB of memory for each.
jobs_that_fit() {
    local cores memory
    cores=$(nproc)
    memory=$(awk '/^MemTotal/ { print int($2 / 1048576 + 0.5) }' /proc/meminfo)
    echo $((cores < memory ? cores : memory > 0 ? memory : 1))
}

# --- commands that talk too much ------------------------------------------------------

logged() {
    printf '\n+ %s\n' "$*" >>"$LOG"
    "$@" >>"$LOG" 2>&1 </dev/null || die $UNAVAILABLE "$(last_error)"
}

# patiently WHAT COMMAND...: as logged, with a line that shows how far it is.
patiently() {
    local what=$1 reporter
    shift
    say "$what"
    report_progress &
    reporter=$!
    # shellcheck disable=SC2064 # the pid as it is now
    trap "kill $reporter 2>/dev/null || true" EXIT
    logged "$@"
    kill "$reporter" 2>/dev/null || true
    trap - EXIT
}

report_progress() {
    local started=$SECONDS percent every=60 line="$TOOL: %s %d min %02d s\n"
    [[ -t 1 ]] && every=1 line="\r$TOOL: %s %d min %02d s "
    while sleep $every; do
        percent=$(grep -oE '^ *\[ *[0-9]+(%|/[0-9]+)\]' "$LOG" | tail -n 1 | tr -d " ") || percent=
        # shellcheck disable=SC2059 # the format is one of the two above
        printf "$line" "$percent" $(((SECONDS - started) / 60)) $(((SECONDS - started) % 60))
    done
}

last_error() {
    local line
    line=$(grep -E '^ *(E:|ERROR:|error:)' "$LOG" | tail -n 1) || line=$(tail -n 1 "$LOG")
    echo "failed, see $LOG: ${line#"${line%%[![:space:]]*}"}"
}
