#!/usr/bin/env python3
"""Fail on an include that breaks the architecture, or a stray name at the top level of the repository.

Layers rot one convenient include at a time.  This program reads every C and C++ file of a tree (what git tracks or would
track; without git, every file) and holds each include against the tables in rules.py.  It resolves project includes as
the build does: from the root, or beside the including file.  It does not run a preprocessor: a conditional include counts.

    check_sources.py ROOT        exit 0 clean, 1 violations (one line each: path:line: what), 2 usage
"""

import pathlib
import posixpath
import re
import subprocess
import sys

import rules

SOURCE_SUFFIXES = (".h", ".hpp", ".c", ".cc", ".cpp", ".inc")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")')
NOT_SOURCES = ("build", "out")


def list_files(root):
    """All files of the tree as sorted root-relative paths with '/'."""
    if (root / ".git").exists():
        command = ["git", "-c", f"safe.directory={root}", "-C", str(root), "ls-files", "-z",
                   "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
        return sorted(path for path in listed if path and (root / path).is_file())
    paths = (path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    return sorted(path for path in paths if path.split("/")[0] not in NOT_SOURCES)


def folder_of(path):
    """The longest folder of rules.ALLOWED_FOLDERS that holds path, or None."""
    holders = [folder for folder in rules.ALLOWED_FOLDERS if path.startswith(folder + "/")]
    return max(holders, key=len, default=None)


def resolve(path, name, files):
    """The project file that path means by including name, or None for a system header."""
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
    for candidate in (posixpath.normpath(name), beside):
        if candidate in files:
            return candidate
    return None


def is_allowed(path, target):
    own, other = folder_of(path), folder_of(target)
    if own is None or other is None or own == other:
        return True
    # A folder's permission reaches what lies below it ("agent" allows "agent/base").
    if any((other + "/").startswith(folder + "/") for folder in rules.ALLOWED_FOLDERS[own]):
        return True
    return target in rules.ALLOWED_HEADERS.get(own, ())


def check_includes(root, files):
    """Yields 'path:line: what' for each include outside the tables."""
    known = set(files)
    single = {fence: [] for fence in rules.SINGLE_FILE_FENCES}
    for path in files:
        if not path.endswith(SOURCE_SUFFIXES):
            continue
        text = (root / path).read_text(encoding="utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            name = match.group(1) or match.group(2)
            target = resolve(path, name, known)
            if target is not None:
                if not is_allowed(path, target):
                    yield f"{path}:{number}: {folder_of(path)} must not include {target}"
                continue
            for what, header, place in rules.FENCES:
                if re.fullmatch(header, name) and not re.fullmatch(place, path):
                    yield f"{path}:{number}: <{name}> ({what}) is allowed only in {place}"
            for fence in rules.SINGLE_FILE_FENCES:
                if re.fullmatch(fence[1], name) and path.startswith(fence[2]):
                    single[fence].append(path)
    for (what, _, folder, most), users in single.items():
        users = sorted(set(users))
        if len(users) > most:
            yield f"{users[most]}:1: {what} is allowed in {most} file of {folder}, not in {', '.join(users)}"


def check_top_level(files):
    """Yields a line for each name at the top level that is not in the table."""
    for name in sorted({path.split("/")[0] for path in files}):
        if not name.startswith(".") and name not in rules.TOP_LEVEL:
            yield f"{name}:1: not one of the names at the repository's top level"


def long_files(root, files):
    """Yields (path, lines) of source files longer than the listed length."""
    for path in files:
        if path.endswith(SOURCE_SUFFIXES + (".py", ".sh", ".cmake", "CMakeLists.txt")):
            lines = (root / path).read_bytes().count(b"\n")
            if lines > rules.LISTED_FROM_LINES:
                yield path, lines


def main(arguments):
    if len(arguments) != 1:
        print("usage: check_sources.py ROOT", file=sys.stderr)
        return 2
    root = pathlib.Path(arguments[0]).resolve()
    files = list_files(root)
    if not any(path.endswith(SOURCE_SUFFIXES) for path in files):
        print(f"{root}: no C++ file found, nothing was checked", file=sys.stderr)
        return 1
    violations = [*check_includes(root, files), *check_top_level(files)]
    for path, lines in long_files(root, files):
        print(f"note: {path} has {lines} lines: is it still one noun?")
    for violation in violations:
        print(violation)
    print(f"{len(files)} files, {len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
