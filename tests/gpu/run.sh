#!/usr/bin/env bash
# run.sh - what only a real GPU can show, in at most eight minutes, as one table.
#
# Needs one NVIDIA GPU and Python 3 with h5py; PyTorch, JAX, nvtx and NCCL's library where they are. It compiles nothing:
# the programs are fully static and the agent loads under any C library since 2018, so a build folder, or an installed
# tree, is carried along. A check that lacks something skips with its reason; one that fails makes the exit status 1.
#
# Usage: run.sh [--build DIR | --prefix DIR] [--out DIR] [--python PYTHON] [--double DIR] [CHECK...]
#   --build DIR    build folder with bin/ and lib/ (default: build/release of this tree)
#   --prefix DIR   an installed tree instead
#   --out DIR      where logs, run directories and run files go (default: a new folder below /tmp, named at the end)
#   --python P     the Python that has the frameworks (default: python3)
#   --double DIR   no GPU here: take the driver and CUPTI in DIR, which only play one; shows that the script works
#   CHECK          run these only; `run.sh --list` names them
set -uo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin=$ROOT/build/release/bin
lib=$ROOT/build/release/lib
out=
python=python3
words=()
need() { [ $# -ge 2 ] || { echo "run.sh: $1 needs a value" >&2; exit 2; }; }
while [ $# -gt 0 ]; do
    case $1 in
    --build)
        need "$@"
        bin=$2/bin lib=$2/lib
        shift
        ;;
    --prefix)
        need "$@"
        bin=$2/bin
        lib=$(find "$2" -name libjaxprof-agent.so -printf '%h\n' -quit)
        shift
        ;;
    --out)
        need "$@"
        out=$2
        shift
        ;;
    --python)
        need "$@"
        python=$2
        shift
        ;;
    --double)
        need "$@"
        words+=(--double "$2")
        shift
        ;;
    --list) words+=(--list) ;;
    --help | -h)
        sed -n '2,/^set /p' "${BASH_SOURCE[0]}" | sed '$d; s/^# \{0,1\}//'
        exit 0
        ;;
    -*)
        echo "run.sh: no option $1; --help lists them" >&2
        exit 2
        ;;
    *) words+=("$1") ;;
    esac
    shift
done
for file in "$bin/jaxprof-exec" "$bin/jaxprof-merge" "$bin/jaxprof-probe" "$lib/libjaxprof-agent.so"; do
    [ -e "$file" ] || { echo "run.sh: no $file; build first, or say where by --build or --prefix" >&2; exit 2; }
done
[ -n "$out" ] || out=$(mktemp -d /tmp/jaxprof-gpu.XXXXXX)
mkdir -p "$out" || exit 2
export PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
exec timeout --kill-after=10 480 "$python" "$ROOT/tests/gpu/checks.py" --bin "$bin" --lib "$lib" --out "$out" "${words[@]}"
