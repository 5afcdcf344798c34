"""python3-pycparser 2.21: one character ends in an AssertionError where the library promises ParseError."""

import symchef
from pycparser.c_parser import CParser
from pycparser.plyparser import ParseError


class ParseTest(symchef.SymbolicTest):
    def setUp(self):
        self.parser = CParser()

    def runTest(self):
        self.expect(ParseError)
        self.parser.parse(self.getString("source", "a"))
