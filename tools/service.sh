# Turns installed files into a running service, and back; to be sourced.  Plain sh, because the
# package's maintainer scripts begin with these lines (tools/deb.sh).
# shellcheck shell=sh

unit=edgevoice.service
state=/var/lib/edgevoice

# User, directories, and the right to the pins; each as its file says, harmless to repeat.
prepare_system() {
    systemd-sysusers edgevoice.conf
    systemd-tmpfiles --create edgevoice.conf
    if command -v udevadm >/dev/null && [ -S /run/udev/control ]; then
        udevadm control --reload && udevadm trigger --subsystem-match=gpio --subsystem-match=spidev
    fi
}

# Never by the service, which has no network; and not as root, who needs none of it.
fetch_models() {
    (cd / && setpriv --reuid=edgevoice --regid=edgevoice --init-groups \
        env HOME=$state EDGEVOICE_MODELS=$state/models \
        /opt/edgevoice/.venv/bin/edgevoice models fetch)
}

# The owner's own "systemctl disable" outlives an upgrade.
enable_service() {
    deb-systemd-helper unmask $unit >/dev/null
    if deb-systemd-helper --quiet was-enabled $unit; then
        deb-systemd-helper enable $unit >/dev/null
    else
        deb-systemd-helper update-state $unit >/dev/null
    fi
}

# In a chroot or an image nothing runs yet; there the next boot starts it.
systemd_runs() { [ -d /run/systemd/system ]; }

start_service() {
    systemd_runs || return 0
    systemctl daemon-reload
    deb-systemd-invoke restart $unit
}

stop_service() {
    { systemd_runs && [ -e /usr/lib/systemd/system/$unit ]; } || return 0
    deb-systemd-invoke stop $unit
}

forget_service() {
    deb-systemd-helper purge $unit >/dev/null
    deb-systemd-helper unmask $unit >/dev/null
    systemd_runs || return 0
    systemctl daemon-reload
}

# Configuration, models and user; gpio and spi stay, as others may be in these groups.
purge_system() {
    rm -rf /etc/edgevoice $state /var/cache/edgevoice
    ! getent passwd edgevoice >/dev/null || userdel edgevoice
    # userdel leaves a group that has other members, such as the device's owner.
    ! getent group edgevoice >/dev/null || groupdel edgevoice
}
