#!/usr/bin/env bash
# debian11_test.sh BUILD_FOLDER - does the installed tree work on a system older than the one that built it?
#
# Programs are static and the agent keeps to old symbols so that a user can take the tree along to any node.  Whether
# that holds shows only under another C library: the build is installed, bound into a Debian 11 tree (glibc 2.31) at
# another path than its prefix, every program is started there, and the agent is loaded there by Python's ctypes.
# Everything is mounted in a mount namespace of this process, so nothing stays behind however it ends.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/integration/require.sh
. "$HERE/require.sh"
BUILD=${1:?debian11_test.sh BUILD_FOLDER}

OLD=$(bash "$HERE/../setup.sh" --path debian11)
[ "$(id -u)" = 0 ] || missing chroot "chroot needs root"
[ -d "$OLD" ] || missing chroot "there is no $OLD; run: bash tests/setup.sh chroot"
if [ -z "${JAXPROF_IN_NAMESPACE:-}" ]; then
    JAXPROF_IN_NAMESPACE=1 exec unshare --mount --propagation private bash "${BASH_SOURCE[0]}" "$@"
fi

mount -t tmpfs tree "$OLD/mnt" # also hides what another process mounts there
cmake --install "$BUILD" --prefix "$OLD/mnt/elsewhere" >/dev/null
mount -t proc proc "$OLD/proc"
in_old() { chroot "$OLD" /usr/bin/env -i PATH=/usr/bin:/bin LC_ALL=C "$@"; }

status=0
fail() {
    echo "FAILED: $*"
    status=1
}
shopt -s nullglob
programs=0
for program in "$OLD"/mnt/elsewhere/bin/*; do
    name=${program##*/}
    [ "$name" != jaxprof-merge-mpi ] || continue # needs the site's MPI
    programs=$((programs + 1))
    if output=$(in_old "/mnt/elsewhere/bin/$name" --version 2>&1); then
        echo "$name: $output"
        [ -n "$output" ] || fail "$name --version prints nothing"
    else
        fail "$name --version: $output"
    fi
done
[ $programs -gt 0 ] || fail "no program was installed"

agent=$(cd "$OLD/mnt" && find . -name libjaxprof-agent.so -printf '/mnt/%P')
if [ -z "$agent" ]; then
    fail "libjaxprof-agent.so was not installed"
else
    # Without a session in the environment the agent must stay dead and silent, and let CUDA go on: 1 is success.
    output=$(in_old /usr/bin/python3.9 -c "
import ctypes, os
agent = ctypes.CDLL('$agent', mode=os.RTLD_NOW | os.RTLD_LOCAL)
assert agent.InitializeInjection() == 1" 2>&1) || fail "loading the agent: $output"
    [ -z "$output" ] || fail "the agent is not silent: $output"
fi
exit $status
