"""All programs of a folder, by default this one, as one test: the first input chooses one.

They share one boot of the interpreter.
"""
import importlib
import os
import re
import sys

import symchef

FOLDER = os.environ.get("COMPLETE_FOLDER") or os.path.dirname(os.path.abspath(__file__))


def load(wanted=""):
    """[(name, function)] of the programs whose name has a match for the regular expression wanted."""
    sys.path.insert(0, FOLDER)
    files = sorted(f[:-3] for f in os.listdir(FOLDER) if f.startswith("test_"))
    return [(f[5:], getattr(importlib.import_module(f), f)) for f in files if re.search(wanted, f[5:])]


def call(function):
    """Calls a program with the inputs that it declares."""
    function(*[spec.make(name) for name, spec in function.__annotations__.items()])


class Programs(symchef.SymbolicTest):
    def setUp(self):
        self.programs = load(os.environ.get("COMPLETE_ONLY", ""))

    def runTest(self):
        call(symchef.getChoice("program", self.programs)[1])
