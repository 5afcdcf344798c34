"""How many words twelve characters are."""

import symchef


def test_words(text: symchef.Str(12)):
    print(len(text.split()))
