#!/usr/bin/env bash
# install.sh - a Python environment with all that analysis.ipynb needs, of pinned versions with hashes.
#
# Usage: install.sh [FOLDER]     (default: jaxprof-python, in the current folder)
# Python 3.11 is needed; $PYTHON names another one than python3. A folder that is complete is left as it is.
set -euo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PYTHON=${PYTHON:-python3}
case ${1:-} in
-h | --help)
    sed -n '2,/^set/p' "${BASH_SOURCE[0]}" | sed '$d; s/^# \{0,1\}//'
    exit 0
    ;;
esac
folder=${1:-jaxprof-python}
wanted=$(sha256sum <"$HERE/requirements.txt")
if [ "$(cat "$folder/complete" 2>/dev/null)" = "$wanted" ]; then exit 0; fi
if [ -e "$folder" ] && [ ! -e "$folder/of-jaxprof" ]; then
    echo "install.sh: $folder is there and not from install.sh; name another folder" >&2
    exit 2
fi
"$PYTHON" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || {
    echo "install.sh: $PYTHON is not Python 3.11, for which the packages are pinned; set PYTHON" >&2
    exit 2
}
rm -rf "$folder"
"$PYTHON" -I -m venv "$folder"
touch "$folder/of-jaxprof"
"$folder/bin/python" -m pip install -q --no-deps --require-hashes --only-binary :all: -r "$HERE/requirements.txt"
echo "$wanted" >"$folder/complete" # last: an interrupted installation is made anew
echo "install.sh: $folder/bin/python runs analysis.ipynb; JupyterLab: $folder/bin/pip install jupyterlab"
