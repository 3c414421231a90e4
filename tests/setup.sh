#!/usr/bin/env bash
# setup.sh - install what building, the demo and the tests need on Debian 12; the one place that knows the list.
#
# Runs before everything else (tests/run.sh, slurm/demo.sh, slurm/cluster.sh), so it must cost nothing when all is
# there, work on a bare Debian 12 as root, and never start a daemon.  Nothing else in the project downloads anything.
#
# Usage: setup.sh [--no-install] [COMPONENT...]       (default: build)
#        setup.sh --path WHAT       print where it is put: python (with JAX), torch (Python with torch), nccl, cupti, debian11,
#                                   guest (a kernel and its headers), browser (Python that drives Chromium),
#                                   perfetto (Python that reads Perfetto traces),
#                                   notebook (Python that runs merge/python/analysis.ipynb)
#   build   compilers, libraries, CUDA headers, Plotly for the report's figures (tests/requirements-plotly.txt)
#   slurm   the daemons of slurm/cluster.sh and Open MPI's launcher
#   jax     a Python environment with JAX and nvtx (tests/requirements.txt)
#   torch   Debian's torch, and a Python environment that has nvtx besides (tests/requirements-torch.txt)
#   nccl    NCCL's library, without its headers (tests/requirements-nccl.txt)
#   cupti   CUPTI's libraries (tests/requirements-cupti.txt), and CUDA's headers also beside a toolkit
#   tests   what only tests need: clang's tools, HDF5 tools, Python readers, Chromium and a Python environment that drives
#           it (tests/requirements-browser.txt), others that read Perfetto traces (tests/requirements-perfetto.txt)
#           and run the notebook (merge/python/install.sh)
#   chroot  a Debian 11 tree for the tests of the installed programs
#   guest   QEMU, and a kernel with what its RDMA devices need, for a virtual machine (x86-64)
#   --no-install   change nothing: print the lines that would install what is missing; exit 1 if there are any
# Without root, missing packages are printed the same way; the rest is installed into the cache folder.
#
# Cache folder: $JAXPROF_DEPS, else /var/cache/jaxprof for root, else ${XDG_CACHE_HOME:-~/.cache}/jaxprof.
set -euo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PYTHON=/usr/bin/python3 # Debian's, whatever comes first in PATH
if [ -n "${JAXPROF_DEPS:-}" ]; then
    DEPS=$JAXPROF_DEPS
elif [ "$(id -u)" = 0 ]; then
    DEPS=/var/cache/jaxprof
else
    DEPS=${XDG_CACHE_HOME:-$HOME/.cache}/jaxprof
fi
digest() { sha256sum <"$1" | cut -c1-12; }
VENV=$DEPS/venv-$(digest "$HERE/requirements.txt")
TORCH_VENV=$DEPS/venv-torch-$(digest "$HERE/requirements-torch.txt")
NCCL=$DEPS/nccl-$(digest "$HERE/requirements-nccl.txt")
BROWSER_VENV=$DEPS/venv-browser-$(digest "$HERE/requirements-browser.txt")
NOTEBOOK_VENV=$DEPS/venv-notebook-$(digest "$HERE/../merge/python/requirements.txt")
PERFETTO_VENV=$DEPS/venv-perfetto-$(digest "$HERE/requirements-perfetto.txt")
CUPTI=$DEPS/cupti-$(digest "$HERE/requirements-cupti.txt")
GUEST=$DEPS/guest
NCCL_VERSION=22809 # NCCL_VERSION_CODE of tests/requirements-nccl.txt

say() { printf 'setup.sh: %s\n' "$*" >&2; }
die() {
    say "$*"
    exit 1
}

# ---------------------------------------------------------------- what each component wants
packages_of() { # COMPONENT
    case $1 in
    build)
        echo g++ lld cmake ninja-build ccache git pkg-config libcli11-dev libexpected-dev libfmt-dev nlohmann-json3-dev \
            libxxhash-dev libsodium-dev libnl-3-dev libhdf5-dev libaec-dev libdeflate-dev zlib1g-dev libcereal-dev libprotozero-dev libopenmpi-dev \
            libgtest-dev libgmock-dev libbenchmark-dev
        { cuda_toolkit_headers && has_plotly; } || echo python3-venv
        ;;
    slurm) echo slurmctld slurmd slurm-client munge iproute2 util-linux openmpi-bin ;;
    jax) echo python3-venv ;;
    torch) echo python3-venv python3-torch ;;
    nccl) nccl_of_toolkit >/dev/null || echo python3-venv ;;
    cupti) { cuda_wheel_headers && has_cupti; } || echo python3-venv ;;
    tests)
        echo clang clang-tidy clang-format libclang-rt-14-dev llvm g++-aarch64-linux-gnu shellcheck hdf5-tools python3 python3-h5py \
            python3-pandas python3-tables mpich e2fsprogs util-linux iproute2 nftables chromium fonts-dejavu-core python3-venv
        ;;
    chroot) echo debootstrap debian-archive-keyring wget ;;
    guest) echo qemu-system-x86 busybox-static gcc make ibverbs-providers ibverbs-utils perftest iproute2 util-linux ;;
    *) die "no component '$1': build, slurm, jax, torch, nccl, cupti, tests, chroot or guest" ;;
    esac
}
missing_packages() { # PACKAGE...
    local installed
    # dpkg-query fails as soon as it has never heard of one of them
    installed=$({ dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true; } | sed -n 's/ installed$//p')
    printf '%s\n' "$@" | grep -vxF -e "$installed" || true
}

# ---------------------------------------------------------------- Debian packages
APT=(apt-get -q -y --no-install-recommends -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300)
apt_line() { echo "apt-get update && apt-get install -y --no-install-recommends $*"; }

install_packages() { # PACKAGE...
    local guard=/usr/sbin/policy-rc.d attempt
    export DEBIAN_FRONTEND=noninteractive
    # Keep maintainer scripts from starting system daemons, if nothing does yet.
    if [ ! -e "$guard" ]; then
        printf '#!/bin/sh\nexit 101\n' >"$guard"
        chmod 755 "$guard"
        # shellcheck disable=SC2064  # guard is local: expand it now
        trap "rm -f '$guard'" EXIT
    fi
    for attempt in 1 2 3; do
        # The lists may be missing (bare image) or name versions that the mirror no longer has.
        if [ "$attempt" != 1 ] || ! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then
            "${APT[@]}" update >"$LOG" 2>&1 || continue
        fi
        "${APT[@]}" install "$@" >"$LOG" 2>&1 && return 0
    done
    tail -n 20 "$LOG" >&2
    die "apt-get could not install: $*"
}

# ---------------------------------------------------------------- CUDA headers
has_cuda_headers() { [ -e "$1/cuda.h" ] && [ -e "$1/cupti.h" ] && [ -e "$1/nvtx3/nvToolsExtPayload.h" ]; }
cuda_toolkit_headers() { has_cuda_headers "${CUDA_HOME:-/usr/local/cuda}/include" || has_cuda_headers /usr/local/cuda/include; }
cuda_wheel_headers() {
    has_cuda_headers "$DEPS/cuda/include" &&
        [ "$(cat "$DEPS/cuda/version" 2>/dev/null)" = "$(digest "$HERE/requirements-cuda.txt")" ]
}
# unpack_wheels REQUIREMENTS WORK: WORK/tree then holds what the wheels hold
unpack_wheels() {
    local requirements=$1 work=$2 wheel
    rm -rf "$work"
    mkdir -p "$work/wheels"
    "$PYTHON" -I -m venv "$work/pip"
    "$work/pip/bin/python" -m pip download -q --no-deps --require-hashes --only-binary :all: --dest "$work/wheels" \
        -r "$requirements" || die "pip could not download the wheels of $requirements"
    for wheel in "$work"/wheels/*.whl; do "$PYTHON" -I -m zipfile -e "$wheel" "$work/tree"; done
}
unpack_cuda_headers() {
    local work=$DEPS/cuda.part
    say "unpacking CUDA headers into $DEPS/cuda"
    unpack_wheels "$HERE/requirements-cuda.txt" "$work"
    mkdir "$work/cuda"
    mv "$work"/tree/nvidia/*/include "$work/cuda/include"
    has_cuda_headers "$work/cuda/include" || die "the wheels in tests/requirements-cuda.txt lack cuda.h, cupti.h or nvtx3"
    digest "$HERE/requirements-cuda.txt" >"$work/cuda/version"
    rm -rf "$DEPS/cuda"
    mv "$work/cuda" "$DEPS/cuda"
    rm -rf "$work"
}

# ---------------------------------------------------------------- Plotly
has_plotly() {
    [ -e "$DEPS/plotly/plotly.min.js" ] && [ "$(cat "$DEPS/plotly/version" 2>/dev/null)" = "$(digest "$HERE/requirements-plotly.txt")" ]
}
unpack_plotly() {
    local work=$DEPS/plotly.part
    say "unpacking Plotly into $DEPS/plotly"
    unpack_wheels "$HERE/requirements-plotly.txt" "$work"
    mkdir "$work/plotly"
    mv "$work/tree/plotly/package_data/plotly.min.js" "$work/plotly/"
    digest "$HERE/requirements-plotly.txt" >"$work/plotly/version"
    rm -rf "$DEPS/plotly"
    mv "$work/plotly" "$DEPS/plotly"
    rm -rf "$work"
}

# ---------------------------------------------------------------- NCCL
# nccl_of_toolkit: the path of a CUDA toolkit's libnccl, if it is of our version
nccl_of_toolkit() {
    local library version
    for library in "${CUDA_HOME:-/usr/local/cuda}"/lib{64,}/libnccl.so.2; do
        [ -e "$library" ] || continue
        version=$("$PYTHON" -I -c 'import ctypes, sys
version = ctypes.c_int()
ctypes.CDLL(sys.argv[1]).ncclGetVersion(ctypes.byref(version))
print(version.value)' "$library" 2>/dev/null) || continue
        [ "$version" != "$NCCL_VERSION" ] || { echo "$library" && return; }
    done
    return 1
}
has_nccl() { nccl_of_toolkit >/dev/null || [ -e "$NCCL/libnccl.so.2" ]; }
unpack_nccl() {
    local work=$NCCL.part
    say "unpacking NCCL into $NCCL"
    unpack_wheels "$HERE/requirements-nccl.txt" "$work"
    mkdir "$work/nccl"
    mv "$work/tree/nvidia/nccl/lib/libnccl.so.2" "$work/nccl/"
    mv "$work/nccl" "$NCCL"
    rm -rf "$work"
}

# ---------------------------------------------------------------- CUPTI
has_cupti() { [ -e "$CUPTI/libcupti.so.12" ] && [ -e "$CUPTI/libcupti.so.13" ]; }
unpack_cupti() {
    local work=$CUPTI.part
    say "unpacking CUPTI into $CUPTI"
    unpack_wheels "$HERE/requirements-cupti.txt" "$work"
    mkdir "$work/cupti"
    mv "$work"/tree/nvidia/*/lib/libcupti.so.1? "$work/cupti/"
    rm -rf "$CUPTI"
    mv "$work/cupti" "$CUPTI"
    rm -rf "$work"
}

# ---------------------------------------------------------------- Python with JAX, with torch, for the browser
make_venv() { # FOLDER REQUIREMENTS VENV_OPTION...
    local folder=$1 requirements=$2
    shift 2
    say "making the Python environment $folder"
    rm -rf "$folder"
    "$PYTHON" -I -m venv "$@" "$folder"
    "$folder/bin/python" -m pip install -q --no-deps --require-hashes --only-binary :all: -r "$requirements" ||
        die "pip could not install $requirements"
    touch "$folder/complete" # last: an interrupted installation is made anew
}
make_jax_venv() { make_venv "$VENV" "$HERE/requirements.txt"; }
make_browser_venv() { make_venv "$BROWSER_VENV" "$HERE/requirements-browser.txt"; }
make_perfetto_venv() { make_venv "$PERFETTO_VENV" "$HERE/requirements-perfetto.txt" --system-site-packages; }
make_notebook_venv() {
    say "making the Python environment $NOTEBOOK_VENV"
    PYTHON=$PYTHON bash "$HERE/../merge/python/install.sh" "$NOTEBOOK_VENV" || die "merge/python/install.sh failed"
}
make_torch_venv() { make_venv "$TORCH_VENV" "$HERE/requirements-torch.txt" --system-site-packages; }

# ---------------------------------------------------------------- Debian 11
# The mirror from which this system itself was installed; Debian 11 is the suite bullseye there.
debian_mirror() {
    local codename
    # shellcheck source=/dev/null
    codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
    # shellcheck disable=SC2016  # apt expands it
    apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
        awk -v release="$codename" '$1 == release && $2 == "main" { print $3; exit }'
}
make_debian11() {
    local mirror
    mirror=$(debian_mirror)
    [ -n "$mirror" ] || die "apt's sources name no main component of this Debian release"
    say "unpacking Debian 11 into $DEPS/bullseye"
    rm -rf "$DEPS/bullseye" "$DEPS/bullseye.part"
    # python3.9 has ctypes, with which the test loads the agent under this C library.
    debootstrap --variant=minbase --include=python3.9 bullseye "$DEPS/bullseye.part" "$mirror" >"$LOG" 2>&1 || {
        tail -n 20 "$LOG" >&2
        die "debootstrap failed"
    }
    rm -rf "$DEPS"/bullseye.part/var/cache/apt/archives/*.deb
    mv "$DEPS/bullseye.part" "$DEPS/bullseye"
}

# ---------------------------------------------------------------- the guest's kernel
dependencies() { apt-cache depends --important "$1" | sed -n 's/^ *Depends: //p'; } # PACKAGE
# guest_packages: the kernel that Debian has now, and what a module is built with for it
guest_packages() {
    local image headers
    image=$(dependencies linux-image-amd64)
    headers=${image/image/headers}
    echo "$image" "$headers"
    dependencies "$headers" | grep -E '^linux-(headers|kbuild|compiler)'
}
# Unpacked, not installed: this system's own kernel is no business of ours, and no root is needed.
unpack_guest_kernel() {
    local work=$GUEST.part attempt packages=() package folder left_out=(--exclude ./usr/share)
    say "unpacking a kernel into $GUEST"
    for attempt in 1 2 3; do
        rm -rf "$work"
        mkdir -p "$work/packages" "$work/tree"
        # The lists may name versions that the mirror no longer has.
        [ "$attempt" = 1 ] || "${APT[@]}" update >"$LOG" 2>&1 || true
        mapfile -t packages < <(guest_packages 2>/dev/null | tr ' ' '\n')
        (cd "$work/packages" && apt-get -q -o APT::Sandbox::User=root download "${packages[@]}") >"$LOG" 2>&1 && break
        [ "$attempt" != 3 ] || { tail -n 20 "$LOG" >&2 && die "apt-get could not download: ${packages[*]}"; }
    done
    for folder in drivers/gpu drivers/media drivers/net/ethernet drivers/net/wireless fs sound; do
        left_out+=(--exclude "./lib/modules/*/kernel/$folder")
    done
    for package in "$work"/packages/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x -C "$work/tree" "${left_out[@]}"
    done
    # Their makefile names the part that all kernels share by where it would be installed.
    sed -i "s|/usr/src/|$GUEST/usr/src/|" "$work"/tree/usr/src/linux-headers-*-amd64/Makefile
    rm -rf "$GUEST"
    mv "$work/tree" "$GUEST"
    rm -rf "$work"
}

# ---------------------------------------------------------------- main
if [ "${1:-}" = --path ]; then
    case ${2:-} in
    python) echo "$VENV/bin/python" ;;
    torch) echo "$TORCH_VENV/bin/python" ;;
    nccl) nccl_of_toolkit || echo "$NCCL/libnccl.so.2" ;;
    cupti) echo "$CUPTI" ;;
    debian11) echo "$DEPS/bullseye" ;;
    guest) echo "$GUEST" ;;
    browser) echo "$BROWSER_VENV/bin/python" ;;
    perfetto) echo "$PERFETTO_VENV/bin/python" ;;
    notebook) echo "$NOTEBOOK_VENV/bin/python" ;;
    *) die "--path python, torch, nccl, cupti, debian11, guest, browser, perfetto or notebook" ;;
    esac
    exit 0
fi
install=1
components=()
for arg in "$@"; do
    case $arg in
    --no-install) install=0 ;;
    -*) die "no option '$arg': --no-install or --path" ;;
    *) components+=("$arg") ;;
    esac
done
[ ${#components[@]} -gt 0 ] || components=(build)
wants() { [[ " ${components[*]} " == *" $1 "* ]]; }
if wants guest && [ "$(uname -m)" != x86_64 ]; then die "the guest is for x86-64, this is $(uname -m)"; fi

wanted=()
for component in "${components[@]}"; do
    words=$(packages_of "$component") || exit 1
    read -r -a words <<<"${words//$'\n'/ }"
    wanted+=("${words[@]}")
done
mapfile -t missing < <(missing_packages "${wanted[@]}")
can_install_packages=1
if [ $install = 0 ] || [ "$(id -u)" != 0 ]; then can_install_packages=0; fi
short=0
if [ ${#missing[@]} -gt 0 ] && [ $can_install_packages = 0 ]; then
    say "${#missing[@]} packages are missing; run as root:"
    apt_line "${missing[@]}"
    short=1
fi

steps=() # what to do besides packages
if { wants cupti || { wants build && ! cuda_toolkit_headers; }; } && ! cuda_wheel_headers; then steps+=(unpack_cuda_headers); fi
if wants build && ! has_plotly; then steps+=(unpack_plotly); fi
if wants cupti && ! has_cupti; then steps+=(unpack_cupti); fi
if wants jax && [ ! -e "$VENV/complete" ]; then steps+=(make_jax_venv); fi
if wants torch && [ ! -e "$TORCH_VENV/complete" ]; then steps+=(make_torch_venv); fi
if wants tests && [ ! -e "$BROWSER_VENV/complete" ]; then steps+=(make_browser_venv); fi
if wants tests && [ ! -e "$PERFETTO_VENV/complete" ]; then steps+=(make_perfetto_venv); fi
if wants tests && [ ! -e "$NOTEBOOK_VENV/complete" ]; then steps+=(make_notebook_venv); fi
if wants nccl && ! has_nccl; then steps+=(unpack_nccl); fi
if wants chroot && [ ! -d "$DEPS/bullseye" ]; then steps+=(make_debian11); fi
if wants guest && [ ! -d "$GUEST" ]; then steps+=(unpack_guest_kernel); fi
if [ $install = 0 ] && [ ${#steps[@]} -gt 0 ]; then
    say "not made yet in $DEPS; run:"
    for step in "${steps[@]}"; do
        case $step in
        unpack_cuda_headers) echo "bash $HERE/setup.sh build cupti # pip download -r $HERE/requirements-cuda.txt" ;;
        unpack_plotly) echo "bash $HERE/setup.sh build # pip download -r $HERE/requirements-plotly.txt" ;;
        make_browser_venv) echo "bash $HERE/setup.sh tests # pip install -r $HERE/requirements-browser.txt into $BROWSER_VENV" ;;
        make_perfetto_venv) echo "bash $HERE/setup.sh tests # pip install -r $HERE/requirements-perfetto.txt into $PERFETTO_VENV" ;;
        make_notebook_venv) echo "bash $HERE/setup.sh tests # merge/python/install.sh $NOTEBOOK_VENV" ;;
        unpack_cupti) echo "bash $HERE/setup.sh cupti # pip download -r $HERE/requirements-cupti.txt" ;;
        make_jax_venv) echo "bash $HERE/setup.sh jax # pip install -r $HERE/requirements.txt into $VENV" ;;
        make_torch_venv) echo "bash $HERE/setup.sh torch # pip install -r $HERE/requirements-torch.txt into $TORCH_VENV" ;;
        unpack_nccl) echo "bash $HERE/setup.sh nccl # pip download -r $HERE/requirements-nccl.txt" ;;
        make_debian11) echo "bash $HERE/setup.sh chroot # debootstrap bullseye into $DEPS/bullseye" ;;
        unpack_guest_kernel) echo "bash $HERE/setup.sh guest # apt-get download linux-image-… into $GUEST" ;;
        esac
    done
    short=1
fi
[ $short = 0 ] || exit 1
if [ ${#missing[@]} = 0 ] && [ ${#steps[@]} = 0 ]; then exit 0; fi

mkdir -p "$DEPS"
LOG=$DEPS/setup.log
exec 9>"$DEPS/.lock"
flock 9 # two at once: the second finds everything done
mapfile -t missing < <(missing_packages "${wanted[@]}")
if [ ${#missing[@]} -gt 0 ]; then
    say "installing ${#missing[@]} packages: ${missing[*]}"
    install_packages "${missing[@]}"
fi
for step in "${steps[@]}"; do
    case $step in
    unpack_cuda_headers) cuda_wheel_headers || unpack_cuda_headers ;;
    unpack_plotly) has_plotly || unpack_plotly ;;
    unpack_cupti) has_cupti || unpack_cupti ;;
    make_jax_venv) [ -e "$VENV/complete" ] || make_jax_venv ;;
    make_browser_venv) [ -e "$BROWSER_VENV/complete" ] || make_browser_venv ;;
    make_perfetto_venv) [ -e "$PERFETTO_VENV/complete" ] || make_perfetto_venv ;;
    make_notebook_venv) [ -e "$NOTEBOOK_VENV/complete" ] || make_notebook_venv ;;
    make_torch_venv) [ -e "$TORCH_VENV/complete" ] || make_torch_venv ;;
    unpack_nccl) has_nccl || unpack_nccl ;;
    make_debian11) [ -d "$DEPS/bullseye" ] || make_debian11 ;;
    unpack_guest_kernel) [ -d "$GUEST" ] || unpack_guest_kernel ;;
    esac
done
