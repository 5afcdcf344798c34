"""A regular expression with classes and a group."""
import re
import symchef

PATTERN = re.compile(r"a([0-9]|[x-z]+)?b")


def test_re_match(s: symchef.Str(1)):
    m = PATTERN.fullmatch("a" + s + "b")
    print(m is not None, m and m.group(1) is not None)
