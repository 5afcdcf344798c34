"""re.search and re.sub."""
import re
import symchef

VOWEL = re.compile("[aeiou]")


def test_re_search(s: symchef.Str(2)):
    m = VOWEL.search(s)
    print(m.start() if m else None, VOWEL.sub("*", s) == "**")
