"""text has to match a regular expression"""
import re
import symchef

PATTERN = re.compile(r"[a-c]+\d(x|yz)")


def test_external_regex(s: symchef.Str(5)):
    assert not PATTERN.fullmatch(s)
