#!/usr/bin/env bash
# build.sh DEB: all that the virtual machine is made of; what has not changed is kept.
#
#   EDGEVOICE_APPLIANCE  where it is kept (~/.cache/edgevoice/appliance)
#   EDGEVOICE_MODELS     where the models are (~/.cache/edgevoice/models)
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly TOOL=appliance LOG=.cache/appliance.log
readonly CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/edgevoice
readonly OUT=${EDGEVOICE_APPLIANCE:-$CACHE/appliance} MODELS=${EDGEVOICE_MODELS:-$CACHE/models}
readonly HERE=tests/appliance
. tools/lib.sh

readonly PACKAGES=(qemu-system-x86 seabios mmdebstrap busybox-static erofs-utils # the machine
    build-essential cpio kmod libelf1 xz-utils)                                  # its kernel

main() {
    [[ $(uname -m) == x86_64 ]] || die $UNAVAILABLE 'the virtual machine is an x86_64 one, as is its package'
    ((EUID == 0)) || die $NO_PERMISSION 'only root can make a root file system: sudo make test-appliance'
    mkdir -p .cache "$OUT"
    one_at_a_time "$OUT/.lock"
    : >"$LOG"
    debian_packages "${PACKAGES[@]}" || die $UNAVAILABLE "$(last_error)"
    made_of kernel "$(apt-cache show linux-image-amd64 | grep -m1 '^Depends'; cat $HERE/kernel.sh $HERE/guest/init)" ||
        make_part kernel 'building gpio-sim for the kernel' $HERE/kernel.sh "$OUT"
    made_of image "$(cat "$1" $HERE/image.sh $HERE/guest/* | sha256sum)" ||
        make_part image 'making the image, with the package installed' \
            "$PWD/$HERE/image.sh" "$OUT" "$PWD/$1" "$MODELS"
}

# made_of PART WHAT: whether the part there is made of just that.
made_of() {
    wanted=$(sha256sum <<<"$2")
    [[ $(cat "$OUT/.made-$1" 2>/dev/null) == "$wanted" ]]
}

make_part() {
    local part=$1
    say "$2"
    shift 2
    logged "$@"
    echo "$wanted" >"$OUT/.made-$part"
}

main "$1"
