"""jaxprof_annotate for the examples, wherever it lies: in PYTHONPATH, in the source tree, in an installed tree. Without
it they run all the same, unmarked."""

import contextlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDERS = (HERE.parents[1] / "launcher" / "python", HERE.parent / "python")

sys.path.extend(str(folder) for folder in FOLDERS if (folder / "jaxprof_annotate.py").exists())
try:
    from jaxprof_annotate import annotate, step
except ImportError:
    print(f"no jaxprof_annotate.py in PYTHONPATH, {' or '.join(map(str, FOLDERS))}: steps are not marked",
          file=sys.stderr)

    def annotate(_name):
        return contextlib.nullcontext()

    def step(_number):
        return contextlib.nullcontext()
