#!/usr/bin/env bash
# run.sh - everything that must hold before a change lands: set up, check the sources, build, test, fuzz.
#
# One command for a developer and for CI, from any folder, on a bare Debian 12 as root.  Each phase runs even if an
# earlier one failed, so that one run shows all there is to mend; the last line is "N passed, N failed".
#
# Usage: run.sh [--full] [--no-install] [-R REGEX]
#   --full        also unit tests without sanitizers, tests of more than a minute, hundreds of hard kills, merges of
#                 100 and 500 million events, a summary of 1 GB, the thread sanitizer, clang-tidy over everything, and
#                 two minutes a fuzz target
#   --no-install  install nothing: print what is missing and stop
#   -R REGEX      only the ctest tests that match; no source checks, demo or fuzzing
#
# A test whose resource is missing (Slurm, JAX, a Debian 11 tree, ...) skips; JAXPROF_REQUIRE lists the resources for
# which that is a failure, and is set here to all that set-up provides unless the caller set it.
# shellcheck disable=SC2317  # `phase` calls the functions by name
set -uo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT" || exit 1
# A cache of compilations serves every clone of the tree: paths below it count as relative, the folder does not count.
export CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=$ROOT
has_chosen=${JAXPROF_REQUIRE+yes}
export JAXPROF_REQUIRE=${JAXPROF_REQUIRE-slurm,mpi,hydra,jax,torch,nccl,cupti,chroot,h5py,pandas,hdf5-tools,netns,nft,perfetto,notebook,chromium}
FUZZ_SECONDS=8
FULL_FUZZ_SECONDS=120

usage() { sed -n '2,/^# shellcheck/p' "${BASH_SOURCE[0]}" | sed '$d; s/^# \{0,1\}//'; }
full=0
install_option=()
regex=
while [ $# -gt 0 ]; do
    case $1 in
    --full)
        full=1
        export JAXPROF_FULL=1
        ;;
    --no-install) install_option=(--no-install) ;;
    -R)
        regex=${2:?run.sh: -R needs a regular expression}
        shift
        ;;
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

# ---------------------------------------------------------------- counting and timing
passed=0 failed=0 skipped=0
summary=()
count() { # NAME STATUS: one check that is not a ctest test
    if [ "$2" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $1"
    fi
}
phase() { # NAME CMD...
    local name=$1 began=$SECONDS failed_before=$failed verdict=ok
    shift
    printf '\n==> %s\n' "$name"
    "$@"
    [ "$failed" = "$failed_before" ] || verdict=FAILED
    summary+=("$(printf '%-14s %5d s  %s' "$name" $((SECONDS - began)) "$verdict")")
}
finish() {
    printf '\n'
    printf '%s\n' "${summary[@]}"
    echo "total $SECONDS s"
    [ $skipped = 0 ] || echo "$skipped skipped"
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
    exit
}

# ---------------------------------------------------------------- phases
# ls_files PATTERN...: the tree's files, those not yet added included; also in a checkout of another user (sudo).
ls_files() { git -c safe.directory="$ROOT" ls-files --cached --others --exclude-standard -- "$@"; }
check_sources() {
    local scripts sources pythons misformatted file status
    mapfile -t scripts < <(ls_files '*.sh' .ci/run)
    mapfile -t sources < <(ls_files '*.h' '*.cpp' '*.c')
    mapfile -t pythons < <(ls_files '*.py')
    shellcheck -x "${scripts[@]}"
    count "shellcheck of ${#scripts[@]} scripts" $?
    # shellcheck disable=SC2016  # the inner shell's own parameters
    mapfile -t misformatted < <(printf '%s\0' "${sources[@]}" | xargs -0 -n 40 -P "$(nproc)" bash -c \
        'for file; do clang-format "$file" | cmp -s - "$file" || echo "$file"; done' clang-format)
    [ ${#misformatted[@]} = 0 ] || echo "mend with: clang-format -i ${misformatted[*]}"
    count "clang-format of ${#sources[@]} files" ${#misformatted[@]}
    status=0
    for file in "${pythons[@]}"; do
        /usr/bin/python3 -c 'import sys; compile(open(sys.argv[1], encoding="utf-8").read(), sys.argv[1], "exec")' "$file" ||
            status=1
    done
    count "compilation of ${#pythons[@]} Python files" "$status"
}

# The unit tests run with sanitizers; in the release build too takes a quarter of an hour of compilation more.
build() { # PRESET [TARGET...]
    local preset=$1 log=build/$1.log targets=() unit_tests=ON
    shift
    [ $# = 0 ] || targets=(--target "$@")
    [ "$preset-$full" != release-0 ] || unit_tests=OFF
    mkdir -p build
    if cmake --preset "$preset" -D JAXPROF_UNIT_TESTS="$unit_tests" >"$log" 2>&1 &&
        cmake --build --preset "$preset" "${targets[@]}" -- -k 0 >"$log" 2>&1; then
        return 0
    fi
    # what failed, not the thousand steps that did not
    grep -nE -A 20 'FAILED:|error:|CMake Error' "$log" | head -n 150 || tail -n 50 "$log"
    return 1
}

# attribute NAME FILE: of the one <testsuite> in ctest's JUnit file
attribute() { grep -m1 -oE "\b$1=\"[0-9]+\"" "$2" | grep -oE '[0-9]+'; }

build_and_test() { # PRESET CTEST_OPTION...
    local preset=$1 junit=build/$1/tests.xml total bad left_out
    shift
    if ! build "$preset"; then
        count "build of preset $preset" 1
        return
    fi
    rm -f "$junit"
    # Most of the long tests wait for jobs that sleep: one more at once than there are processors.
    ctest --preset "$preset" -j "$(($(nproc) + 1))" --timeout 300 --output-junit "$ROOT/$junit" --no-tests=ignore \
        ${regex:+-R "$regex"} "$@"
    total=0
    [ ! -s "$junit" ] || total=$(attribute tests "$junit")
    if [ "$total" = 0 ]; then
        [ -n "$regex" ] || count "ctest of preset $preset ran a test" 1
        return
    fi
    bad=$(attribute failures "$junit")
    left_out=$(($(attribute skipped "$junit") + $(attribute disabled "$junit")))
    passed=$((passed + total - bad - left_out))
    failed=$((failed + bad))
    skipped=$((skipped + left_out))
}

check_headers() {
    build release all_verify_interface_header_sets
    count "each header compiles alone" $?
}

demo() {
    bash tests/integration/demo_test.sh
    count "slurm/demo.sh" $?
    bash tests/integration/demo_test.sh --jax
    count "slurm/demo.sh --jax" $?
}

fuzz() { # each target for a while, as many at once as there are processors
    local targets=() target name seconds=$FUZZ_SECONDS first i statuses=()
    [ "$full" = 0 ] || seconds=$FULL_FUZZ_SECONDS
    if ! build fuzz fuzz_targets; then
        count "build of preset fuzz" 1
        return
    fi
    for target in build/fuzz/bin/*_fuzz; do
        [ ! -x "$target" ] || targets+=("$target")
    done
    count "fuzz targets exist" $((${#targets[@]} == 0))
    for ((first = 0; first < ${#targets[@]}; first += $(nproc))); do
        statuses=()
        for target in "${targets[@]:first:$(nproc)}"; do
            name=${target##*/}
            mkdir -p "build/fuzz/corpus/$name"
            "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=0 -verbosity=0 \
                -artifact_prefix="build/fuzz/corpus/$name." "build/fuzz/corpus/$name" "tests/fuzz/seeds/$name" \
                >"build/fuzz/$name.log" 2>&1 &
            statuses+=($!)
        done
        for i in "${!statuses[@]}"; do
            name=${targets[first + i]##*/}
            echo "$name: $seconds s"
            wait "${statuses[i]}"
            statuses[i]=$?
            [ "${statuses[i]}" = 0 ] || tail -n 40 "build/fuzz/$name.log"
            count "fuzz target $name" "${statuses[i]}"
        done
    done
}

# Grace nodes are aarch64: the agent must build for them, under the same rules.
check_aarch64() {
    local status=1
    build agent-aarch64 &&
        /usr/bin/python3 tests/arch/check_agent.py build/agent-aarch64/lib/libjaxprof-agent.so && status=0
    count "agent for aarch64" "$status"
}

# Some minutes and 5 GB of disk.
merge_at_scale() {
    /usr/bin/python3 tests/bench/merge_scale_bench.py build/release/bin build/merge_scale full
    count "merge at scale" $?
    rm -rf build/merge_scale
}

# Files of 1 GB, deflated and not; 6 GB of disk.
summary_at_scale() {
    /usr/bin/python3 tests/bench/summary_bench.py build/release/bin build/summary_scale 240000000 20000000
    count "summary at scale" $?
    rm -rf build/summary_scale
}

# The largest run files that the studies are meant for; 10 GB of disk.
studies_at_scale() {
    /usr/bin/python3 tests/bench/study_bench.py build/release/bin build/study_scale 125000 4000 100000000
    count "studies at scale" $?
    rm -rf build/study_scale
}

tidy() {
    build tidy
    count "clang-tidy" $?
    grep -E 'warning:' build/tidy.log | sort -u | head -n 50
}

# ---------------------------------------------------------------- the run
[ "$full" = 0 ] || export JAXPROF_KILLS=${JAXPROF_KILLS-300}
printf '\n==> set-up\n'
bash tests/setup.sh "${install_option[@]}" build slurm jax torch nccl cupti tests chroot || exit 1
# The guest's kernel cannot be had everywhere: without it its test skips, and says why.
if bash tests/setup.sh "${install_option[@]}" guest && [ -z "$has_chosen" ]; then JAXPROF_REQUIRE+=,guest; fi
summary+=("$(printf '%-14s %5d s  ok' set-up $SECONDS)")

[ -n "$regex" ] || phase sources check_sources
phase release build_and_test release
[ -n "$regex" ] || phase demo demo
# The programs under test are the release's: with sanitizers only what runs inside one process is repeated.
# Random kills are the launcher's business, and seeds of stragglers the studies': some do.
JAXPROF_KILLS=${JAXPROF_KILLS-20} JAXPROF_STRAGGLER_SEEDS=${JAXPROF_STRAGGLER_SEEDS-2} phase dev build_and_test dev -LE '^(slurm|chroot|arch|guest)$'
if [ -z "$regex" ]; then
    phase headers check_headers
    phase aarch64 check_aarch64
    [ ! -e tests/fuzz/CMakeLists.txt ] || phase fuzz fuzz
fi
if [ "$full" = 1 ]; then
    [ -n "$regex" ] || phase merge merge_at_scale
    [ -n "$regex" ] || phase summary summary_at_scale
    [ -n "$regex" ] || phase studies studies_at_scale
    # It takes a thread's own descriptor table, which the drain thread has, for the shared one: programs with the agent
    # loaded are left to the other sanitizers.
    phase tsan build_and_test tsan -E '^(slurm|cluster|chroot|arch|guest|integration|puppets|bench)'
    [ -n "$regex" ] || phase tidy tidy
fi
finish
