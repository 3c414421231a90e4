# shellcheck shell=bash
# node.sh - one node of the cluster: how it is started, and what its first process does; sourced by cluster.sh.
#
# In ns mode a node is an `unshare` that runs `cluster.sh __node NAME INDEX SLOT` as pid 1 of new namespaces.  Its network
# comes from outside: the starter moves one end of a veth pair into it as eth0 once the pid is known.

has_eth0() { ip link show eth0 >/dev/null 2>&1; }

# mount_private_tmp NODE_FOLDER: a /tmp and /var/tmp of the node's own, with the folders that must stay common to all
# nodes bound back into them.
mount_private_tmp() {
    local dir=$1 place private common commons
    IFS=: read -r -a commons <<<"$DIR${SHARED:+:$SHARED}"
    for place in /tmp /var/tmp; do
        private=$dir/tmp
        [ "$place" = /tmp ] || private=$dir/vartmp
        for common in "${commons[@]}"; do
            [[ $common == "$place"/?* ]] || continue
            mkdir -p "$private${common#"$place"}"
            mount --rbind "$common" "$private${common#"$place"}"
        done
        mount --rbind "$private" "$place"
    done
    mount -t tmpfs -o mode=1777 shm /dev/shm
}

# mount_own_sys NODE_FOLDER: a /sys of this network namespace, with the machine's cgroups if it has any.
mount_own_sys() {
    mkdir -p "$1/cgroup"
    mount --rbind /sys/fs/cgroup "$1/cgroup" && mount -t sysfs sysfs /sys && mount --move "$1/cgroup" /sys/fs/cgroup
}

# Runs as the node's pid 1, already inside its new namespaces.
node_init() { # NAME INDEX SLOT
    local name=$1 index=$2 dir=$DIR/nodes/$1 daemon
    set_slot "$3"
    mount --make-rprivate /
    mount -t proc proc /proc
    hostname "$name"
    mount_private_tmp "$dir"
    mount --bind "$DIR/etc/hosts" /etc/hosts
    cat /proc/sys/kernel/random/uuid >"$dir/boot_id"
    mount --bind "$dir/boot_id" /proc/sys/kernel/random/boot_id || say "$name keeps the machine's boot id"
    mount_own_sys "$dir" || say "$name keeps the machine's /sys"

    # Should the starter die before it moves eth0 in, the node ends here by itself.
    wait_for "$TIMEOUT" has_eth0 || die "no eth0 for $name"
    ip link set lo up
    ip addr add "$(node_addr "$index")/24" dev eth0
    ip link set eth0 up
    ip route add default via "$SUBNET.254" || true

    cd /
    use_env
    slurmd -D -N "$name" </dev/null >>"$DIR/log/slurmd-$name.out" 2>&1 &
    daemon=$!
    # shellcheck disable=SC2064  # daemon is local: expand it now
    trap "kill -TERM $daemon 2>/dev/null || true" TERM
    # As pid 1 we inherit orphans; bash reaps them while it waits here.
    while kill -0 "$daemon" 2>/dev/null; do wait "$daemon" || true; done
}

# init_pid_of UNSHARE_PID: the node's init, which is unshare's one child; empty output if unshare has died.
init_pid_of() {
    local child
    child=$(cat "/proc/$1/task/$1/children" 2>/dev/null) || return 0
    echo "${child%% *}"
}
has_init_or_died() { [ -n "$(init_pid_of "$1")" ] || [ ! -e "/proc/$1" ]; }

start_node_ns() { # INDEX
    local i=$1 name=n$1 unshare_pid init_pid time_args=()
    [ "$SKEW" = 0 ] || time_args=(--time --monotonic $((i * SKEW)) --boottime $((i * SKEW)))
    setsid unshare --mount --uts --ipc --net --pid "${time_args[@]}" --fork --kill-child=KILL \
        bash "$SELF" __node "$name" "$i" "$SLOT" </dev/null >>"$DIR/log/node-$name.out" 2>&1 9>&- &
    unshare_pid=$!
    remember "unshare-$name" "$unshare_pid"
    wait_for 5 has_init_or_died "$unshare_pid" || true
    init_pid=$(init_pid_of "$unshare_pid")
    [ -n "$init_pid" ] || die "node $name did not start: $(tail -n 3 "$DIR/log/node-$name.out")"
    remember "node-$name" "$init_pid"
    ip link add "$BRIDGE-$i" type veth peer name eth0 netns "$init_pid" ||
        die "no network for $name: $(tail -n 3 "$DIR/log/node-$name.out")"
    ip link set "$BRIDGE-$i" master "$BRIDGE" up
}

start_node_plain() { # INDEX
    use_env
    setsid slurmd -D -N "n$1" </dev/null >>"$DIR/log/slurmd-n$1.out" 2>&1 9>&- &
    remember "node-n$1" $!
}
