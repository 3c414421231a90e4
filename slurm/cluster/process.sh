# shellcheck shell=bash
# process.sh - the processes that one cluster started, remembered in files; sourced by cluster.sh.
#
# A cluster outlives the script that started it, and the script may be killed at any moment, so what to stop later
# is written to $DIR/run/NAME.proc as "PID START_TICKS".  The start time tells our process from a later one that was
# given the same pid: a stale file never gets a stranger killed.

say() { printf 'cluster.sh: %s\n' "$*" >&2; }
die() {
    say "$*"
    exit 1
}
need_root() { [ "$(id -u)" = 0 ] || die "must run as root"; }

# start_ticks PID: field 22 of /proc/PID/stat; the command in field 2 may hold spaces, so count from behind its ")".
start_ticks() {
    local line fields
    line=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
    read -r -a fields <<<"${line##*) }"
    echo "${fields[19]}"
}
remember() { echo "$2 $(start_ticks "$2")" >"$DIR/run/$1.proc"; } # NAME PID

# alive NAME: prints the pid; false if it ended, or is a zombie that its parent has not reaped yet.
alive() {
    local pid ticks
    [ -s "$DIR/run/$1.proc" ] || return 1
    read -r pid ticks <"$DIR/run/$1.proc" || return 1
    [ -n "$ticks" ] && [ "$(start_ticks "$pid")" = "$ticks" ] || return 1
    case $(cat "/proc/$pid/stat" 2>/dev/null) in *") Z "*) return 1 ;; esac
    echo "$pid"
}
is_gone() { ! alive "$1" >/dev/null; }
end_process() { # NAME SIGNAL
    local pid
    if pid=$(alive "$1"); then kill "-$2" "$pid" 2>/dev/null || true; fi
}

wait_for() { # SECONDS CMD...
    local end=$((${EPOCHREALTIME/./} + $1 * 1000000))
    shift
    until "$@"; do
        [ "${EPOCHREALTIME/./}" -lt "$end" ] || return 1
        sleep 0.05
    done
}
