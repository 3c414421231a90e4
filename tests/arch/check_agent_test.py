#!/usr/bin/env python3
"""Does check_agent.py see what it is for?  Small libraries with one planted fault each are compiled and checked."""

import pathlib
import subprocess
import tempfile
import unittest

import check_agent
import rules

HOOKS = "".join(f'extern "C" __attribute__((visibility("default"))) int {name}() {{ return 1; }}\n'
                for name in rules.AGENT_EXPORTS)
GOOD_FLAGS = ("-nodefaultlibs", "-Wl,-z,nodelete", "-Wl,-z,defs", "-lc", "-lgcc")


class PlantedFault(unittest.TestCase):
    def violations(self, source, flags=GOOD_FLAGS):
        with tempfile.TemporaryDirectory() as folder:
            library = pathlib.Path(folder) / "lib.so"
            subprocess.run(["g++", "-x", "c++", "-", "-x", "none", "-std=c++20", "-O0", "-shared", "-fPIC",
                            "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", "-o", str(library), *flags],
                           input=source.encode(), check=True)
            return check_agent.violations(library)

    def assert_only(self, found, expected):
        self.assertEqual(len(found), 1, found)
        self.assertIn(expected, found[0])

    def test_a_good_library_passes(self):
        self.assertEqual(self.violations(HOOKS), [])

    def test_an_extra_export(self):
        self.assert_only(self.violations(HOOKS + '__attribute__((visibility("default"))) int stray_value = 1;'),
                         "exports stray_value")

    def test_a_missing_hook(self):
        self.assert_only(self.violations(HOOKS.replace("ncclProfiler_v5", "renamed")
                                         .replace('visibility("default"))) int renamed', 'visibility("hidden"))) int renamed')),
                         "does not export ncclProfiler_v5")

    def test_a_unique_symbol(self):
        found = self.violations(HOOKS + """
            template <class T> struct __attribute__((visibility("default"))) Holder { static int& get() { static int x = 3; return x; } };
            int use() { return Holder<int>::get(); }""", (*GOOD_FLAGS, "-fno-threadsafe-statics"))
        self.assertTrue(any("UNIQUE" in line for line in found), found)

    def test_the_cxx_run_time(self):
        found = self.violations(HOOKS + "#include <string>\nstd::string* text() { return new std::string(100, 'x'); }",
                                ("-Wl,-z,nodelete",))
        self.assertTrue(any("of the C++ run time" in line for line in found), found)
        self.assertTrue(any("needs the library libstdc++.so.6" in line for line in found), found)
        self.assertTrue(any("needs the symbol version GLIBCXX" in line for line in found), found)

    def test_a_symbol_newer_than_agreed(self):
        # pthread_create moved into libc.so.6 under the version 2.34
        found = self.violations(HOOKS + "#include <pthread.h>\nint start() { pthread_t t; return pthread_create(&t, nullptr, nullptr, nullptr); }")
        self.assert_only(found, "needs GLIBC_2.34 (pthread_create@GLIBC_2.34)")

    def test_no_nodelete(self):
        self.assert_only(self.violations(HOOKS, ("-nodefaultlibs", "-lc", "-lgcc")), "NODELETE")

    def test_too_much_thread_local_storage(self):
        self.assert_only(self.violations(HOOKS + "thread_local long values[2]; long* use() { return values; }"),
                         "16 bytes of thread-local storage")

    def test_an_executable_stack(self):
        self.assert_only(self.violations(HOOKS, (*GOOD_FLAGS, "-Wl,-z,execstack")), "executable stack")

    def test_a_run_path(self):
        self.assert_only(self.violations(HOOKS, (*GOOD_FLAGS, "-Wl,-rpath,/somewhere")), "run path")


class PlantedFaultOfAProgram(unittest.TestCase):
    MAIN = "int main() { return 0; }"
    # as netsampler/gpu/CMakeLists.txt links it
    FLAGS = ("-nostartfiles", "-nodefaultlibs", "-pie", "-Wl,-z,now", "-Wl,-e,main", "-lc", "-lgcc")

    def violations(self, source, flags=FLAGS):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program"
            subprocess.run(["g++", "-x", "c++", "-", "-x", "none", "-std=c++20", "-O0", "-fPIE", "-fno-exceptions",
                            "-fno-rtti", "-o", str(program), *flags], input=source.encode(), check=True)
            return check_agent.violations(program, check_agent.PROGRAM_CHECKS)

    def assert_any(self, found, expected):
        self.assertTrue(any(expected in line for line in found), found)

    def test_a_good_program_passes(self):
        self.assertEqual(self.violations(self.MAIN), [])

    def test_the_start_code_of_the_system_that_builds(self):
        # __libc_start_main got a new version with glibc 2.34
        found = self.violations(self.MAIN, ("-nodefaultlibs", "-pie", "-lc", "-lgcc"))
        self.assertEqual(len(found), 1, found)
        self.assertIn("needs GLIBC_2.34 (__libc_start_main@GLIBC_2.34)", found[0])

    def test_the_cxx_run_time(self):
        found = self.violations("#include <string>\nint main(int n, char**) { return (int)std::string(n, 'x').size(); }",
                                ("-pie",))
        self.assert_any(found, "needs the library libstdc++.so.6")
        self.assert_any(found, "of the C++ run time")

    def test_a_static_program(self):
        self.assert_any(self.violations(self.MAIN, ("-static",)), "is no dynamic program")

    def test_a_fixed_address(self):
        flags = tuple("-no-pie" if flag == "-pie" else flag for flag in self.FLAGS)
        self.assert_any(self.violations(self.MAIN, flags), "is no position independent executable")


if __name__ == "__main__":
    unittest.main()
