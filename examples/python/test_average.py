"""The average of two ints (the CHEF paper, figure 2).

Exactly 1 class of (outcome, output): nothing branches and nothing is printed. The
interpreter still takes several low-level paths, by sign and number of digits.
"""

from symchef import SymbolicTest


def average(x, y):
    return (x + y) // 2


class AverageTest(SymbolicTest):
    def runTest(self):
        x = self.getInt("x", 0)
        y = self.getInt("y", 0)
        average(x, y)
