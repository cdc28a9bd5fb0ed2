# Before each script that the tests send.  Seconds are the machine's own.
# shellcheck shell=bash disable=SC2034
lines=$(echo /sys/devices/platform/gpio-sim.0/gpiochip*)
card=/sys/bus/platform/drivers/snd_aloop
press() { echo pull-down >"$lines/sim_gpio17/pull"; }
release() { echo pull-up >"$lines/sim_gpio17/pull"; }
# The lamp's red, green and blue, such as 001; without a process, as it is asked often.
lamp() {
    local pin value
    lit=
    for pin in 22 23 24; do
        read -r value <"$lines/sim_gpio$pin/value"
        lit+=$value
    done
}
shows() { lamp && [[ $lit == "$1" ]]; }
of() { systemctl show --property="$1" --value edgevoice; }
is() { [[ $(of "$1") == "$2" ]]; }
now_ms() { echo "${EPOCHREALTIME/./}" | head -c -4; }
# The state it went to last.
state() { journalctl --unit=edgevoice --output=cat --lines=30 | sed -n 's/.*→ \([a-z_]*\).*(.*)$/\1/p' | tail -n 1; }
reached() { [[ $(state) == "$1" ]]; }
# within SECONDS COMMAND...: until it succeeds.
within() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < end)) || { echo "not in time: $*"; journalctl -u edgevoice -n 20; exit 1; }
        sleep "${EVERY:-0.5}"
    done
}
