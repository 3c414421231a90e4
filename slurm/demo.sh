#!/usr/bin/env bash
# demo.sh - from nothing to a profile on the terminal: a two-node Slurm job is profiled, merged and summarised.
#
# Sets up, builds, starts a Slurm cluster of its own on this machine (cluster.sh), runs a job of four ranks on two nodes
# under jaxprof-exec, merges what they wrote into DIR/run.h5, prints the studies and puts a page of all of them beside it.  Needs root on Debian 12 and no GPU:
# the puppet's kernels run under the tests' own CUDA driver, and CUPTI's double tells of them.
# It prints each command as a user would type it, and stops what it started, also on Ctrl-C.
#
# Usage: demo.sh [--out DIR] [--jax] [--no-install]
#   --out DIR     where the profile and run.h5 are put (default: out/demo in the source tree, out/demo-jax with --jax)
#   --jax         profile real JAX training (examples/train.py) instead of the NCCL puppet, and compare its losses with
#                 those of two unprofiled runs
#   --no-install  install nothing: print what is missing and stop
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BIN=$ROOT/build/release/bin
usage() { sed -n '2,/^set -euo/p' "${BASH_SOURCE[0]}" | sed '$d; s/^# \{0,1\}//'; }
say() { printf '\n==> %s\n' "$*"; }
die() {
    printf 'demo.sh: %s\n' "$*" >&2
    exit 1
}

out='' job=puppet install_option=()
while [ $# -gt 0 ]; do
    case $1 in
    --out)
        out=${2:?demo.sh: --out needs a folder}
        shift
        ;;
    --jax) job=jax ;;
    --no-install) install_option=(--no-install) ;;
    --help | -h)
        usage
        exit 0
        ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
    shift
done
if [ -z "$out" ]; then
    out=$ROOT/out/demo
    [ $job = puppet ] || out=$ROOT/out/demo-jax
fi
[ "$(id -u)" = 0 ] || die "the local cluster needs root"
mkdir -p "$out"
OUT=$(readlink -f "$out")

# ---------------------------------------------------------------- set-up and build
components=(build slurm)
if [ $job = puppet ]; then components+=(cupti); else components+=(jax); fi
say "set-up"
bash "$ROOT/tests/setup.sh" "${install_option[@]}" "${components[@]}"
PYTHON=$(bash "$ROOT/tests/setup.sh" --path python)

# child: what runs now. In the background, so that Ctrl-C reaches this script at once: srun in the foreground would
# answer the first one with a status line and go on.
child=''
run() {
    "$@" </dev/null &
    child=$!
    local status=0
    wait "$child" || status=$?
    child=''
    return $status
}
log=$OUT/build.log
say "build (log: $log)"
cd "$ROOT"
export CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=$ROOT # as tests/run.sh does: one cache for all clones
run cmake --preset release >"$log" 2>&1 || { tail -n 30 "$log" && die "cmake failed"; }
targets=(jaxprof-agent jaxprof-exec jaxprof-netsampler jaxprof-probe jaxprof-merge jaxprof-study)
[ $job != puppet ] || targets+=(nccl_puppet fake_cuda fake_cupti)
run cmake --build --preset release --target "${targets[@]}" >"$log" 2>&1 || { grep -nE -A 20 'FAILED:|error:' "$log" | head -n 60 && die "the build failed"; }

# ---------------------------------------------------------------- the cluster
# Its folder follows from DIR: a demo that was killed hard is cleaned up by the next one into the same DIR. Each node
# has its own /tmp, so the folders that the job uses are named as shared in case they lie there.
JAXPROF_CLUSTER_DIR=/var/tmp/jaxprof-demo-$(sha256sum <<<"$OUT" | cut -c1-8)
JAXPROF_CLUSTER_SHARED=$ROOT:$OUT:$(dirname "$(dirname "$(dirname "$PYTHON")")")
export JAXPROF_CLUSTER_DIR JAXPROF_CLUSTER_SHARED
stop() {
    if [ -n "$child" ]; then # srun needs the cluster to take its step down
        kill -TERM "$child" 2>/dev/null || true
        wait "$child" || true
    fi
    bash "$ROOT/slurm/cluster.sh" down 2>/dev/null || true
    rm -rf "$JAXPROF_CLUSTER_DIR"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
say "a Slurm cluster of two nodes"
bash "$ROOT/slurm/cluster.sh" up 2

# ---------------------------------------------------------------- the job
# show WORD...: print the command as typed (on stderr: stdout is the job's), then run it with the cluster's environment.
show() {
    local words="$*"
    words=${words//$BIN\//}
    printf '$ %s\n' "${words//$ROOT\//}" >&2
    run bash "$ROOT/slurm/cluster.sh" run "$@"
}
cd "$OUT"
# What an earlier demo left here; jaxprof itself never replaces a file of another run unasked.
rm -rf profile run.h5 report.html
if [ $job = puppet ]; then
    # It marks its steps with NVTX ranges "step" in a domain of its own; training marks them as jaxprof expects by default.
    # The last rank is late at every call, by more than the clocks of two nodes may be apart.
    say "four ranks on two nodes, profiled"
    show env LD_LIBRARY_PATH="$ROOT/build/release/lib/fake_cuda" srun --mpi=pmix -N2 --ntasks-per-node=2 \
        "$BIN/jaxprof-exec" -o profile/rank%r --step-marker step@puppet -- "$BIN/nccl_puppet" --late 3:10
else
    train=("$PYTHON" "$ROOT/slurm/examples/train.py" --steps 20)
    step=(srun -N2 --ntasks-per-node=2)
    say "training without jaxprof, twice: do two runs print the same losses at all?"
    show "${step[@]}" "${train[@]}" >unprofiled1.out
    show "${step[@]}" "${train[@]}" >unprofiled2.out
    say "training, profiled"
    show "${step[@]}" "$BIN/jaxprof-exec" -o profile/rank%r -- "${train[@]}" >profiled.out
    grep '^step ' profiled.out
    for name in unprofiled1 unprofiled2 profiled; do grep '^step ' $name.out >$name.losses; done
    cmp unprofiled1.losses unprofiled2.losses || die "two unprofiled runs differ: no verdict on the profiled one"
    cmp unprofiled1.losses profiled.losses || die "profiling changed the losses"
    echo "losses of the profiled run: byte-identical to the unprofiled ones, $(wc -l <profiled.losses) steps"
fi

say "merge and study"
show "$BIN/jaxprof-merge" profile -o run.h5
show "$BIN/jaxprof-study" summary run.h5
show "$BIN/jaxprof-study" spread run.h5
show "$BIN/jaxprof-study" stragglers run.h5
show "$BIN/jaxprof-study" breakdown run.h5
show "$BIN/jaxprof-study" clock run.h5
show "$BIN/jaxprof-study" report run.h5 -o report.html
say "done: $OUT/run.h5, and to look at: $OUT/report.html"
