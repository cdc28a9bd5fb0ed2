#!/usr/bin/env bash
# image.sh DIRECTORY DEB MODELS: the virtual machine's image, DIRECTORY/root.erofs: this release
# of Debian with the package DEB installed by apt, and with MODELS, so that none are fetched.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
readonly here out=$1 deb=$2 models=$3
readonly PACKAGES=systemd-sysv,udev,dbus,kmod,procps,alsa-utils
# What does nothing for a machine that lives for minutes and has no terminal.
readonly MASKED=(getty.target getty-static.service systemd-timesyncd.service
    systemd-hwdb-update.service apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer
    e2scrub_all.timer e2scrub_reap.service fstrim.timer)

# With a root directory as the fourth argument it is mmdebstrap's hook.
main() {
    if [[ ${4:-} ]]; then
        customize "$4"
        return
    fi
    # The image is made in the hook; mmdebstrap's own result is wanted by nobody.
    mmdebstrap --quiet --variant=minbase --include="$PACKAGES" --format=null \
        --customize-hook="'$here/image.sh' '$out' '$deb' '$models' \"\$1\"" \
        "$(. /etc/os-release && echo "$VERSION_CODENAME")" -
}

customize() {
    local root=$1 unit
    install -m 755 "$here/guest/agent" "$root/usr/local/sbin/agent"
    install -m 644 "$here/guest/agent.service" "$root/etc/systemd/system/agent.service"
    for unit in "${MASKED[@]}"; do ln -sf /dev/null "$root/etc/systemd/system/$unit"; done
    chroot "$root" systemctl --quiet enable agent.service
    install -D -m 644 "$here/guest/pi.conf" "$root/etc/systemd/system/edgevoice.service.d/pi.conf"
    # The owner's own configuration, which the package must leave alone.
    install -D -m 644 "$here/guest/edgevoice.yaml" "$root/etc/edgevoice/edgevoice.yaml"
    install_package "$root"
    rm -f "$out/root.erofs.part"
    mkfs.erofs --quiet -x-1 --exclude-regex='^(dev|proc|run|sys|tmp)/.' "$out/root.erofs.part" "$root"
    # Persistent memory comes in such pieces.
    truncate --size=%128M "$out/root.erofs.part"
    mv "$out/root.erofs.part" "$out/root.erofs"
}

# The models are there before, as after an earlier installation: the package fetches what lacks.
install_package() {
    local root=$1
    mkdir -p "$root/var/lib/edgevoice/models"
    cp -r --preserve=timestamps "$models/." "$root/var/lib/edgevoice/models/"
    chroot "$root" systemd-sysusers - <<<'u edgevoice - "edgevoice voice assistant" /var/lib/edgevoice'
    chroot "$root" chown -R edgevoice: /var/lib/edgevoice
    cp "$deb" "$root/tmp/edgevoice.deb"
    chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes \
        --no-install-recommends -o Dpkg::Options::=--force-confold install /tmp/edgevoice.deb
    rm -rf "$root/tmp/edgevoice.deb" "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/*
    # What keeps services from being started in here would keep the machine from stopping any.
    rm -f "$root/usr/sbin/policy-rc.d"
}

main "$@"
