"""argparse with symbolic argument names and arguments (the CHEF paper, figure 7,
import line aside).

The number of classes of (outcome, output) is not small: usage messages quote the symbolic
texts, so outcomes are counted by type here. Exactly 4 outcomes: it parses (ok), an error
in the arguments (SystemExit from parser.error, also from -h), ValueError (an option name made of dashes
only: dest cannot be derived, or a % in a help text) and argparse.ArgumentError (both names are the same option).
"""

import importlib

from symchef import SymbolicTest


class ArgparseTest(SymbolicTest):
    def setUp(self):
        self.argparse = importlib.import_module("argparse")

    def runTest(self):
        parser = self.argparse.ArgumentParser()
        parser.add_argument(
            self.getString("arg1_name", '\x00'*3))
        parser.add_argument(
            self.getString("arg2_name", '\x00'*3))
        args = parser.parse_args([
            self.getString("arg1", '\x00'*3),
            self.getString("arg2", '\x00'*3)])
