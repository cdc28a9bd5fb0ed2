#!/usr/bin/env bash
# Builds dist/edgevoice_VERSION_ARCHITECTURE.deb for systems like this one: the same release of
# Debian or Raspberry Pi OS and the same processor.  It installs without a network, but for the
# models.
#
#   EDGEVOICE_WHEELS  where built wheels are kept (~/.cache/edgevoice/wheels)
set -euo pipefail
cd "$(dirname "$0")/.."

readonly TREE=$PWD/build/deb
readonly LOG=.cache/deb.log
readonly SITE=$TREE/opt/edgevoice/.venv/lib

main() {
    local package
    # The environment is kept from build to build, and made anew when it has to be.
    mkdir -p .cache dist
    : >"$LOG"
    rm -rf "${TREE:?}"/{DEBIAN,etc,usr,opt/edgevoice/*}
    DESTDIR=$TREE BINDIR=/usr/bin tools/install.sh
    documentation
    control
    package=dist/edgevoice_$(version)_$(dpkg --print-architecture).deb
    dpkg-deb --root-owner-group -Zxz -z1 --build "$TREE" "$package.part" >/dev/null
    mv "$package.part" "$package"
    echo "deb: $package"
}

# The release is part of it: the newer release's package is the newer version.
version() { echo "$(number)+$(. /etc/os-release && echo "deb$VERSION_ID")"; }

number() { sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml; }

documentation() {
    local there=$TREE/usr/share/doc/edgevoice
    install -D -m 644 packaging/copyright "$there/copyright"
    gzip -9n <CHANGELOG.md >"$there/NEWS.gz"
    changelog | gzip -9n >"$there/changelog.gz"
    install -d "$TREE/usr/share/man/man1"
    gzip -9n <packaging/edgevoice.1 >"$TREE/usr/share/man/man1/edgevoice.1.gz"
    install -D -m 644 packaging/lintian-overrides "$TREE/usr/share/lintian/overrides/edgevoice"
}

# As Debian's tools read it; what is told to people is told once, in CHANGELOG.md.
changelog() {
    printf 'edgevoice (%s) unstable; urgency=medium\n\n  * See NEWS.gz.\n\n -- %s  %s\n' \
        "$(version)" "$(sed -n 's/^Maintainer: //p' packaging/control.in)" \
        "$(LC_ALL=C date --rfc-email --reference=CHANGELOG.md)"
}

control() {
    mkdir -p "$TREE/DEBIAN"
    sed -e "s/@VERSION@/$(version)/" -e "s/@ARCHITECTURE@/$(dpkg --print-architecture)/" \
        -e "s/@PYTHON@/$(python)/" -e "s/@LIBRARIES@/$(libraries)/" \
        -e "s/@SIZE@/$(du -sk --exclude=DEBIAN "$TREE" | cut -f1)/" \
        packaging/control.in >"$TREE/DEBIAN/control"
    echo /etc/edgevoice/edgevoice.yaml >"$TREE/DEBIAN/conffiles"
    script postinst
    script prerm
    script postrm
    (cd "$TREE" && find etc opt usr -type f -print0 | sort -z | xargs -0 md5sum) >"$TREE/DEBIAN/md5sums"
}

# Compiled packages fit one minor version of Python.
python() {
    /usr/bin/python3 -c 'import sys; major, minor, *_ = sys.version_info
print(f"python3 (>= {major}.{minor}), python3 (<< {major}.{minor + 1})")'
}

# Debian's libraries that what was built here, and what wheels take for granted, is linked with.
libraries() {
    local work
    work=$(mktemp -d)
    mkdir "$work/debian"
    printf 'Source: edgevoice\n\nPackage: edgevoice\nArchitecture: any\n' >"$work/debian/control"
    {
        find "$SITE" -name '*.so*' -type f -printf '-l%h\n' | sort -u
        find "$SITE" -name '*.so*' -type f -printf '-e%p\n'
    } | (cd "$work" && xargs dpkg-shlibdeps -O --ignore-missing-info --warnings=0 2>>"$OLDPWD/$LOG") |
        sed -n 's/^shlibs:Depends=//p'
    rm -rf "$work"
}

# script NAME: a maintainer script, with the functions it stands on.
script() {
    {
        printf '#!/bin/sh\nset -e\n\n'
        cat tools/service.sh "packaging/$1"
    } >"$TREE/DEBIAN/$1"
    chmod 755 "$TREE/DEBIAN/$1"
}

main
