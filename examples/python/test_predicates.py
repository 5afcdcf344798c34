"""String predicates over 8 characters: startswith, endswith, in.

Exactly 6 classes of (outcome, output). The three predicates are independent but for
one pair of facts: a text ending in ".py" contains "py". Of the 8 combinations
of (startswith "ab", endswith ".py", "py" in it) the two with the ending but
without "py" in the text are impossible; each of the other 6 prints its own line.
"""

import symchef


def describe(name):
    words = []
    words.append("ab-" if name.startswith("ab") else "other-")
    words.append(".py" if name.endswith(".py") else "no-suffix")
    words.append("contains" if "py" in name else "lacks")
    return " ".join(words)


def test_predicates(name: symchef.Str(8)):
    print(describe(name))
