"""FORMAT.md lists every code of /diagnostics that the merge can write, and no other.

Usage: diagnostic_codes_test.py SOURCE_ROOT"""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
FORMAT = (ROOT / "merge/runfile/FORMAT.md").read_text()
# The literals of the folder that writes findings that have the form of a code.
WRITTEN = {
    code
    for source in (ROOT / "merge/assembly").glob("*.cpp")
    for code in re.findall(r'"([a-z]+\.[a-z]+(?:-[a-z]+)*)"', source.read_text())
}
LISTED = set(re.findall(r"^\| ([a-z]+\.[a-z-]+) \|", FORMAT, re.MULTILINE))


class DiagnosticCodesTest(unittest.TestCase):
    def test_the_codes_of_the_sources_are_listed(self):
        self.assertGreater(len(WRITTEN), 50, "else the pattern no longer finds them")
        self.assertEqual(sorted(WRITTEN - LISTED), [])

    def test_nothing_else_is_listed(self):
        self.assertEqual(sorted(LISTED - WRITTEN), [])

    def test_the_counters_of_the_agent_are_named(self):
        source = (ROOT / "agent/contract/session_page.cpp").read_text()
        names = set(re.findall(r'case Drop::k\w+:\s+return "([a-z-]+)";', source))
        self.assertGreater(len(names), 10)
        codes = FORMAT[FORMAT.index("Codes. "):]
        self.assertEqual(sorted(name for name in names if f"`{name}`" not in codes), [])


if __name__ == "__main__":
    unittest.main()
