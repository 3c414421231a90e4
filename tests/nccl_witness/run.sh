#!/bin/bash
# Witnesses from NVIDIA for what we say of NCCL's profiler interface. Given a folder with NCCL's source:
#   1. every offset of our layouts, the agent's and the puppet's, against NCCL's own headers;
#   2. NVIDIA's example and Inspector plugins, built and run under the puppet, must count the calls that its log has.
# NCCL's source is no dependency of this project, so this is no part of CI: run it when a release of NCCL comes out.
#
#   run.sh NCCL_SOURCE [BUILD]     BUILD: this project's build folder, for bin/nccl_puppet; without it only 1.
#
# Says of each witness what it found, or what it lacks. Exit status 0: all that could be asked agree; 1: one does not;
# 77: there was nothing to ask. Needs a compiler, make, mpirun; the plugins need CUDA's headers (CUDA_HOME).
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source_folder=${1:?usage: run.sh NCCL_SOURCE [BUILD]}
build=${2:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
asked=0
failed=0

note() { # STATUS TEXT...
  [ "$1" != MISSING ] && asked=$((asked + 1))
  [ "$1" = DIFFERS ] && failed=1
  printf '%-8s %s\n' "$1" "${*:2}"
}

layouts() {
  python3 -B "$here/compare_layouts.py" "$source_folder"
  case $? in
    0) note AGREES "offsets of the versions above" ;;
    77) note MISSING "NCCL's profiler headers" ;;
    *) note DIFFERS "offsets, see above" ;;
  esac
}

# The newest interface version that a library has.
newest_version() { # LIBRARY
  nm -D --defined-only "$1" | sed -n 's/.*ncclProfiler_v\([0-9]*\)$/\1/p' | sort -n | tail -n 1
}

# Builds the plugin in folder NAME of ext-profiler; prints the library's path.
build_plugin() { # NAME
  cp -r "$source_folder/ext-profiler" "$scratch/ext-profiler.$1" || return 1
  make -C "$scratch/ext-profiler.$1/$1" CUDA_HOME="${CUDA_HOME:-/usr/local/cuda}" NCCL_HOME="${NCCL_HOME:-$source_folder/build}" \
    >"$scratch/$1.log" 2>&1 || return 1
  find "$scratch/ext-profiler.$1/$1" -name 'libnccl-profiler*.so' | head -n 1
}

# Every call 20 ms after the one before: Inspector keeps one finished collective a communicator until it has written it.
run_puppet() { # LIBRARY VERSION FOLDER VARIABLE=VALUE...
  mkdir -p "$3"
  env NCCL_PROFILER_PLUGIN="$1" "${@:4}" mpirun -n 2 --oversubscribe --allow-run-as-root "$build/bin/nccl_puppet" \
    --api "plugin,$2" --ops allreduce,allgather,broadcast --sizes 1K,64K --iterations 3 --late 0:20 --log "$3/log.%r" \
    >"$3/out" 2>&1
}

plugin() { # NAME VARIABLE=VALUE...
  local name=$1 library version folder=$scratch/run.$1
  if [ ! -d "$source_folder/ext-profiler/$name" ]; then
    note MISSING "$source_folder/ext-profiler/$name"
    return
  fi
  if ! library=$(build_plugin "$name") || [ -z "$library" ]; then
    note MISSING "the $name plugin: it does not build here"
    tail -n 5 "$scratch/$name.log" | sed 's/^/         /'
    return
  fi
  version=$(newest_version "$library")
  if ! run_puppet "$library" "$version" "$folder" "${@:2}"; then
    note DIFFERS "the puppet under the $name plugin (version $version) fails"
    tail -n 5 "$folder/out" | sed 's/^/         /'
  elif python3 -B "$here/plugin_counts.py" "$name" "$folder"; then
    note AGREES "the $name plugin (version $version) counts the puppet's calls"
  else
    note DIFFERS "the $name plugin (version $version) counts other calls than the puppet's log"
  fi
}

layouts
if [ -z "$build" ]; then
  note MISSING "a build folder, for the plugins"
else
  # Pools for all events, since the example keeps the last only. Coll and KernelCh.
  plugin example NCCL_PROFILE_EVENT_MASK=66 NCCL_PROFILE_DUMP_FILE="$scratch/run.example/dump" \
    NCCL_PROFILE_GROUP_API_POOL_SIZE=256 NCCL_PROFILE_GROUP_POOL_SIZE=256 NCCL_PROFILE_COLL_API_POOL_SIZE=256 \
    NCCL_PROFILE_COLL_POOL_SIZE=256
  plugin inspector NCCL_INSPECTOR_ENABLE=1 NCCL_INSPECTOR_DUMP_DIR="$scratch/run.inspector/dump" \
    NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS=500 NCCL_INSPECTOR_DUMP_MIN_SIZE_BYTES=0
fi
[ "$asked" -eq 0 ] && exit 77
exit "$failed"
