#!/usr/bin/env bash
# on_cluster.sh - run one test command with the environment of the tests' Slurm cluster.
#
# Usage: on_cluster.sh --up | --down | COMMAND [ARGUMENT...]
# ctest starts the cluster once before the tests that need it and stops it behind the last (fixture `cluster`, see
# CMakeLists.txt); JAXPROF_CLUSTER_DIR says which one.  The command finds srun and sbatch ready to use, two idle nodes
# n1 and n2, and $JAXPROF_CLUSTER_DIR/shared at the same path on both.  It starts in an empty folder of its own there,
# $PWD, so that tests can run side by side and leave nothing behind.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
CLUSTER=$HERE/../../slurm/cluster.sh
# shellcheck source=tests/integration/require.sh
. "$HERE/require.sh"

case ${1:?on_cluster.sh: --up, --down or a command} in
--up)
    [ "$(id -u)" = 0 ] || missing slurm "the cluster needs root"
    [ "${JAXPROF_CLUSTER_PROCTRACK:-}" != cgroup ] || [ -w /sys/fs/cgroup/freezer ] ||
        missing cgroup "no writable cgroup v1 freezer in /sys/fs/cgroup/freezer"
    exec bash "$CLUSTER" up 2
    ;;
--down)
    [ "$(id -u)" = 0 ] || exit 0
    exec bash "$CLUSTER" down
    ;;
esac
[ -e "${JAXPROF_CLUSTER_DIR:?}/current" ] || missing slurm "no cluster runs in $JAXPROF_CLUSTER_DIR"
folder=$(mktemp -d "$JAXPROF_CLUSTER_DIR/shared/test.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"
bash "$CLUSTER" run "$@" </dev/null
