#!/usr/bin/env bash
# train_repeats_test.sh - the control for every "profiling changed nothing" test of the JAX example: two runs without
# jaxprof over four processes on two nodes print the same losses, byte for byte, and the losses fall.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/integration/require.sh
. "$HERE/require.sh"
PYTHON=$(bash "$HERE/../setup.sh" --path python)
[ -x "$PYTHON" ] || missing jax "there is no $PYTHON; run: bash tests/setup.sh jax"
TRAIN=$(readlink -f "$HERE/../../slurm/examples/train.py")

for run in first second; do
    timeout 200 srun -N2 --ntasks-per-node=2 "$PYTHON" "$TRAIN" --steps 20 >"$run.out" 2>"$run.err" || {
        tail -n 20 "$run.err"
        exit 1
    }
    grep '^step ' "$run.out" >"$run.steps"
done
cmp first.steps second.steps
[ "$(wc -l <first.steps)" = 20 ] || { echo "want 20 steps:"; cat first.steps; exit 1; }
awk 'NR == 1 { first = $4 } { last = $4 }
     END { if (!(last < 0.7 * first)) { print "loss went from " first " to " last ": no training"; exit 1 } }' first.steps
