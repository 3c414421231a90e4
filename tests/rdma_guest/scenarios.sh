#!/bin/sh
# scenarios.sh - what happens in the guest while the sampler looks on; runs there, under init.sh.
#
# It decides nothing: what was true is written to $OUT beside the sampler's spools, and rdma_guest_test.py compares. It
# waits for what must have happened, not for a time in which it should have: the processors may be slow. The sampler
# of `main` sees everything; the others show one circumstance each.
OUT=${OUT:?}
SAMPLER=/bin/jaxprof-netsampler
CARDS=/sys/bus/platform/drivers/efa   # of efa_stub
RENAMED=rdmap18s0                     # 0000:12:00.0
UNPLUGGED=0000:15:00.0
LATENCY_US=2000                       # of a reading, in `slow`

say() { echo "guest: [$(cut -d' ' -f1 /proc/uptime)] $*"; }

# wait_for SECONDS CMD...: until it succeeds; false if it never did
wait_for() {
    tries=$(($1 * 5))
    shift
    while ! "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || { say "never: $*"; return 1; }
        sleep 0.2
    done
}

# readings: of each card, "PCI_ADDRESS COUNT"
readings() {
    for card in "$CARDS"/0000:*; do
        echo "${card##*/} $(sed -n 's/^readings //p' "$card/truth")"
    done
}
each_was_read() { # COUNT
    readings | awk -v least="$1" '$2 < least { short = 1 } END { exit short }'
}
was_read_again() { # CARD COUNT
    [ "$(readings | awk -v card="$1" '$1 == card { print $2 }')" -gt "$2" ]
}
# A moment and how often each card had been read by then.
keep_readings() { # NAME
    { echo "uptime_s $(cut -d' ' -f1 /proc/uptime)" && readings; } >"$OUT/$1.readings"
}
# What every counter is at, once nothing moves any more.
keep_truth() {
    mkdir -p "$OUT/truth"
    for card in "$CARDS"/0000:*; do cat "$card/truth" >"$OUT/truth/${card##*/}"; done
    for device in rxe0 rxe1; do
        (cd "/sys/class/infiniband/$device/ports/1/hw_counters" && grep . -- * | tr : ' ') >"$OUT/truth/$device"
    done
    cat "$CARDS/traffic" >"$OUT/traffic"
}

# sample NAME OPTION...: the sampler, to its end
sample() {
    name=$1
    shift
    "$SAMPLER" --out "$OUT/$name.spool" "$@" >"$OUT/$name.log" 2>&1
    echo $? >"$OUT/$name.status"
}
sample_as_nobody() { # NAME OPTION...
    name=$1
    shift
    : >"$OUT/$name.log"
    : >"$OUT/$name.status"
    mkdir "$OUT/$name"
    chown nobody "$OUT/$name.log" "$OUT/$name.status" "$OUT/$name"
    su nobody -s /bin/sh -c "id -u >$OUT/$name/user
        $SAMPLER --out $OUT/$name/spool $* >$OUT/$name.log 2>&1
        echo \$? >$OUT/$name.status"
    mv "$OUT/$name/spool" "$OUT/$name.spool"
}

# In a container with a network of its own: sysfs shows the cards there, and hides their counters.
in_a_container() {
    umount /sys && mount -t sysfs sysfs /sys
    ls /sys/class/infiniband >"$OUT/container.devices"
    ls -d /sys/class/infiniband/*/ports/1/hw_counters >"$OUT/container.counters" 2>&1
    "$SAMPLER" --probe >"$OUT/container.probe" 2>"$OUT/container.probe.log"
    sample_as_nobody container --for 5s
}
without_sys() {
    umount /sys
    ls -A /sys >"$OUT/without_sys.listing"
    sample_as_nobody without_sys --for 5s
}

make_rxe() { # NUMBER
    ip link add "wire$1" type dummy
    ip addr add "10.0.$1.1/24" dev "wire$1"
    ip link set "wire$1" up
    rdma link add "rxe$1" type rxe netdev "wire$1"
}
is_listening() { # PORT
    cat /proc/net/tcp /proc/net/tcp6 | grep -q ":$(printf %04X "$1") 0*:0000 0A"
}
# pass_data NAME PORT ADDRESS CMD...: CMD as a server and as its client. Both are on one device: their packets pass the
# whole of rdma_rxe and come back. Again if it fails: rdma_rxe gives a connection up when it is not answered for half a
# second, which a busy host can bring about.
pass_data() {
    name=$1 port=$2 address=$3
    shift 3
    for _ in 1 2 3; do
        timeout 60 "$@" -p "$port" >"$OUT/$name.server" 2>&1 &
        server=$!
        wait_for 30 is_listening "$port"
        timeout 60 "$@" -p "$port" "$address" >"$OUT/$name.client" 2>&1
        status=$?
        echo $status >"$OUT/$name.status"
        [ $status = 0 ] && break
        say "$name failed"
        kill "$server"
        port=$((port + 10))
    done
    wait "$server"
}

case ${1:-} in # by itself again, in namespaces of its own
in_a_container | without_sys)
    "$1"
    exit
    ;;
esac

ip link set lo up
make_rxe 0
make_rxe 1
set -- /sys/class/infiniband/*
say "$# devices"

# ---------------------------------------------------------------- main: all that can happen to devices
"$SAMPLER" --out "$OUT/main.spool" --for 600s >"$OUT/main.log" 2>&1 &
main=$!
wait_for 60 each_was_read 10 # first measurements of how long it takes, and full rows
say "sampling"
keep_readings begin
echo 1 >"$CARDS/traffic"
pass_data pingpong 18515 10.0.0.1 ibv_rc_pingpong -d rxe0 -g 1 -n 300 &
pass_data write_bw 18516 10.0.1.1 ib_write_bw -d rxe1 -x 1 -s 65536 -n 100 -u 18 -F
wait $!
say "RDMA traffic ended"
sleep 5
keep_readings end

rdma dev set $RENAMED name renamed0
ip link set wire1 down
before=$(readings | awk -v card=$UNPLUGGED '$1 == card { print $2 }')
echo $UNPLUGGED >"$CARDS/unbind"
say "unplugged"
sample sysfs --nic-source sysfs --for 5s &
sysfs=$!
(export OUT SAMPLER && unshare -n -m sh "$0" in_a_container) &
container=$!
(unshare -m sh "$0" without_sys) &
wait $! $container $sysfs
sleep 3 # what changed has been looked for, which is done every 5 s
ip link set wire1 up
echo $UNPLUGGED >"$CARDS/bind"
say "plugged in again"
wait_for 60 was_read_again $UNPLUGGED $((before + 5))
sleep 7
echo 0 >"$CARDS/traffic"
keep_truth
kill -TERM $main
wait $main
echo $? >"$OUT/main.status"
say "main ended"

# ---------------------------------------------------------------- slow: a card takes long to answer
echo $LATENCY_US >/sys/module/efa_stub/parameters/latency_us
keep_readings slow_begin
sample slow --for 6s
keep_readings slow_end
say "slow ended"
