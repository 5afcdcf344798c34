"""A dictionary keyed by 6 symbolic bytes.

Exactly 4 classes of (outcome, output): the key is one of the three words of the dictionary, whose entry it
changes, or it is none of them and the dictionary has one entry more.
"""

import symchef

WORDS = (b"import", b"lambda", b"return")


def test_dictionary(key: symchef.Bytes(6)):
    table = dict.fromkeys(WORDS, 0)
    table[key] = 1
    for word in WORDS:
        if table[word]:
            print("changed", word)
            return
    print("added", len(table))
