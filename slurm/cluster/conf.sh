# shellcheck shell=bash
# conf.sh - the cluster's slurm.conf and the small files around it; sourced by cluster.sh.
#
# Everything lies in $DIR/etc and is written anew by each `up`.  Uses DIR, MODE, SUBNET and PORT of cluster.sh and the
# JAXPROF_CLUSTER_* settings that it documents.

CPUS=${JAXPROF_CLUSTER_CPUS:-8}
MEM=${JAXPROF_CLUSTER_MEM:-16000}
GPUS=${JAXPROF_CLUSTER_GPUS:-4}
SKEW=${JAXPROF_CLUSTER_SKEW:-1000}
KILLWAIT=${JAXPROF_CLUSTER_KILLWAIT:-5}
SHARED=${JAXPROF_CLUSTER_SHARED:-}
PROCTRACK=${JAXPROF_CLUSTER_PROCTRACK:-linuxproc}

# One line that says with which settings a cluster was started; a running one is reused only for the same line.
conf_settings() {
    echo "$CPUS $MEM $GPUS $SKEW ${JAXPROF_CLUSTER_SLOT:-auto} $KILLWAIT $PROCTRACK ${SHARED:--}" \
        "$(cksum <"${JAXPROF_CLUSTER_CONF:-/dev/null}")"
}

node_addr() { echo "$SUBNET.$1"; }

write_conf() { # N
    local n=$1 i host ctl_addr
    host=$(hostname)
    ctl_addr=127.0.0.1
    [ "$MODE" = plain ] || ctl_addr=$SUBNET.254
    {
        cat <<CONF
# written by cluster.sh; do not edit
ClusterName=jaxprof
SlurmctldHost=$host($ctl_addr)
SlurmctldPort=$PORT
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$DIR/munge/socket
CredType=cred/munge
StateSaveLocation=$DIR/state
SlurmdSpoolDir=$DIR/nodes/%n/spool
SlurmctldPidFile=$DIR/run/slurmctld.pid
SlurmdPidFile=$DIR/nodes/%n/slurmd.pid
SlurmctldLogFile=$DIR/log/slurmctld.log
SlurmdLogFile=$DIR/log/slurmd-%n.log
SlurmctldDebug=info
SlurmdDebug=info
PlugStackConfig=$DIR/etc/plugstack.conf
ProctrackType=proctrack/$PROCTRACK
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=5
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$DIR/log/jobcomp.log
# The CPUs and memory below are pretended: do not compare with the hardware.
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
DefMemPerCPU=100
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=100000
MpiDefault=none
MpiParams=ports=$((PORT + 100))-$((PORT + 499))
# A task's limits are the node's, not those of the shell that ran srun.
PropagateResourceLimits=NONE
ReturnToService=2
SlurmdTimeout=30
KillWait=$KILLWAIT
UnkillableStepTimeout=30
InactiveLimit=0
MinJobAge=300
CONF
        [ "$GPUS" = 0 ] || echo "GresTypes=gpu"
        for ((i = 1; i <= n; i++)); do
            if [ "$MODE" = plain ]; then
                printf 'NodeName=n%d NodeHostname=%s NodeAddr=127.0.0.1 Port=%d' "$i" "$host" $((PORT + i))
            else
                printf 'NodeName=n%d NodeHostname=n%d NodeAddr=%s Port=%d' "$i" "$i" "$(node_addr "$i")" $((PORT + 1))
            fi
            printf ' CPUs=%d RealMemory=%d' "$CPUS" "$MEM"
            [ "$GPUS" = 0 ] || printf ' Gres=gpu:%d' "$GPUS"
            printf ' State=UNKNOWN\n'
        done
        echo "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES:16"
        [ -z "${JAXPROF_CLUSTER_CONF:-}" ] || cat "$JAXPROF_CLUSTER_CONF"
    } >"$DIR/etc/slurm.conf"

    echo "CgroupPlugin=cgroup/v1" >"$DIR/etc/cgroup.conf" # read by proctrack/cgroup only
    : >"$DIR/etc/gres.conf"
    if [ "$GPUS" != 0 ]; then
        # Slurm wants a device file a GPU; it looks only at its kind and at the number in its name.
        for ((i = 0; i < GPUS; i++)); do ln -s /dev/null "$DIR/etc/gpu$i"; done
        echo "Name=gpu Flags=nvidia_gpu_env File=$DIR/etc/gpu[0-$((GPUS - 1))]" >"$DIR/etc/gres.conf"
    fi
    echo "include $DIR/etc/plugstack.d/*.conf" >"$DIR/etc/plugstack.conf"
    printf '127.0.0.1 localhost\n::1 localhost\n%s.254 %s\n' "$SUBNET" "$host" >"$DIR/etc/hosts"
    for ((i = 1; i <= n; i++)); do echo "$(node_addr "$i") n$i" >>"$DIR/etc/hosts"; done
}
