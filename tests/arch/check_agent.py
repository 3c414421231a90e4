#!/usr/bin/env python3
"""Fail if libjaxprof-agent.so could not be loaded somewhere, or shows the loading process more than its hooks.

The agent is loaded into other people's processes on other people's systems: NVTX swallows a failed dlopen silently, an
extra exported symbol can interpose the job's own, a UNIQUE one pins the library, and a second libstdc++ is a second
heap of static state.  None of that shows on the machine that built it, so it is read from the ELF file with readelf.

    check_agent.py LIBRARY       exit 0 as agreed, 1 violations (one line each), 2 usage or no such library
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


def check_symbols(library):
    rows = symbols(library)
    exported = {name for name, binding, visibility, is_defined, is_dynamic in rows
                if is_dynamic and is_defined and binding != "LOCAL" and visibility in ("DEFAULT", "PROTECTED")}
    for name in sorted(exported - set(rules.AGENT_EXPORTS)):
        yield f"exports {name}, which is no hook"
    for name in sorted(set(rules.AGENT_EXPORTS) - exported):
        yield f"does not export {name}"
    for name in sorted({row[0] for row in rows if row[1] == "UNIQUE"}):
        yield f"has the UNIQUE symbol {name}, so it can never be unloaded and shares state with other libraries"
    undefined = {name for name, _, _, is_defined, _ in rows if not is_defined}
    for name in sorted(undefined):
        if re.match(r"_Z|__cxa_|__gxx_|_Unwind_", name) and name not in LIBC_CXXABI:
            yield f"needs {name} of the C++ run time"


def check_dynamic_section(library):
    dynamic = readelf(library, "-d")
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if name not in rules.AGENT_NEEDED:
            yield f"needs the library {name}"
    if not re.search(r"\(FLAGS_1\).*NODELETE", dynamic):
        yield "lacks the flag NODELETE: a dlclose would unmap code that callbacks still enter"
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


def violations(library):
    return [*check_symbols(library), *check_dynamic_section(library), *check_versions(library), *check_segments(library)]


def main(arguments):
    if len(arguments) != 1:
        print("usage: check_agent.py LIBRARY", file=sys.stderr)
        return 2
    library = pathlib.Path(arguments[0])
    if not library.is_file():
        print(f"{library}: no such file; build the target jaxprof-agent", file=sys.stderr)
        return 2
    found = violations(library)
    for violation in found:
        print(f"{library.name}: {violation}")
    print(f"{library.name}: {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
