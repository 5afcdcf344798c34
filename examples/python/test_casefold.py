"""Case folding over 10 characters.

Exactly 4 classes of (outcome, output): whether the text is already folded (has no upper-case
letter) and whether it is, folded, the word "strawberry", are two facts about it,
and all four combinations occur.
"""

import symchef


def describe(text):
    folded = text.casefold()
    same = "folded" if folded == text else "has capitals"
    word = "the word" if folded == "strawberry" else "another word"
    return same + ", " + word


def test_casefold(text: symchef.Str(10)):
    print(describe(text))
