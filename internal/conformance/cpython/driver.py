"""Runs one of CPython's test modules and prints a verdict per test method.

    driver.py MODULE [EXCLUDED...]

EXCLUDED are patterns of method names. Standard output ends with a line "@@ verdict id" per method and "@@ done". A method
whose subtests disagree has the worst of their verdicts.
"""

import sys
import unittest
from fnmatch import fnmatchcase
from test import support

module, excluded = sys.argv[1], sys.argv[2:]
support.use_resources = ()  # as without -u: no network, no large files, no hours of processor time
sys.argv[1:] = []
WORST = ["ok", "skipped", "expected failure", "unexpected success", "FAIL", "ERROR"]


class Result(unittest.TestResult):
    verdicts = {}

    def note(self, test, verdict):
        test_id = test.id().partition(" (")[0] if " (" in test.id() else test.id()
        old = self.verdicts.get(test_id, "ok")
        self.verdicts[test_id] = max(old, verdict, key=WORST.index)

    def addSuccess(self, test):
        self.note(test, "ok")

    def addSkip(self, test, reason):
        self.note(test, "skipped")

    def addFailure(self, test, err):
        self.note(test, "FAIL")
        self.trace(test, err)

    def addError(self, test, err):
        self.note(test, "ERROR")
        self.trace(test, err)

    def addExpectedFailure(self, test, err):
        self.note(test, "expected failure")

    def addUnexpectedSuccess(self, test):
        self.note(test, "unexpected success")

    def addSubTest(self, test, subtest, err):
        if err is not None:
            verdict = "FAIL" if issubclass(err[0], test.failureException) else "ERROR"
            self.note(test, verdict)
            self.trace(subtest, err)

    def trace(self, test, err):
        print("---", test.id(), self._exc_info_to_string(err, test), sep="\n", file=sys.stderr)


def kept(suite):
    """The suite without the excluded methods; classes and modules keep their fixtures."""
    out = unittest.TestSuite()
    for t in suite:
        if isinstance(t, unittest.TestSuite):
            out.addTest(kept(t))
        elif not any(fnmatchcase(t.id(), pattern) for pattern in excluded):
            out.addTest(t)
    return out


result = Result()
kept(unittest.defaultTestLoader.loadTestsFromName("test." + module)).run(result)
sys.stdout = sys.__stdout__
print()
for test_id, verdict in sorted(result.verdicts.items()):
    print("@@", verdict.replace(" ", "-"), test_id)
print("@@ done", flush=True)
