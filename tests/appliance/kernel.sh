#!/usr/bin/env bash
# kernel.sh DIRECTORY: Debian's kernel for the virtual machine, made ready for a quick boot.
#
# Leaves in DIRECTORY: vmlinux, initrd.gz.
#
# Debian's kernel comes with snd-aloop but without gpio-sim, so that module is built from the
# same source; nothing of the host's own kernel is used.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
readonly here out=$1

readonly MODULES=(nfit nd_pmem erofs overlay virtio_pci virtio_console virtio_rng 9pnet_virtio 9p
    snd_aloop configfs)

main() {
    local work
    work=$(mktemp -d "$out/.kernel.XXXXXX")
    # shellcheck disable=SC2064 # the directory as it is now
    trap "rm -rf '$work'" EXIT
    cd "$work"
    fetch_packages
    build_gpio_sim
    # An uncompressed kernel saves the emulated processor seconds.
    scripts/extract-vmlinux sys/boot/vmlinuz-* >vmlinux
    make_initrd
    mv vmlinux initrd.gz "$out"
}

fetch_packages() {
    local image
    image=$(depends linux-image-amd64 '^linux-image-')
    version=${image#linux-image-}
    local headers=linux-headers-$version
    # The directory must be apt's own user's for its sandbox; that user may not enter a home.
    apt-get --quiet=2 -o APT::Sandbox::User=root download "$image" "$headers" \
        "$(depends "$headers" '^linux-headers-.*-common$')" \
        "$(depends "$headers" '^linux-kbuild-')" \
        "$(depends linux-source '^linux-source-')"
    local package
    for package in linux-image-*.deb linux-headers-*.deb linux-kbuild-*.deb; do
        dpkg-deb --extract "$package" sys
    done
    dpkg-deb --fsys-tarfile linux-source-*.deb | tar --extract --to-stdout --wildcards '*.tar.xz' |
        tar --extract --xz --strip-components=1 --wildcards '*/drivers/gpio/gpio-sim.c' \
            '*/drivers/gpio/gpiolib.h' '*/kernel/irq/irq_sim.c' '*/scripts/extract-vmlinux'
    rm ./*.deb
}

# depends PACKAGE PATTERN: the first dependency of PACKAGE that matches.
depends() {
    apt-cache depends "$1" | awk -v pattern="$2" '/Depends:/ && $2 ~ pattern { print $2; exit }'
}

# irq_sim, which gpio-sim needs, is not in Debian's kernel either and is linked in; it calls
# irq_to_desc(), which modules may not, for what generic_handle_irq() does.
build_gpio_sim() {
    mkdir module
    cp drivers/gpio/gpio-sim.c module/gpio-sim-main.c
    cp drivers/gpio/gpiolib.h module/
    sed 's/handle_simple_irq(irq_to_desc(irqnum));/generic_handle_irq(irqnum);/' \
        kernel/irq/irq_sim.c >module/irq_sim.c
    printf 'obj-m := gpio-sim.o\ngpio-sim-y := gpio-sim-main.o irq_sim.o\n' >module/Makefile
    headers_at_home
    make --silent -C "sys/usr/src/linux-headers-$version" M="$PWD/module" modules
    strip --strip-debug module/gpio-sim.ko
}

# The headers name /usr/src and /usr/lib, where they are not installed.
headers_at_home() {
    local src=$PWD/sys/usr/src kbuild link
    kbuild=$(echo "$PWD"/sys/usr/lib/linux-kbuild-*)
    sed -i "s#/usr/src/#$src/#g; s#/usr/lib/linux-kbuild[^/ ]*#$kbuild#g" \
        "$src/linux-headers-$version/Makefile"
    find "$src" -maxdepth 2 -type l -lname '*/linux-kbuild-*' | while read -r link; do
        ln -sfn "$kbuild/$(basename "$link")" "$link"
    done
}

make_initrd() {
    local module
    mkdir -p initrd/{bin,proc,sys,dev,modules,base,top,new}
    cp /bin/busybox initrd/bin/
    install -m 755 "$here/guest/init" initrd/init
    depmod --basedir sys "$version"
    {
        for module in "${MODULES[@]}"; do
            modprobe --dirname sys --set-version "$version" --show-depends "$module"
        done
    } | awk '/^insmod/ && !seen[$2]++ { print $2 }' | while read -r module; do
        unpacked "$module" "initrd/modules/$(basename "${module%.xz}")"
        basename "${module%.xz}" >>initrd/modules/order
    done
    cp module/gpio-sim.ko initrd/modules/
    echo gpio-sim.ko >>initrd/modules/order
    (cd initrd && find . | cpio --create --format=newc --quiet) | gzip -1 >initrd.gz
}

unpacked() {
    case $1 in
        *.xz) xz --decompress --stdout "$1" >"$2" ;;
        *) cp "$1" "$2" ;;
    esac
}

main
