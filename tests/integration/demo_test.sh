#!/usr/bin/env bash
# demo_test.sh [--jax] - the README's quick start, run as it stands there, and what it leaves behind.
#
# Run by tests/run.sh after the release build and not by ctest, because the demo itself builds. The output lies in
# build/demo*. With all installed and built a demo must be short enough that people run it: the limit below.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
LIMIT_SECONDS=60

began=$SECONDS
if [ "${1:-}" = --jax ]; then
    out=$ROOT/build/demo-jax
    bash "$ROOT/slurm/demo.sh" --jax --out "$out"
    /usr/bin/python3 "$ROOT/tests/integration/check_demo_file.py" "$out/run.h5" jax 20
    cmp "$out/unprofiled1.losses" "$out/profiled.losses"
    [ "$(wc -l <"$out/profiled.losses")" = 20 ]
    awk 'NR == 1 { first = $4 } { last = $4 }
         END { if (!(last < 0.7 * first)) { print "loss went from " first " to " last ": no training"; exit 1 } }' \
        "$out/profiled.losses"
else
    out=$ROOT/build/demo
    bash "$ROOT/slurm/demo.sh" --out "$out"
    /usr/bin/python3 "$ROOT/tests/integration/check_demo_file.py" "$out/run.h5" puppet
    "$ROOT/build/release/bin/jaxprof-study" stragglers "$out/run.h5" | grep -E '^verdict +[a-z]'
fi
# Full of figures: without Plotly a page is small.
[ "$(stat -c %s "$out/report.html")" -gt 4000000 ] || { echo "$out/report.html has no figures" && exit 1; }
grep -q '<script type="application/json" id="data">{"facts"' "$out/report.html"
took=$((SECONDS - began))
echo "took $took s of $LIMIT_SECONDS"
[ "$took" -le "$LIMIT_SECONDS" ]
# What a test wants to know beyond the demo does not count.
if [ "${1:-}" != --jax ]; then
    /usr/bin/python3 -B "$ROOT/tests/integration/reader_agreement.py" "$ROOT/build/release/bin/dump_run_file" "$out/run.h5"
fi
