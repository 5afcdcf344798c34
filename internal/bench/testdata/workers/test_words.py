"""How many words thirteen characters are."""

import symchef


def test_words(text: symchef.Str(13)):
    print(len(text.split()))
