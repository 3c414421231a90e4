#!/usr/bin/env python3
"""Fail if libjaxprof-agent.so could not be loaded somewhere, or shows the loading process more than its hooks; with
--program, if jaxprof-probe could not be started somewhere.

The agent is loaded into other people's processes on other people's systems: NVTX swallows a failed dlopen silently, an
extra exported symbol can interpose the job's own, a UNIQUE one pins the library, and a second libstdc++ is a second
heap of static state.  None of that shows on the machine that built it, so it is read from the ELF file with readelf.
jaxprof-probe loads vendors' libraries on any node, so it needs nothing either that old systems lack.

    check_agent.py [--program] FILE     exit 0 as agreed, 1 violations (one line each), 2 usage or no such file
"""

import pathlib
import re
import subprocess
import sys

import rules

# What the C library itself offers under C++-like names.
LIBC_CXXABI = {"__cxa_finalize", "__cxa_atexit", "__cxa_thread_atexit_impl"}


def readelf(library, *options):
    result = subprocess.run(["readelf", "-W", *options, str(library)], check=True, stdout=subprocess.PIPE,
                            env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    return result.stdout.decode()


def symbols(library):
    """[(name without version, binding, visibility, is_defined, is_dynamic)] of both symbol tables."""
    rows, is_dynamic = [], False
    for line in readelf(library, "-s").splitlines():
        if line.startswith("Symbol table"):
            is_dynamic = "'.dynsym'" in line
        # Num: Value Size Type Bind Vis Ndx Name
        fields = line.split()
        if len(fields) >= 8 and re.fullmatch(r"\d+:", fields[0]) and fields[0] != "0:":
            rows.append((fields[7].split("@")[0], fields[4], fields[5], fields[6] != "UND", is_dynamic))
    return rows


def check_exports(library):
    rows = symbols(library)
    exported = {name for name, binding, visibility, is_defined, is_dynamic in rows
                if is_dynamic and is_defined and binding != "LOCAL" and visibility in ("DEFAULT", "PROTECTED")}
    for name in sorted(exported - set(rules.AGENT_EXPORTS)):
        yield f"exports {name}, which is no hook"
    for name in sorted(set(rules.AGENT_EXPORTS) - exported):
        yield f"does not export {name}"
    for name in sorted({row[0] for row in rows if row[1] == "UNIQUE"}):
        yield f"has the UNIQUE symbol {name}, so it can never be unloaded and shares state with other libraries"


def check_cxx_run_time(library):
    undefined = {name for name, _, _, is_defined, _ in symbols(library) if not is_defined}
    for name in sorted(undefined):
        if re.match(r"_Z|__cxa_|__gxx_|_Unwind_", name) and name not in LIBC_CXXABI:
            yield f"needs {name} of the C++ run time"


def check_nodelete(library):
    if not re.search(r"\(FLAGS_1\).*NODELETE", readelf(library, "-d")):
        yield "lacks the flag NODELETE: a dlclose would unmap code that callbacks still enter"


def check_program_kind(program):
    """Dynamic, so that it can load a library, and at any address."""
    if "INTERP" not in readelf(program, "-l"):
        yield "is no dynamic program: it could not load a library"
    if not re.search(r"\(FLAGS_1\).*PIE", readelf(program, "-d")):
        yield "is no position independent executable"


def check_dynamic_section(library):
    dynamic = readelf(library, "-d")
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if name not in rules.AGENT_NEEDED:
            yield f"needs the library {name}"
    if re.search(r"\((RPATH|RUNPATH)\)", dynamic):
        yield "has a run path of the machine that built it"


def check_versions(library):
    """Symbol versions it needs of other libraries: only the C library's, and none newer than agreed."""
    needs = re.search(r"^Version needs section.*?(?=^Version |\Z)", readelf(library, "-V"), re.M | re.S)
    newest = ".".join(map(str, rules.AGENT_NEWEST_GLIBC))
    for version in sorted(set(re.findall(r"Name: (\S+)", needs.group(0) if needs else ""))):
        match = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?", version)
        if not match:
            yield f"needs the symbol version {version}"
        elif tuple(map(int, match.groups())) > rules.AGENT_NEWEST_GLIBC:
            names = {row[1] for row in re.findall(r"(UND)\s+(\S+@" + re.escape(version) + r")\b", readelf(library, "--dyn-syms"))}
            yield f"needs {version} ({', '.join(sorted(names)) or 'by flag'}); the newest allowed is GLIBC_{newest}"


def check_segments(library):
    for line in readelf(library, "-l").splitlines():
        fields = line.split()
        if fields[:1] == ["TLS"] and int(fields[5], 16) > rules.AGENT_TLS_BYTES:
            yield f"has {int(fields[5], 16)} bytes of thread-local storage; at most {rules.AGENT_TLS_BYTES}"
        if fields[:1] == ["GNU_STACK"] and "E" in fields[6]:
            yield "asks for an executable stack"


COMMON_CHECKS = (check_cxx_run_time, check_dynamic_section, check_versions, check_segments)
LIBRARY_CHECKS = (check_exports, check_nodelete, *COMMON_CHECKS)
PROGRAM_CHECKS = (check_program_kind, *COMMON_CHECKS)


def violations(file, checks=LIBRARY_CHECKS):
    return [violation for check in checks for violation in check(file)]


def main(arguments):
    checks = PROGRAM_CHECKS if arguments[:1] == ["--program"] else LIBRARY_CHECKS
    names = arguments[1:] if checks is PROGRAM_CHECKS else arguments
    if len(names) != 1:
        print("usage: check_agent.py [--program] FILE", file=sys.stderr)
        return 2
    file = pathlib.Path(names[0])
    if not file.is_file():
        print(f"{file}: no such file; build the target jaxprof-{'probe' if checks is PROGRAM_CHECKS else 'agent'}",
              file=sys.stderr)
        return 2
    found = violations(file, checks)
    for violation in found:
        print(f"{file.name}: {violation}")
    print(f"{file.name}: {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
