#!/usr/bin/env bash
# cluster.sh - a real multi-node Slurm cluster on one Linux machine, for the demo and the tests.
#
# What a profiler does on several nodes cannot be tested on one: hostnames, process ids, /tmp, boot ids and
# monotonic clocks must differ.  This script starts Debian's own slurmctld, slurmd and munged as root on a bare
# Debian 12, without systemd, containers or anything under /etc.  Two modes:
#
#   ns     (default) every node is a set of Linux namespaces:
#            uts    its own hostname (n1, n2, ...)
#            net    its own eth0 on a private bridge, its own loopback and ports
#            pid    its own process ids (pids of different nodes overlap);
#                   killing the node's init kills everything left on the node
#            mount  its own /tmp, /var/tmp and /dev/shm, /etc/hosts and boot id
#            ipc    its own System V / POSIX IPC
#            time   its own CLOCK_MONOTONIC and CLOCK_BOOTTIME (whole-second
#                   offsets; CLOCK_REALTIME is the machine's, Linux has no
#                   namespace for it)
#   plain  no namespaces: one slurmd a node on its own port.  Same hostname, same
#          /tmp, same clocks.  Works wherever the daemons can run at all.
#
# Usage:
#   cluster.sh up [N]             start N nodes (default 2), wait until all are idle
#   cluster.sh down               stop everything that this script started
#   cluster.sh status             what runs, sinfo; exit 0 only if all nodes are up
#   cluster.sh env                shell lines to eval: SLURM_CONF and friends
#   cluster.sh run CMD [ARG...]   run CMD with that environment
#   cluster.sh exec NODE CMD...   run CMD inside NODE (not as a Slurm job)
#   cluster.sh kill-node NODE     pull the plug on NODE (tests of lost nodes)
#   cluster.sh logs               print the daemons' logs
#   cluster.sh selftest           up 2, check hostnames/clocks/ranks, down
#
# Settings (environment; JAXPROF_CLUSTER_DIR is what tells one cluster from another, and several may run at once;
# `up` with other settings restarts the one in that folder):
#   JAXPROF_CLUSTER_DIR        state folder           (default /var/tmp/jaxprof-cluster)
#   JAXPROF_CLUSTER_MODE       ns | plain             (default ns)
#   JAXPROF_CLUSTER_CPUS       pretended CPUs a node  (default 8)
#   JAXPROF_CLUSTER_MEM        pretended MiB a node   (default 16000)
#   JAXPROF_CLUSTER_GPUS       pretended GPUs a node  (default 4; 0 for none).  Slurm then hands out --gres=gpu:n
#                              and sets CUDA_VISIBLE_DEVICES
#   JAXPROF_CLUSTER_SKEW       monotonic offset step, seconds: node i gets i*SKEW (default 1000; 0 for no time
#                              namespace)
#   JAXPROF_CLUSTER_SLOT       0 to 23: network 10.213.(100+SLOT).0/24 and ports 20000+500*SLOT and up (default:
#                              the first free one)
#   JAXPROF_CLUSTER_KILLWAIT   KillWait, seconds      (default 5; Slurm's own default: 30)
#   JAXPROF_CLUSTER_PROCTRACK  linuxproc | pgid | cgroup (default linuxproc).  They differ in whom scancel, --signal
#                              and the time limit reach:
#                                linuxproc  the task and all its descendants
#                                pgid       the task's process group
#                                cgroup     the task only (SIGKILL: everything it left) - what production clusters
#                                           have; needs a writable cgroup v1 freezer in /sys/fs/cgroup/freezer
#   JAXPROF_CLUSTER_SHARED     extra folders, separated by ':', which stay common to all nodes although they lie
#                              under /tmp or /var/tmp
#   JAXPROF_CLUSTER_CONF       file of extra slurm.conf lines, appended
#   JAXPROF_CLUSTER_TIMEOUT    seconds to wait for the nodes (default 30)
#
# Folders a test may use (all under $JAXPROF_CLUSTER_DIR):
#   shared/             seen by all nodes at the same path: the "parallel file system"
#   nodes/NAME/tmp/     what NODE sees as /tmp (look into it from outside)
#   etc/plugstack.d/    drop SPANK configuration here before the job starts
#   log/                daemon logs; log/jobcomp.log has one line a finished job
set -euo pipefail
shopt -s nullglob

SELF=$(readlink -f "$0")
HERE=$(dirname "$SELF")
DIR=$(readlink -m "${JAXPROF_CLUSTER_DIR:-/var/tmp/jaxprof-cluster}")
MODE=${JAXPROF_CLUSTER_MODE:-ns}
TIMEOUT=${JAXPROF_CLUSTER_TIMEOUT:-30}
SLOT_COUNT=24
# shellcheck source=slurm/cluster/process.sh
. "$HERE/cluster/process.sh"
# shellcheck source=slurm/cluster/conf.sh
. "$HERE/cluster/conf.sh"
# shellcheck source=slurm/cluster/node.sh
. "$HERE/cluster/node.sh"

use_env() {
    export SLURM_CONF=$DIR/etc/slurm.conf
    # A Slurm or MPI environment of a surrounding job must not leak into ours.
    local v
    for v in $(compgen -v | grep -E '^(SLURM_|SBATCH_|SALLOC_|SRUN_|PMIX?_|OMPI_)' | grep -vx SLURM_CONF); do
        unset "$v"
    done
    export "${MPI_SETTINGS[@]}"
}
# What MPI programs need on these nodes. Ranks that spin on fewer cores starve each other. Open MPI 4.1.4 over its own
# TCP, started by srun --mpi=pmix, dies in MPI_Init about once in twenty times: a faster rank's message arrives before its
# receiver is registered (mca_btl_tcp); libfabric's TCP is free of that.
MPI_SETTINGS=(OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_pml=cm OMPI_MCA_mtl=ofi OMPI_MCA_mtl_ofi_provider_include=tcp)

# ---------------------------------------------------------------- slots: which network and ports
# set_slot SLOT: everything that must differ between two clusters on one machine.
set_slot() {
    SLOT=$1
    SUBNET=10.213.$((100 + SLOT))
    PORT=$((20000 + 500 * SLOT))
    BRIDGE=jpcl$SLOT # a link's name has at most 15 characters, "-64" follows
}
port_in_use() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
# The bridge's address says whose it is: set as the bridge is made, so no kill can leave one without its owner's mark.
bridge_address() { sha256sum <<<"$DIR" | sed -E 's/^(..)(..)(..)(..)(..).*/02:\1:\2:\3:\4:\5/'; }
# Making the bridge is what claims a slot: of two clusters that start at once only one can.
claim_slot() { # SLOT
    set_slot "$1"
    ! port_in_use "$PORT" || return 1
    [ "$MODE" = ns ] || return 0
    ip link add "$BRIDGE" address "$(bridge_address)" type bridge 2>/dev/null
}
release_slot() {
    local link own
    own=$(bridge_address)
    for link in /sys/class/net/jpcl*; do
        if [ "$(cat "$link/address" 2>/dev/null)" = "$own" ]; then ip link del "${link##*/}" || true; fi
    done
}
choose_slot() {
    local slot
    if [ -n "${JAXPROF_CLUSTER_SLOT:-}" ]; then
        claim_slot "$JAXPROF_CLUSTER_SLOT" || die "slot $JAXPROF_CLUSTER_SLOT is taken, or no bridge can be made"
        return 0
    fi
    for ((slot = 0; slot < SLOT_COUNT; slot++)); do
        if claim_slot "$slot"; then return 0; fi
    done
    die "no free slot of $SLOT_COUNT, or no bridge can be made (no CAP_NET_ADMIN?): try JAXPROF_CLUSTER_MODE=plain"
}

# ---------------------------------------------------------------- up
all_idle() { [ "$(sinfo -h -N -p main -o '%N %t' 2>/dev/null | grep -cE ' (idle|mix|alloc)$')" = "$1" ]; }
controller_up() { scontrol ping 2>/dev/null | grep -q ' UP'; }

cmd_up() {
    local n=${1:-2} i began=${EPOCHREALTIME/./} want
    need_root
    [[ $n =~ ^([1-9]|[1-5][0-9]|6[0-4])$ ]] || die "up: want 1 to 64 nodes, not '$n'"
    case $MODE in ns | plain) ;; *) die "JAXPROF_CLUSTER_MODE: ns or plain, not '$MODE'" ;; esac
    bash "$HERE/../tests/setup.sh" slurm
    mkdir -p "$DIR"
    exec 9>"$DIR/.lock"
    flock -w 60 9 || die "another cluster.sh is at work in $DIR"
    want="$n $MODE $(conf_settings)"
    if [ -e "$DIR/current" ]; then
        if [ "$(cat "$DIR/current")" = "$want" ] && cluster_ok "$n"; then
            say "already up"
            return 0
        fi
        stop_all
    fi

    rm -rf "${DIR:?}"/{run,log,state,munge,etc,nodes}
    mkdir -p "$DIR"/{run,log,state,munge,etc/plugstack.d,shared}
    chmod 755 "$DIR"
    chmod 711 "$DIR/munge"
    chmod 1777 "$DIR/shared"
    for ((i = 1; i <= n; i++)); do
        mkdir -p "$DIR/nodes/n$i"/{spool,tmp,vartmp}
        chmod 1777 "$DIR/nodes/n$i"/{tmp,vartmp}
    done
    # From here on a failure must not leave half a cluster behind.
    trap 'rc=$?; [ $rc = 0 ] || { say "up failed; stopping"; show_logs 15 >&2 || true; stop_all; }' EXIT
    echo "$want" >"$DIR/current"
    choose_slot
    use_env
    write_conf "$n"

    (umask 077 && head -c 128 /dev/urandom >"$DIR/munge/key")
    setsid munged --foreground --key-file="$DIR/munge/key" --socket="$DIR/munge/socket" \
        --pid-file="$DIR/munge/pid" --log-file="$DIR/munge/log" --seed-file="$DIR/munge/seed" \
        </dev/null >>"$DIR/log/munged.out" 2>&1 9>&- &
    remember munged $!
    wait_for 10 test -S "$DIR/munge/socket" || die "munged did not start"

    if [ "$MODE" = ns ]; then
        ip addr add "$SUBNET.254/24" dev "$BRIDGE"
        ip link set "$BRIDGE" up
    fi
    setsid slurmctld -D </dev/null >>"$DIR/log/slurmctld.out" 2>&1 9>&- &
    remember slurmctld $!
    for ((i = 1; i <= n; i++)); do "start_node_$MODE" "$i"; done

    wait_for "$TIMEOUT" controller_up || die "slurmctld did not answer in $TIMEOUT s"
    wait_for "$TIMEOUT" all_idle "$n" ||
        die "not all of $n nodes came up in $TIMEOUT s: $(sinfo -h -N -o '%N=%t' | tr '\n' ' ')"
    trap - EXIT
    say "$n nodes up in $(((${EPOCHREALTIME/./} - began) / 1000)) ms ($MODE, slot $SLOT); SLURM_CONF=$SLURM_CONF"
}

# ---------------------------------------------------------------- down and the rest
stop_all() {
    local f name pid names=()
    # Jobs first, so that their steps end by Slurm's own rules and not by SIGKILL.
    if alive slurmctld >/dev/null; then
        use_env
        timeout 5 scancel --state=RUNNING --user=root 2>/dev/null || true
    fi
    # unshare-* are the parents of node-*: when one dies, so does the node (--kill-child).
    for f in "$DIR"/run/node-*.proc "$DIR"/run/unshare-*.proc; do names+=("$(basename "$f" .proc)"); done
    for name in "${names[@]}" slurmctld munged; do end_process "$name" TERM; done
    for name in "${names[@]}" slurmctld munged; do
        wait_for 3 is_gone "$name" && continue
        end_process "$name" KILL
        wait_for 5 is_gone "$name" || say "$name is still there"
    done
    # plain mode: a job's stepd outlives its slurmd
    for pid in $(stepds); do kill -KILL "$pid" 2>/dev/null || true; done
    if [ -e "$DIR/nodes" ] && [ -d /sys/fs/cgroup/freezer ]; then # proctrack/cgroup
        for f in "$DIR"/nodes/*; do
            find "/sys/fs/cgroup/freezer/slurm_${f##*/}" -depth -type d -exec rmdir {} + 2>/dev/null || true
        done
    fi
    release_slot # the nodes' ends of the links went with their network namespaces
    rm -f "$DIR"/run/*.proc "$DIR/current"
}
stepds() { # slurmstepd processes of this cluster, known by their SLURM_CONF
    local p
    for p in /proc/[0-9]*; do
        [ "$(cat "$p/comm" 2>/dev/null)" = slurmstepd ] || continue
        if grep -qzx "SLURM_CONF=$DIR/etc/slurm.conf" "$p/environ" 2>/dev/null; then echo "${p#/proc/}"; fi
    done
}
cmd_down() {
    need_root
    [ -d "$DIR" ] || { say "nothing there"; return 0; }
    exec 9>"$DIR/.lock"
    flock -w 60 9 || die "another cluster.sh is at work in $DIR"
    stop_all
    say "down (logs stay in $DIR/log)"
}
cluster_ok() { # N
    local i
    for ((i = 1; i <= $1; i++)); do alive "node-n$i" >/dev/null || return 1; done
    use_env
    alive slurmctld >/dev/null && alive munged >/dev/null && all_idle "$1"
}
cmd_status() {
    local n mode rest f name
    [ -e "$DIR/current" ] || { echo "down"; return 1; }
    read -r n mode rest <"$DIR/current"
    echo "mode $mode, $n nodes, settings $rest, state in $DIR"
    for f in "$DIR"/run/*.proc; do
        name=$(basename "$f" .proc)
        echo "  $name: $(alive "$name" || echo dead)"
    done
    use_env
    sinfo -N -o '%N %t %C %G' || true
    cluster_ok "$n"
}
cmd_env() {
    printf 'export %s\n' "SLURM_CONF=${DIR@Q}/etc/slurm.conf" "JAXPROF_CLUSTER_DIR=${DIR@Q}" "${MPI_SETTINGS[@]}"
}
cmd_run() {
    use_env
    export JAXPROF_CLUSTER_DIR=$DIR
    exec "$@"
}
cmd_exec() {
    local name=$1 pid
    shift
    pid=$(alive "node-$name") || die "node $name is not up"
    grep -q '^[0-9]* ns ' "$DIR/current" || exec "$@"
    exec nsenter --target "$pid" --mount --uts --ipc --net --pid --time -- "$@"
}
cmd_kill_node() {
    local pid
    pid=$(alive "node-$1") || die "node $1 is not up"
    kill -KILL "$pid"
}
show_logs() {
    local f
    for f in "$DIR"/log/* "$DIR"/munge/log*; do
        echo "==> $f"
        tail -n "${1:-200}" "$f" || true
    done
}

cmd_selftest() {
    local out rc=0 gpus=${JAXPROF_CLUSTER_GPUS:-4}
    "$SELF" up 2
    trap '"$SELF" down' EXIT
    use_env
    cd / # a folder that all nodes have
    # shellcheck disable=SC2016  # the job's shell expands it
    out=$(srun -N2 --ntasks-per-node=2 bash -c \
        'echo "$SLURM_PROCID $SLURM_NODEID $SLURM_LOCALID $SLURMD_NODENAME $(hostname) $(cut -d. -f1 /proc/uptime)"' | sort)
    echo "$out"
    [ "$(cut -d' ' -f1-4 <<<"$out" | tr '\n' ';')" = "0 0 0 n1;1 0 1 n1;2 1 0 n2;3 1 1 n2;" ] || die "wrong ranks"
    if [ "$MODE" = ns ]; then
        [ "$(cut -d' ' -f5 <<<"$out" | uniq | tr '\n' ' ')" = "n1 n2 " ] || die "wrong hostnames"
    fi
    if [ "$gpus" != 0 ]; then
        [ "$(srun -N1 -n1 --gres=gpu:1 printenv CUDA_VISIBLE_DEVICES)" = 0 ] || die "no pretended GPU"
    fi
    srun -N1 -n1 sh -c 'exit 7' 2>/dev/null || rc=$?
    [ $rc = 7 ] || die "exit code $rc, not 7"
    say "selftest passed"
}

cmd=${1:-}
shift || true
case $cmd in
up | down | status | env | selftest) "cmd_$cmd" "$@" ;;
run)
    [ $# -ge 1 ] || die "run: no command"
    cmd_run "$@"
    ;;
exec)
    [ $# -ge 2 ] || die "exec: NODE CMD..."
    cmd_exec "$@"
    ;;
kill-node)
    [ $# = 1 ] || die "kill-node: NODE"
    cmd_kill_node "$1"
    ;;
logs) show_logs "$@" ;;
__node) node_init "$@" ;;
*)
    sed -n '2,/^set -euo/p' "$SELF" | sed '$d; s/^# \{0,1\}//'
    [ -z "$cmd" ] || exit 2
    ;;
esac
